#!/bin/sh
# Judges one beat, says what is to be done, and ends. What a coding agent would weigh, this reads from the facts: $GC_WATCHDOG_FACTS
# names a JSON file, and the same stands in the environment.
set -u

# For onlookers: while there is a file "boot-sleeps" in the city's folder, it says nothing, and the ages decide in its place.
[ ! -e "$GC_CITY/boot-sleeps" ] || exec sleep 1000

fact() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$GC_WATCHDOG_FACTS" | head -n 1; }
session=$(fact session) freshness=$(fact freshness) mail=$(fact mail) silent=$(fact silent)
age=$(fact age) frozen=$(fact frozen)
age=${age%%.*} silent=${silent%%.*}

printf 'beat %s of %s: %s is %s, its heartbeat %s and %ss old, %s letters wait\n' \
	"$GC_WATCHDOG_BEAT" "$GC_WATCHDOG" "$GC_WATCHDOG_WATCHES" "$session" "$freshness" "${age:-?}" "${mail:-0}"
gc agent peek "$GC_WATCHDOG_WATCHES" --lines 3 2>/dev/null || :

decide() {
	printf '\033[36m%s: %s\033[0m\n' "$1" "$2"
	exec gc watchdog decide "$1" --reason "$2"
}

# A heartbeat in the file may be that of a life before: whether somebody lives comes first.
[ "$session" != dead ] || decide start "it has no session"
case $freshness in
fresh) decide nothing "it gave a sign ${age}s ago" ;;
stale)
	[ "${mail:-0}" -eq 0 ] || decide nudge "its last sign is ${age}s old, and mail waits: ${mail} unread"
	decide nothing "its last sign is ${age}s old, but nothing waits for it"
	;;
esac
if [ "$frozen" != true ] && [ -n "$silent" ] && [ "$silent" -lt 3 ]; then
	decide nothing "no sign for ${age}s, but its screen moved ${silent}s ago: it is at something long"
fi
decide wake "no sign for ${age}s, and nothing moves on its screen"
