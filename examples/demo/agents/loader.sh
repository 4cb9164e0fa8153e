#!/bin/sh
# Loads crates until it is asked to finish, which it checks after each crate. Then it finishes and reports that with
# drain-ack. If gcity has canceled the drain in the meantime, drain-ack fails, and the loader goes on. Otherwise, it waits
# until gcity stops it.
set -u

step=0.3
sleep 0.01 2>/dev/null || step=1

told_to_finish() {
	command -v gc >/dev/null 2>&1 && gc agent drain-check >/dev/null 2>&1
}

finish() {
	printf '\033[33mtold to finish\033[0m: sweeping up …\n'
	sleep 4
	printf 'crates loaded: %d\n' "$crate"
	gc agent drain-ack
}

crate=0
until told_to_finish && finish; do
	crate=$((crate + 1))
	printf 'crate %d  ' "$crate"
	for part in 1 2 3 4 5 6 7 8; do
		printf '\033[36m#\033[0m'
		sleep "$step"
	done
	printf '  \033[32mloaded\033[0m\n'
done
while :; do sleep 60; done
