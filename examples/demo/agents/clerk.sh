#!/bin/sh
# Works in its rig's folder, and sells what is on the shelf there.
set -u

printf 'working in %s\n' "${PWD##*/}"
# Sends mail to the user; L in the control room shows it.
gc mail send human -s 'No blue paint is left' -m 'Three people have asked for it today.

May I order some? The yellow lasts until Friday.' >/dev/null
while :; do
	while read -r amount thing; do
		printf 'sold one of %2d %s\n' "$amount" "$thing"
		sleep 2
	done <shelf.txt
	printf '\033[2mthe shelf is filled again\033[0m\n'
done
