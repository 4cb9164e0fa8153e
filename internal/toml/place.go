package toml

import "strconv"

type keyPlace struct{ key, value int }

type places map[string]keyPlace

// sep separates the parts of a path. Keys cannot contain it.
const sep = "\x00"

func below(path, part string) string {
	if path == "" {
		return part
	}
	return path + sep + part
}

func element(path string, i int) string { return below(path, strconv.Itoa(i)) }

func (p places) note(path string, n *Node) {
	for i, kid := range n.Kids {
		at := below(path, kid.Key)
		if n.Shape == ShapeArray || n.Shape == ShapeTables {
			at = element(path, i)
		}
		p[at] = keyPlace{kid.first, kid.first}
		if kid.Line.End > 0 {
			p[at] = keyPlace{kid.At, kid.Value.Start}
		}
		p.note(at, kid)
	}
}
