#!/bin/sh
# Prints how many loaders are wanted. During the controller's first minutes, the number stays the same, so that
# there is time to try the keys on the loaders. Then it changes every two minutes. 5 exceeds the pool's max.
set -u

if [ -n "$(find .gc/daemon.pid -mmin -4 2>/dev/null)" ]; then
	echo 3
	exit
fi
set -- 3 4 3 2 3 5 3 2
now=$(date +%s)
shift "$((now / 120 % $#))"
echo "$1"
