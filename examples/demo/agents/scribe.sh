#!/bin/sh
# Waits at a prompt and stores the lines that are typed. It does nothing by itself.
set -u

lines=0
printf 'Tell me something, or "read", "forget", "bye".\n'
notes=''
while printf 'scribe> ' && IFS= read -r said; do
	case $said in
	'') ;;
	read) printf '%s' "${notes:-nothing is written down
}" ;;
	forget)
		notes='' lines=0
		printf 'forgotten\n'
		;;
	bye)
		printf 'until we meet again\n'
		exit 0
		;;
	*)
		lines=$((lines + 1))
		notes="$notes$lines  $said
"
		printf 'noted as line %d\n' "$lines"
		;;
	esac
done
