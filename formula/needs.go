package formula

import (
	"fmt"
	"slices"
	"strings"

	"gcity/internal/toml"
)

func readNeeds(all []Step, tables []toml.Table) {
	names, valid := ids(all), true
	at := make(map[string]int, len(all))
	for i, s := range all {
		at[s.ID] = i
	}
	for i, s := range all {
		for j, need := range s.Needs {
			key, item := written(tables[i], j)
			_, there := at[need]
			switch near := toml.Meant(need, names); {
			case slices.Contains(s.Needs[:j], need):
				tables[i].WrongItem(key, item, "%q is listed twice", need)
			case there:
				continue
			case near != "":
				tables[i].WrongItem(key, item, "step %q not found; did you mean %q?", need, near)
			default:
				tables[i].WrongItem(key, item, "step %q not found; the steps are %s", need,
					toml.List(shortened(names)))
			}
			valid = false
		}
	}
	if !valid || len(at) < len(all) {
		return
	}
	for _, ring := range cycles(all, at) {
		first := at[ring[0]]
		key, item := written(tables[first], slices.Index(all[first].Needs, ring[1%len(ring)]))
		tables[first].WrongItem(key, item, "%s", cycleText(ring))
	}
}

func written(t toml.Table, i int) (key string, item int) {
	if n := len(t.Texts("needs")); i >= n {
		return "depends_on", i - n
	}
	return "needs", i
}

func shortened(names []string) []string {
	if len(names) > 12 {
		return append(slices.Clone(names[:12]), "more")
	}
	return names
}

func cycleText(ring []string) string {
	if len(ring) == 1 {
		return "step " + ring[0] + " waits for itself"
	}
	const most = 20
	shown := slices.Clone(ring[:min(len(ring), most)])
	if more := len(ring) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("… %d more", more))
	}
	return "these steps wait for each other: " + strings.Join(append(shown, ring[0]), " → ")
}

// cycles is not recursive, because a chain can contain all steps.
func cycles(all []Step, at map[string]int) [][]string {
	const (
		fresh = iota
		open
		done
	)
	state := make([]int, len(all))
	next := make([]int, len(all)) // for each step on the path, the index of the next need to visit
	var rings [][]string
	for start := range all {
		path := []int{start}
		for len(path) > 0 && state[start] != done {
			i := path[len(path)-1]
			state[i] = open
			if next[i] == len(all[i].Needs) {
				state[i] = done
				path = path[:len(path)-1]
				continue
			}
			need := at[all[i].Needs[next[i]]]
			next[i]++
			switch state[need] {
			case fresh:
				path = append(path, need)
			case open:
				rings = append(rings, cycleFrom(all, path[slices.Index(path, need):]))
			}
		}
	}
	return rings
}

func cycleFrom(all []Step, path []int) []string {
	first := slices.Index(path, slices.Min(path))
	out := make([]string, len(path))
	for i := range path {
		out[i] = all[path[(first+i)%len(path)]].ID
	}
	return out
}
