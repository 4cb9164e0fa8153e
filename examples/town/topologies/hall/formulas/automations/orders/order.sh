#!/bin/sh
# Orders one thing of a rig, each time another; while five orders are out, none.
set -eu

out=$(gc bead list --status open,in_progress --label order --json | grep -c '"id"') || :
if [ "$out" -ge 5 ]; then
	echo "nobody orders: $out orders are out"
	exit 0
fi
set -- 'mill: grind a sack of rye' 'ferry: bring the bricks over' 'mill: dress the lower stone' \
	'mill: sift the barley' 'ferry: tar the landing stage' 'mill: oil the sluice'
shift "$(($(date +%s) / 8 % $#))"
id=$(gc bead create "$1" --label order)
id=$(printf "%s\n" "$id" | sed -n "s/^created \([^: ]*\).*/\1/p")
gc sling steward "$id"
