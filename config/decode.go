package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// decoder puts the nodes of files into a City, and collects what is wrong on the way.
type decoder struct {
	schema   schema
	city     *City
	file     string            // that is being decoded, as problems name it
	lines    []int             // offset of each of its lines
	files    []string          // all so far
	size     int               // of all so far, in bytes
	hashes   map[string]string // of the sources that could be read, by path
	scripts  map[string]script // by path
	named    map[string]*Agent // by qualified name: agents, pools, members of pools
	problems []Problem
	more     bool // there are problems beyond maxProblems
}

func (d *decoder) origin(at int) Origin {
	if at == everywhere {
		return Origin{File: d.file}
	}
	line, exact := slices.BinarySearch(d.lines, at)
	if !exact {
		line--
	}
	return Origin{File: d.file, Line: line + 1, Column: at - d.lines[line] + 1}
}

func (d *decoder) problem(at int, key, format string, args ...any) {
	if d.full() {
		d.more = true
		return
	}
	d.say(d.origin(at), key, fmt.Sprintf(format, args...))
}

// say adds a problem. What came from the file is made fit to be shown: a key may be any text.
func (d *decoder) say(o Origin, key, msg string) {
	if d.full() {
		d.more = true
		return
	}
	d.problems = append(d.problems, Problem{Origin: o, Key: visible(key), Message: visible(msg)})
}

func (d *decoder) full() bool { return len(d.problems) >= maxProblems }

// warn says something once per key, at the first place.
func (d *decoder) warn(at int, key, msg string) {
	key = visible(key)
	if !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool { return p.Key == key && p.Message == msg }) {
		d.city.Warnings = append(d.city.Warnings, Problem{Origin: d.origin(at), Key: key, Message: msg})
	}
}

// table decodes the members of one table.
func (d *decoder) table(n *node, path string, p place) {
	for _, kid := range n.kids {
		k := d.schema.child(path, kid.key)
		if k == nil {
			d.unknown(kid, path)
			continue
		}
		switch {
		case k.status == dropped:
			d.warn(kid.at, k.path, "does nothing any more; it can be taken out")
		case k.status == later:
			d.later(kid, k)
		case kid.key == k.alias && k.kind == kindTable && n.get(k.name()) != nil:
			d.problem(kid.at, kid.key, "is another word for %s, and both are here; keep one", header(k))
		default:
			d.supported(kid, k, p)
		}
	}
}

func (d *decoder) unknown(n *node, table string) {
	if d.full() {
		d.more = true
		return
	}
	key, names := join(table, n.key), d.schema.names(table)
	what := "key"
	if n.shape == shapeTable && !n.inline || n.shape == shapeTables {
		what = "table"
	}
	switch near, inner := suggest(n.key, names), d.inner(table, n.key); {
	case inner != "":
		d.problem(n.at, key, "unknown %s here; it belongs into %s", what, inner)
	case near != "":
		yet := ""
		if d.schema.child(table, near).status == later {
			yet = " (that is not supported yet)"
		}
		d.problem(n.at, key, "unknown %s; did you mean %q?%s", what, near, yet)
	case table == "":
		if in := d.elsewhere(n.key); in != "" && what == "key" {
			d.problem(n.at, key, "unknown key; it belongs into %s, and a key belongs to the table whose [header] stands above it", in)
			return
		}
		d.problem(n.at, key, "unknown %s; there are %s", what, list(d.usable("")))
	default:
		if in := d.elsewhere(n.key); in != "" {
			d.problem(n.at, key, "unknown %s here; it belongs into %s", what, in)
			return
		}
		d.problem(n.at, key, "unknown %s; %s has %s", what, header(d.schema.byPath[table]), list(d.usable(table)))
	}
}

// inner names the table within a table that has such a key; at the top, such a table within [[agents]].
func (d *decoder) inner(table, name string) string {
	if table == "" {
		if k := d.schema.byPath[join("agents", name)]; k != nil && (k.kind == kindTable || k.kind == kindEnv) {
			return "[[agents]], as " + header(k)
		}
	}
	for _, t := range d.schema.tables[table] {
		if k := d.schema.byPath[join(t.path, name)]; k != nil && table != "" && t.status == supported && k.status == supported {
			return header(t)
		}
	}
	return ""
}

// elsewhere names the supported table that has such a key.
func (d *decoder) elsewhere(name string) string {
	for _, table := range []string{"agents", "agents.pool", "workspace", "daemon", "session", "events", "rigs", "automations"} {
		if k := d.schema.byPath[join(table, name)]; k != nil && k.status == supported {
			return header(d.schema.byPath[table])
		}
	}
	return ""
}

// header is how the table of a key begins.
func header(k *key) string {
	if k.kind == kindTables {
		return "[[" + k.path + "]]"
	}
	return "[" + k.path + "]"
}

// usable lists what is supported in a table; all that is known in a table that is not.
func (d *decoder) usable(table string) []string {
	var out []string
	for _, k := range d.schema.tables[table] {
		if k.status == supported {
			out = append(out, k.name())
		}
	}
	if len(out) == 0 {
		return d.schema.names(table)
	}
	return out
}

