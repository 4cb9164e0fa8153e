#!/bin/sh
# Prints log lines all the time.
set -u

pause=0.4
sleep 0.01 2>/dev/null || pause=1

gc mail send human -s 'Door 13 never opens' -m 'Shall I stop going there?' >/dev/null
n=0
while :; do
	n=$((n + 1))
	level=info text="delivered parcel $n"
	case $((n % 17)) in
	3) level=debug text="route $((n % 5)) looked up in the cache" ;;
	8) level=warn text="parcel $n has waited long, asked again" ;;
	13) level=error text="door $((n % 40)) did not open, parcel $n goes back" ;;
	esac
	case $level in
	debug) tint=2 ;;
	warn) tint=33 ;;
	error) tint=31 ;;
	*) tint=32 ;;
	esac
	printf '%s \033[%sm%-5s\033[0m %s\n' "$(date +%H:%M:%S)" "$tint" "$level" "$text"
	sleep "$pause"
done
