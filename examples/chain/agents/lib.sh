# Functions for all agents of this city.
say() { printf '\033[%sm%s\033[0m\n' "$1" "$2"; }

# Prints the path of an agent's heartbeat file.
sign_of() { printf '%s/.gc/heartbeats/%s.json\n' "$GC_CITY" "$(printf %s "$1" | sed 's/_/__/g; s,/,_s,g; s/\./_d/g')"; }

# Extracts the IDs from a JSON list printed by gc.
ids() { sed -n 's/^ *"id": "\(.*\)",$/\1/p'; }

# A background process reads typed lines at any time. It stores each in a folder, which the agent reads at its next turn.
ears=$GC_CITY/ears/$GC_AGENT
rm -rf "$ears"
mkdir -p "$ears"
exec 3<&0
(
	n=0
	while IFS= read -r line <&3; do
		n=$((n + 1))
		printf '%s\n' "$line" >"$ears/new.$n"
		mv "$ears/new.$n" "$ears/line.$n"
	done
) &

# heard: prints the lines that were typed since the last turn, and fails if there were none.
heard() {
	set -- "$ears"/line.*
	[ -e "$1" ] || return 1
	cat "$@"
	rm -f "$@"
}
