#!/bin/sh
# Greets three guests, then prints nothing more, so that gcity restarts it after its idle_timeout.
set -u

for guest in first second third; do
	printf 'good day to the %s guest\n' "$guest"
	sleep 3
done
printf '\033[2mthe porter nods off …\033[0m\n'
while :; do sleep 60; done
