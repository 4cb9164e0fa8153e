# What the agents of the chain have in common.
say() { printf '\033[%sm%s\033[0m\n' "$1" "$2"; }

# Where an agent's sign of life is.
sign_of() { printf '%s/.gc/heartbeats/%s.json\n' "$GC_CITY" "$(printf %s "$1" | sed 's/_/__/g; s,/,_s,g; s/\./_d/g')"; }

# The ids in a list that gc prints.
ids() { sed -n 's/^ *"id": "\(.*\)",$/\1/p'; }

# Lines that are typed here are heard whatever this agent is at: each goes into a folder that the next turn empties.
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

# heard: what was typed since the last turn, if anything was.
heard() {
	set -- "$ears"/line.*
	[ -e "$1" ] || return 1
	cat "$@"
	rm -f "$@"
}
