package migrate

import (
	"slices"
	"strconv"
	"strings"

	"gcity/internal/toml"
)

type table struct {
	keys   []string
	values map[string]string
}

// set sets a key to a rendered value; "" removes the key.
func (t *table) set(key, rendered string) {
	if t.values == nil {
		t.values = map[string]string{}
	}
	if _, known := t.values[key]; !known && rendered != "" {
		t.keys = append(t.keys, key)
	}
	if t.values[key] = rendered; rendered == "" {
		t.keys = slices.DeleteFunc(t.keys, func(k string) bool { return k == key })
		delete(t.values, key)
	}
}

func (t *table) text(key, s string) {
	if s != "" {
		t.set(key, toml.Quote(s))
	}
}

func (t *table) texts(key string, list []string) {
	if len(list) > 0 {
		t.set(key, quoteAll(list))
	}
}

func (t *table) number(key string, n int) { t.set(key, strconv.Itoa(n)) }

// fill sets the keys of defaults that t does not have.
func (t *table) fill(defaults *table) {
	for _, key := range defaults.keys {
		if t.values[key] == "" {
			t.set(key, defaults.values[key])
		}
	}
}

// write appends the table to b. It omits a table without keys, unless it is a list element.
func (t *table) write(b *strings.Builder, header string) {
	if t == nil || len(t.keys) == 0 && !strings.HasPrefix(header, "[[") {
		return
	}
	if b.Len() > 0 && !strings.HasPrefix(header, "[agents.") {
		b.WriteByte('\n')
	}
	b.WriteString(header + "\n")
	for _, key := range t.keys {
		b.WriteString(bare(key) + " = " + t.values[key] + "\n")
	}
}

func bare(key string) string {
	for _, r := range key {
		if (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r != '-' &&
			r != '_' {
			return toml.Quote(key)
		}
	}
	if key == "" {
		return `""`
	}
	return key
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = toml.Quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func render(n *toml.Node) string {
	switch n.Shape {
	case toml.ShapeString:
		return toml.Quote(n.Text)
	case toml.ShapeArray, toml.ShapeTables:
		items := make([]string, len(n.Kids))
		for i, kid := range n.Kids {
			items[i] = render(kid)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case toml.ShapeTable:
		items := make([]string, len(n.Kids))
		for i, kid := range n.Kids {
			items[i] = bare(kid.Key) + " = " + render(kid)
		}
		return "{ " + strings.Join(items, ", ") + " }"
	default:
		return n.Text
	}
}