// later refuses what is not built yet, once per table; what is unknown or dropped in it is said besides.
func (d *decoder) later(n *node, k *key) {
	refuse := true
	for _, t := range tablesOf(n) {
		only := len(t.kids) > 0
		for _, kid := range t.kids {
			switch c := d.schema.child(k.path, kid.key); {
			case k.kind == kindAny:
				only = false
			case c == nil:
				d.unknown(kid, k.path)
			case c.status == dropped:
				d.warn(kid.at, c.path, "does nothing any more; it can be taken out")
				continue
			}
			only = false
		}
		refuse = refuse && !only
	}
	if refuse {
		d.problem(n.at, join(k.table(), n.key), "is not supported yet; take it out, this version would not act on it")
	}
}

// tablesOf gives the tables that a node is or holds.
func tablesOf(n *node) []*node {
	switch {
	case n == nil:
	case n.shape == shapeTable:
		return []*node{n}
	case n.shape == shapeTables || n.shape == shapeArray:
		var out []*node
		for _, kid := range n.kids {
			if kid.shape == shapeTable {
				out = append(out, kid)
			}
		}
		return out
	}
	return nil
}

func (d *decoder) supported(n *node, k *key, p place) {
	switch k.kind {
	case kindTable:
		if n.shape != shapeTable {
			d.problem(n.at, k.path, "is %s; it must be a table: write [%s] on a line of its own", n.shape, k.path)
			return
		}
		if k.path == "agents.pool" {
			p.agent.Pool = &Pool{}
			d.defaults(k.path, p)
		}
		d.table(n, k.path, p)
	case kindTables:
		d.list(n, k)
	default:
		d.scalar(n, k, p)
	}
}

// list decodes a list of tables, each into an element of its own.
func (d *decoder) list(n *node, k *key) {
	tables := tablesOf(n)
	noun := strings.TrimSuffix(k.name(), "s")
	if k.path == "patches.agents" {
		noun = "patch"
	}
	if n.shape == shapeTable || len(tables) != len(n.kids) {
		d.problem(n.at, join(k.table(), n.key), "is %s; each %s is a table of its own: write [[%s]] on a line of its own", n.shape, noun, k.path)
		return
	}
	for _, t := range tables {
		p := d.element(k.path, d.origin(t.at), make(map[string]Origin, len(t.kids)))
		d.defaults(k.path, p)
		d.table(t, k.path, p)
		for _, r := range d.schema.tables[k.path] {
			if r.require && t.get(r.name()) == nil {
				d.problem(t.at, r.path, "is missing; every %s needs one: %s = \"…\"", noun, r.name())
			}
		}
	}
}

// element appends an element to the list of a table and says where its values go, until the next one is appended.
func (d *decoder) element(path string, at Origin, origins map[string]Origin) place {
	c := d.city
	switch path {
	case "rigs":
		c.Rigs = append(c.Rigs, Rig{Origin: at, Origins: origins})
		return place{city: c, rig: &c.Rigs[len(c.Rigs)-1]}
	case "patches.agents":
		c.patches = append(c.patches, patch{origin: at, origins: origins})
		return place{city: c, patch: &c.patches[len(c.patches)-1]}
	case "automations.overrides":
		c.overrides = append(c.overrides, override{origin: at, origins: origins})
		return place{city: c, override: &c.overrides[len(c.overrides)-1]}
	default:
		c.Agents = append(c.Agents, Agent{Origin: at, Origins: origins})
		return place{city: c, agent: &c.Agents[len(c.Agents)-1]}
	}
}

// defaults fills what a table does not say.
func (d *decoder) defaults(table string, p place) {
	for _, k := range d.schema.tables[table] {
		if k.status == supported && k.def != "" && k.field != nil {
			set(k.field(p), defaultValue(k.def))
		}
	}
}

// defaultValue is a default as the value it stands for.
func defaultValue(def string) any {
	if s, err := strconv.Unquote(def); err == nil {
		if t, err := time.ParseDuration(s); err == nil {
			return t
		}
		return s
	}
	if n, err := strconv.Atoi(def); err == nil {
		return n
	}
	return def == "true"
}

// scalar decodes one value, checks it and notes where it stands.
func (d *decoder) scalar(n *node, k *key, p place) {
	v, msg := value(n, k)
	if msg == "" && k.check != nil {
		msg = k.check(v)
	}
	if msg != "" {
		d.problem(n.value.start, k.path, "%s", msg)
		return
	}
	set(k.field(p), v)
	origins, name := p.origins(k)
	origins[name] = d.origin(n.value.start)
	if k.kind == kindEnv {
		for _, kid := range n.kids {
			origins[name+"."+kid.key] = d.origin(kid.value.start)
			d.variable(kid, k)
		}
	}
}

// variable checks one variable of env.
func (d *decoder) variable(n *node, k *key) {
	path := join(k.path, n.key)
	switch {
	case n.key == "" || strings.ContainsAny(n.key, "=\x00"):
		d.problem(n.at, path, "is no name for a variable of the environment")
	case reserved(n.key):
		d.warn(n.at, path, "is set by gcity for every agent; this value is not used")
	}
}

// reserved are the variables that every agent gets.
func reserved(name string) bool {
	switch name {
	case "GC_AGENT", "GC_CITY", "GC_CITY_PATH", "GC_CITY_NAME", "GC_SESSION_NAME", "GC_SESSION_ID", "GC_DIR", "GC_RIG",
		"GC_RIG_PATH", "BEADS_DIR":
		return true
	}
	return false
}
