package toml

import "strconv"

// keyPlace is where a key and its value begin.
type keyPlace struct{ key, value int }

// places is where everything in a file stands, by path.
type places map[string]keyPlace

// sep joins the parts of a path; no key can contain it, since a file with NUL is refused. Elements of lists have their
// index as a part.
const sep = "\x00"

func below(path, part string) string {
	if path == "" {
		return part
	}
	return path + sep + part
}

func element(path string, i int) string { return below(path, strconv.Itoa(i)) }

// note notes the places of everything in a node.
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
