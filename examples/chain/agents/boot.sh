#!/bin/sh
# The triage agent: it decides about one beat and exits. A coding agent would reason here; this script uses only the facts in
# the JSON file $GC_WATCHDOG_FACTS and in the environment.
set -u

# For demonstration: while the city's folder has a file "boot-sleeps", this agent does not decide, and the thresholds do.
[ ! -e "$GC_CITY/boot-sleeps" ] || exec sleep 1000

fact() { sed -n "s/^ *\"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}\$/\1/p" "$GC_WATCHDOG_FACTS" | head -n 1; }
session=$(fact session) freshness=$(fact freshness) mail=$(fact mail) silent=$(fact silent)
age=$(fact age) frozen=$(fact frozen)
age=${age%%.*} silent=${silent%%.*}

printf 'beat %s of %s: %s is %s, its heartbeat %s and %ss old, %s unread messages\n' \
	"$GC_WATCHDOG_BEAT" "$GC_WATCHDOG" "$GC_WATCHDOG_WATCHES" "$session" "$freshness" "${age:-?}" "${mail:-0}"
gc agent peek "$GC_WATCHDOG_WATCHES" --lines 3 2>/dev/null || :

decide() {
	printf '\033[36m%s: %s\033[0m\n' "$1" "$2"
	exec gc watchdog decide "$1" --reason "$2"
}

# The heartbeat may be from an earlier session, so check first whether the agent has a session.
[ "$session" != dead ] || decide start "it has no session"
case $freshness in
fresh) decide nothing "its heartbeat is ${age}s old" ;;
stale)
	[ "${mail:-0}" -eq 0 ] || decide nudge "its heartbeat is ${age}s old, and it has ${mail} unread messages"
	decide nothing "its heartbeat is ${age}s old, but it has no unread mail"
	;;
esac
if [ "$frozen" != true ] && [ -n "$silent" ] && [ "$silent" -lt 3 ]; then
	decide nothing "no heartbeat for ${age}s, but it printed something ${silent}s ago, so it is working"
fi
decide wake "no heartbeat for ${age}s, and it prints nothing"
