#!/bin/sh
# Opens the control room on a temporary copy of an example city. At the end it stops the city and removes the copy, unless
# the user has chosen in the control room to keep the city running.
#
#   sh examples/run.sh bin/gcity demo              in a terminal
#   HEADLESS=1 sh examples/run.sh bin/gcity demo   ten seconds without a terminal, then the status
set -eu

gcity=$(CDPATH='' cd "$(dirname "$1")" && pwd)/$(basename "$1")
name=$2
here=$(CDPATH='' cd "$(dirname "$0")" && pwd)/$name
[ -f "$here/city.toml" ] || {
	echo "there is no example city \"$name\": use demo, town or chain" >&2
	exit 1
}
box=$(mktemp -d "${TMPDIR:-/tmp}/gcity-demo.XXXXXX")
city=$box/$name
controller=''

# The copy is a separate city, even if this script runs in a session of another city.
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
GCITY_TRUST=all # the user has just run this script, so its cities are trusted
export GCITY_TRUST

if [ -z "${HEADLESS:-}" ]; then
	# gcity runs in the background with the terminal as its input, so that this shell can clean up if the terminal closes.
	exec 3<&0
	"$gcity" --city "$city" <&3 3<&- &
	controller=$!
	code=0
	wait "$controller" || code=$?
	controller=''
	if [ "$code" -eq 0 ] && "$gcity" status --city "$city" | grep -q '^running'; then
		trap - EXIT HUP INT TERM
		echo "the city keeps running in $city"
		echo "  $gcity --city $city        opens the control room again"
		echo "  $gcity stop --city $city   stops it; then you can remove the folder"
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
		echo "$name: the controller exited early" >&2
		exit 1
	}
done
"$gcity" status --city "$city"
