#!/bin/sh
# Stands in for a coding agent. Its argument is its prompt, of which it uses only the lines that begin with "duty:",
# "next:" and "tell:". It communicates with other agents only through gc.
set -u

prompt=${1:-}
[ -n "$prompt" ] || prompt=$(gc prime)

told() { printf '%s\n' "$prompt" | sed -n "s/^$1: *//p" | head -n 1; }
say() { printf '\033[%sm%s\033[0m\n' "$1" "$2"; }
rest() { sleep "${PACE:-2}"; }

duty=$(told duty) next=$(told next) tell=$(told tell)
here=${GC_RIG:+rig}

# value NAME: extracts the first value of this name from gc's JSON output. field ID NAME: prints a field of a bead.
value() { sed -n "s/^ *\"$1\": \"\{0,1\}\(.*[^\",]\)\"\{0,1\},\{0,1\}\$/\1/p" | head -n 1; }
field() { gc bead show "$1" --json ${here:+--rig "$GC_RIG"} | value "$2"; }

# Extracts the IDs from a JSON list printed by gc.
ids() { sed -n 's/^ *"id": "\(.*\)",$/\1/p'; }

# Claims a piece of work and sets $id and $title. Fails if there is no work, or another agent was faster.
take() {
	work=$(gc hook --json)
	id=$(printf '%s\n' "$work" | ids | head -n 1)
	[ -n "$id" ] || return 1
	title=$(printf '%s\n' "$work" | value title)
	[ "$(printf '%s\n' "$work" | value status)" != in_progress ] || return 0
	gc bead update "$id" --claim >/dev/null
}

share() {
	take || return
	rig=${title%%: *}
	say 36 "order $id: $title"
	all=$(gc bead list --all --limit 0 --json) || return
	if ! printf '%s\n' "$all" | grep -q "\"order $id\""; then
		printf '%s\norder %s' "${title#*: }" "$id" | gc sling "$rig" --stdin
		case $? in
		0) ;;
		2) # not found
			gc mail send human -s "order $id has no rig" -m "No rig can do this: $title" && gc bead close "$id"
			return
			;;
		*) return ;; # try again: the controller may have been killed
		esac
	fi
	gc bead update "$id" --assignee '' # the rig has the work now
}

# Does the steps of a formula one by one and closes them. Work without a formula has default steps.
make() {
	take || return
	say 36 "$id: $title"
	steps=$(gc bead list --parent "$id" --status open --json | ids | sort -t - -k 2n)
	for step in ${steps:-measure cut plane fit oil look}; do
		what=$step
		[ -z "$steps" ] || what=$(field "$step" title)
		gc heartbeat -m "$id: $what"
		printf '  %s\n' "$what"
		rest
		[ -z "$steps" ] || gc bead close "$step" >/dev/null
	done
	mkdir -p bench
	printf '%s\n' "$title, by $GC_AGENT" >"bench/$id.txt"
	gc sling "$next" "$id" --force && say 32 "$id: handed to $next"
}

join() {
	take || return
	if ! grep -qs "^$id " ledger.txt; then
		if [ ! -f "bench/$id.txt" ]; then
			say 31 "$id: not on the bench"
			gc sling "$next" "$id" --force
			return
		fi
		printf '%s %s\n' "$id" "$(cat "bench/$id.txt")" >>ledger.txt
	fi
	rm -f "bench/$id.txt"
	# The description is "order ID". The bead stays in progress until the mail is sent, so that the work is
	# repeated if a command fails because the controller was killed.
	bead=$(gc bead show "$id" --json ${here:+--rig "$GC_RIG"}) || return
	order=$(printf '%s\n' "$bead" | value description | sed -n 's/^order \([^ \\]*\).*/\1/p')
	if [ -n "$order" ]; then
		gc mail send "$tell" -s "done: $order" -m "$title is in the ledger of $GC_RIG as $id." >/dev/null || return
	fi
	gc bead close "$id" && say 32 "$id is in the ledger"
}

watch() {
	gc bead list --status in_progress --json | ids | while read -r id; do
		who=$(field "$id" assignee)
		sign=$GC_CITY/.gc/heartbeats/$(printf %s "$who" | sed 's/_/__/g; s,/,_s,g; s/\./_d/g').json
		case $who in "$next" | "$next"-*) ;; *) continue ;; esac
		[ -z "$(find "$sign" -mmin -2 2>/dev/null)" ] || continue
		say 33 "$who has no heartbeat: $id is handed back"
		gc sling "$next" "$id" --force
		gc mail send "$tell" -s "$id was handed back" -m "$who had started it, but wrote no heartbeat for two minutes. It is open for all hands again."
	done
}

# Reads new mail. A message that reports a finished order closes the order; all others are only printed. The message
# stays unread until the order is closed. Closing an order twice has no effect.
letters() {
	gc mail check >/dev/null || return
	gc mail inbox --json | ids | while read -r letter; do
		text=$(gc mail peek "$letter") || continue
		order=$(printf '%s\n' "$text" | sed -n 's/.*done: \([^ ]*\).*/\1/p' | head -n 1)
		if [ "$duty" = share ] && [ -n "$order" ]; then
			gc bead close "$order"
			case $? in
			0 | 2) ;; # closed, or not found
			*) continue ;;
			esac
		fi
		gc mail read "$letter" >/dev/null && say 35 "$text"
	done
}

say 2 "$(printf '%s\n' "$prompt" | head -n 1)"
printf 'at work: %s\n' "$duty"
until gc agent drain-check >/dev/null 2>&1; do
	gc heartbeat -m "$duty"
	letters
	case $duty in
	share | make | join | watch) "$duty" ;;
	*)
		echo "the prompt has no line \"duty: …\"" >&2
		exit 1
		;;
	esac
	rest
done
say 33 'asked to finish: done'
gc agent drain-ack
while :; do sleep 60; done
