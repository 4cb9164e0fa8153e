#!/bin/sh
# Creates one order for a rig, a different one each time. Creates none while five orders are open.
set -eu

out=$(gc bead list --status open,in_progress --label order --json | grep -c '"id"') || :
if [ "$out" -ge 5 ]; then
	echo "no new order: $out orders are open"
	exit 0
fi
set -- 'mill: grind a sack of rye' 'ferry: bring the bricks over' 'mill: dress the lower stone' \
	'mill: sift the barley' 'ferry: tar the landing stage' 'mill: oil the sluice'
shift "$(($(date +%s) / 8 % $#))"
id=$(gc bead create "$1" --label order)
id=$(printf "%s\n" "$id" | sed -n "s/^created \([^: ]*\).*/\1/p")
gc sling steward "$id"
