#!/bin/sh
# Starts slowly, to show readiness and dependencies, and then counts.
set -u

printf 'counting the change …\n'
sleep 4
printf 'open: no. 1\n'
gc mail send shop/clerk -s 'The till is open' -m 'There are 40 coins in it.' >/dev/null
sum=0
while :; do
	sum=$((sum + 3))
	sleep 3
	printf '%s  %d in the till\n' "$(date +%H:%M:%S)" "$sum"
done
