#!/bin/sh
# A witness or a refinery: writes its heartbeat, does its work, and responds to nudges.
set -u
. "$GC_CITY/agents/lib.sh"

turn=0 pace=4
while :; do
	turn=$((turn + 1))
	if typed=$(heard); then
		say 36 "heard: $typed"
	fi
	gc heartbeat --cycle "$turn"
	if id=$(gc hook --json 2>/dev/null | ids | head -n 1) && [ -n "$id" ]; then
		say 32 "$id is done"
		gc bead close "$id" >/dev/null
	else
		printf 'turn %s: all is quiet in %s\n' "$turn" "$GC_RIG"
	fi
	if gc agent drain-check >/dev/null 2>&1; then
		gc agent drain-ack
		sleep 60
	fi
	sleep "$pace"
done
