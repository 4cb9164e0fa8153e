#!/bin/sh
# Works through invented jobs for ever: a progress bar, colours, and now and then a failure that is tried again.
set -u

esc=$(printf '\033')
bold="${esc}[1m" dim="${esc}[2m" off="${esc}[0m"
green="${esc}[32m" yellow="${esc}[33m" red="${esc}[31m" cyan="${esc}[36m"

# Fractions of a second are not in POSIX; where sleep has none, a step is a second.
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
