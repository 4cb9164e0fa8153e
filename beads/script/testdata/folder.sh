#!/bin/sh
# A bead store for gcity in a folder of JSON files, one for each bead. It needs jq.
set -eu
at="${BEADS_DIR:?}/folder"
op="${1:?which operation?}"
[ $# -lt 2 ] || id="$2"

keep() { # what is in .new
	mv "$at/.new" "$at/beads/$id.json"
	cat "$at/beads/$id.json"
}
all() { find "$at/beads" -name '*.json' -exec cat {} + | jq -s "$@"; }
have() {
	[ -f "$at/beads/$id.json" ] || { echo "bead $id not found" >&2; exit 1; }
}

case "$op" in
ensure-ready) mkdir -p "$at/beads" ;;
init) printf %s "$3" >"$at/prefix" ;;
create)
	read -r last <"$at/last" 2>/dev/null || last=0
	read -r prefix <"$at/prefix" || true
	both=$(jq -r --arg p "$prefix" --argjson n "$((last + 1))" '.id //= "\($p)-\($n)" | .id, tojson')
	id="${both%%
*}"
	case "${id##*-}" in
	*[!0-9]* | '') ;;
	*) [ "${id##*-}" -le "$last" ] || echo "${id##*-}" >"$at/last" ;;
	esac
	printf '%s\n' "${both#*
}" >"$at/.new"
	keep
	;;
get)
	have
	cat "$at/beads/$id.json"
	;;
update)
	have
	jq -c --slurpfile was "$at/beads/$id.json" '. as $d | $was[0]
		| (.labels // []) as $l | (.metadata // {}) as $m
		| . + ($d | del(.labels, .remove_labels, .metadata))
		| .labels = ($l + (($d.labels // []) - $l) - ($d.remove_labels // []))
		| .metadata = ($m + ($d.metadata // {}) | with_entries(select(.value != "")))' >"$at/.new"
	keep
	;;
close)
	have
	jq -c --slurpfile was "$at/beads/$id.json" '$was[0] + . + {status: "closed"}' >"$at/.new"
	keep
	;;
list) all . ;;
ready)
	all '(map(select(.status != "closed") | {(.id): true}) | add // {}) as $u
		| map(select(.status == "open" and all(.needs[]?; $u[.] | not)))'
	;;
children) all --arg p "$id" 'map(select(.parent_id == $p))' ;;
list-by-label) all --arg l "$id" --argjson n "$3" 'map(select(.labels // [] | index($l))) | .[:$n]' ;;
set-metadata)
	have
	jq -c --arg k "$3" --rawfile v /dev/stdin '.metadata[$k] = $v' "$at/beads/$id.json" >"$at/.new"
	keep >/dev/null
	;;
purge)
	jq -r '.ids[]' | while read -r id; do rm -f "$at/beads/$id.json"; done
	;;
shutdown) echo ended >"$at/ended" ;;
*) exit 2 ;;
esac
