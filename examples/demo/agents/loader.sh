#!/bin/sh
# Loads crates until it is asked to finish, which it checks after each crate. Then it finishes, reports that with drain-ack,
# and waits until gcity stops it.
set -u

step=0.3
sleep 0.01 2>/dev/null || step=1

told_to_finish() {
	command -v gc >/dev/null 2>&1 && gc agent drain-check >/dev/null 2>&1
}

crate=0
while ! told_to_finish; do
	crate=$((crate + 1))
	printf 'crate %d  ' "$crate"
	for part in 1 2 3 4 5 6 7 8; do
		printf '\033[36m#\033[0m'
		sleep "$step"
	done
	printf '  \033[32mloaded\033[0m\n'
done

printf '\033[33mtold to finish\033[0m: sweeping up …\n'
sleep 4
printf 'done after %d crates\n' "$crate"
gc agent drain-ack
while :; do sleep 60; done
