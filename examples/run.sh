#!/bin/sh
# An example: the control room on a throw-away copy of one of these cities. At the end the city is stopped and the copy
# removed, unless the control room was left with the wish that the agents go on.
#
#   sh examples/run.sh bin/gcity demo              in a terminal
#   HEADLESS=1 sh examples/run.sh bin/gcity demo   ten seconds without one, then the status
set -eu

gcity=$(CDPATH='' cd "$(dirname "$1")" && pwd)/$(basename "$1")
name=$2
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)/$name
[ -f "$here/city.toml" ] || {
	echo "there is no example city \"$name\": give demo, town or chain" >&2
	exit 1
}
box=$(mktemp -d "${TMPDIR:-/tmp}/gcity-demo.XXXXXX")
city=$box/$name
controller=''

# The copy is a city of its own, even when it is started from inside a session of another one.
unset GC_AGENT GC_CITY GC_CITY_PATH GC_CITY_NAME 2>/dev/null || :

finish() {
	code=$?
	trap '' INT TERM HUP
	trap - EXIT
	"$gcity" stop --city "$city" >/dev/null 2>"$box/stop.log" || [ "$?" -eq 3 ] || {
		cat "$box/stop.log" >&2
		[ "$code" -ne 0 ] || code=1
	}
	[ -z "$controller" ] || wait "$controller" || [ "$code" -ne 0 ] || code=1
	rm -rf "$box"
	exit "$code"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

cp -R "$here" "$city"
GCITY_TRUST=all # the copy is of a script that the user has just run
export GCITY_TRUST

if [ -z "${HEADLESS:-}" ]; then
	# In the background, so that this shell can act when the terminal goes away; the terminal stays its input.
	exec 3<&0
	"$gcity" --city "$city" <&3 3<&- &
	controller=$!
	code=0
	wait "$controller" || code=$?
	controller=''
	if [ "$code" -eq 0 ] && "$gcity" status --city "$city" | grep -q '^running'; then
		trap - EXIT HUP INT TERM
		echo "the city goes on in $city"
		echo "  $gcity --city $city        opens it again"
		echo "  $gcity stop --city $city   ends it; then the folder can go"
		exit 0
	fi
	exit "$code"
fi

"$gcity" --headless --city "$city" 2>"$box/controller.log" &
controller=$!
second=0
while [ "$second" -lt 10 ]; do
	sleep 1
	second=$((second + 1))
	kill -0 "$controller" 2>/dev/null || {
		cat "$box/controller.log" >&2
		controller=''
		echo "$name: the controller ended early" >&2
		exit 1
	}
done
"$gcity" status --city "$city"
