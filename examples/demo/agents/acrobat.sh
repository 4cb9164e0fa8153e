#!/bin/sh
# Climbs, falls and exits with 3. After four falls in a row gcity puts it into quarantine.
set -u

printf 'climbing …\n'
for height in 1 2 3 4; do
	printf '  %d m up\n' "$height"
	sleep 0.2 2>/dev/null || :
done
printf '\033[31mthe rope is gone\033[0m\n' >&2
exit 3
