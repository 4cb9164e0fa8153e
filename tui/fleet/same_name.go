package fleet

import (
	"cmp"
	"slices"
	"strings"

	"gcity/tui/widget"
)

// Distinguish sets the display names of all cities, and the folders of cities with the same name.
func Distinguish(rows []City) {
	same := map[string][]int{}
	for i := range rows {
		name := cmp.Or(rows[i].Summary.Name, rows[i].Info.Name)
		rows[i].DisplayName = widget.Plain(name)
		same[name] = append(same[name], i)
	}
	for _, at := range same {
		if len(at) < 2 {
			continue
		}
		paths := make([]string, len(at))
		for k, i := range at {
			paths[k] = rows[i].Info.Path
		}
		for k, folder := range distinctFolders(paths) {
			c := &rows[at[k]]
			c.Folder = widget.Plain(folder)
			if c.Folder != c.DisplayName {
				c.DisplayName += " (" + c.Folder + ")"
			}
		}
	}
}

// distinctFolders returns the shortest distinct parts of paths: "a" and "b" for "/srv/a/demo" and "/srv/b/demo".
func distinctFolders(paths []string) []string {
	parts := make([][]string, len(paths))
	for i, p := range paths {
		parts[i] = strings.Split(strings.Trim(p, "/"), "/")
		slices.Reverse(parts[i])
	}
	shared := func(a, b []string) (n int) {
		for n < min(len(a), len(b)) && a[n] == b[n] {
			n++
		}
		return n
	}
	folders := make([]string, len(paths))
	for i, own := range parts {
		from, to := len(own), 0 // all paths share own[:from]
		for k, other := range parts {
			if k != i {
				n := shared(own, other)
				from, to = min(from, n), max(to, n+1)
			}
		}
		to = min(to, len(own))
		folder := slices.Clone(own[min(from, to-1):to])
		slices.Reverse(folder)
		folders[i] = strings.Join(folder, "/")
	}
	return folders
}
