#!/bin/sh
# Makes rounds: writes its heartbeat, reads its mail, checks the heartbeats of the agents of the rigs, and nudges silent ones.
# After some rounds it hands off to a new session.
set -u
. "$GC_CITY/agents/lib.sh"

rounds=30 pace=2
# For demonstration: while the city's folder has a file "deacon-dozes", this agent does nothing until a line is typed.
dozes="$GC_CITY/deacon-dozes"

say 2 "$(gc prime | sed -n '/You have been restarted/,/^`/p' | grep -v '^[`<]' || :)"

letters() {
	gc mail check >/dev/null || return 0
	gc mail inbox --json | ids | while read -r letter; do
		say 35 "$(gc mail read "$letter" | head -n 1)"
		gc mail archive "$letter" >/dev/null
	done
}

# Compares an agent's heartbeat file with that of the last round, because clocks may differ. After four rounds without a change
# it nudges the agent; after three nudges it sends mail to a user.
look_after() {
	note="$ears/$(printf %s "$1" | tr / -)"
	now=$(cat "$(sign_of "$1")" 2>/dev/null || :)
	if [ "$now" != "$(cat "$note" 2>/dev/null)" ] || [ -z "$now" ]; then
		printf '%s\n' "$now" >"$note"
		rm -f "$note.quiet"
		return
	fi
	quiet=$(($(cat "$note.quiet" 2>/dev/null || echo 0) + 1))
	echo "$quiet" >"$note.quiet"
	case $quiet in
	4 | 8 | 12)
		say 33 "$1 has no new heartbeat: nudged"
		gc agent nudge "$1" 'Deacon: are you still at it?' >/dev/null 2>&1 &
		nudges="$nudges $!"
		;;
	16)
		say 31 "$1 does not answer: mail to the overseer"
		gc mail send overseer -s "$1 does not answer" -m 'Three nudges had no effect.' >/dev/null
		;;
	esac
}

# Creates the wisp of this round and prints its ID.
begin() { gc sling deacon round -f -t "round $round" --json 2>/dev/null | ids | head -n 1; }

round=0 nudges=
while :; do
	if typed=$(heard); then
		say 36 "heard: $typed"
		rm -f "$dozes"
	fi
	if [ -e "$dozes" ]; then
		sleep 1
		continue
	fi
	round=$((round + 1))
	gc heartbeat --cycle "$round" --last-action patrol
	letters
	for rig in north south; do
		look_after "$rig/witness"
		look_after "$rig/refinery"
	done
	printf 'round %s: all lanes checked\n' "$round"
	if [ "$round" -ge "$rounds" ]; then
		wisp=$(begin)
		for step in $(gc bead list --parent "$wisp" --json | ids | sort -t - -k 2n); do gc bead close "$step" >/dev/null; done
		# shellcheck disable=SC2086 # a list of pids
		[ -z "$nudges" ] || wait $nudges
		gc handoff -s 'Routine cycle' -m "$rounds rounds, nothing to report."
		sleep 60
	fi
	if gc agent drain-check >/dev/null 2>&1; then
		gc agent drain-ack
		sleep 60
	fi
	sleep "$pace"
done
