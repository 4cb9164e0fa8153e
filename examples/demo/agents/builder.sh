#!/bin/sh
# Runs invented jobs forever, with a progress bar, colors, and an occasional failure that is retried.
set -u

esc=$(printf '\033')
bold="${esc}[1m" dim="${esc}[2m" off="${esc}[0m"
green="${esc}[32m" yellow="${esc}[33m" red="${esc}[31m" cyan="${esc}[36m"

# POSIX sleep has no fractions of a second. Without them, a step takes one second.
step=0.15
sleep 0.01 2>/dev/null || step=1

seed=$$
roll() { # roll N: sets $rolled to 0 … N-1
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rolled=$((seed / 65536 % $1))
}

bar() { # bar DONE OF
	full=$(($1 * 30 / $2)) i=0 filled='' empty=''
	while [ "$i" -lt 30 ]; do
		if [ "$i" -lt "$full" ]; then filled="$filled#"; else empty="$empty-"; fi
		i=$((i + 1))
	done
	printf '\r  %s%s%s%s%s %3d%%' "$cyan" "$filled" "$dim" "$empty" "$off" "$(($1 * 100 / $2))"
}

job=100
while :; do
	for name in compile vet 'unit tests' 'race tests' lint package; do
		job=$((job + 1))
		printf '%s#%d%s %s\n' "$bold" "$job" "$off" "$name"
		roll 20
		steps=$((10 + rolled)) done=0
		while [ "$done" -lt "$steps" ]; do
			done=$((done + 1))
			bar "$done" "$steps"
			sleep "$step"
		done
		roll 6
		case $rolled in
		0) printf '\r%s[K  %sfailed%s  %s: tried again later\n' "$esc" "$red" "$off" "$name" ;;
		1) printf '\r%s[K  %sok%s      with %d warnings\n' "$esc" "$yellow" "$off" "$((steps / 5))" ;;
		*) printf '\r%s[K  %sok%s      %d steps\n' "$esc" "$green" "$off" "$steps" ;;
		esac
	done
	printf '%sround done, the next one begins%s\n' "$dim" "$off"
	sleep 1
done
