package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gcity/restart"
)

// decoder puts the nodes of one file into a City, and collects what is wrong on the way.
type decoder struct {
	schema   schema
	city     *City
	file     string            // as problems name it
	lines    []int             // offset of each line
	hashes   map[string]string // of the sources that could be read, by path
	problems []Problem
}

func (d *decoder) origin(at int) Origin {
	line, exact := slices.BinarySearch(d.lines, at)
	if !exact {
		line--
	}
	return Origin{File: d.file, Line: line + 1, Column: at - d.lines[line] + 1}
}

func (d *decoder) problem(at int, key, format string, args ...any) {
	d.say(d.origin(at), key, fmt.Sprintf(format, args...))
}

// say adds a problem. What came from the file is made fit to be shown: a key may be any text.
func (d *decoder) say(o Origin, key, msg string) {
	d.problems = append(d.problems, Problem{Origin: o, Key: visible(key), Message: visible(msg)})
}

func (d *decoder) warn(at int, key, format string, args ...any) {
	d.city.Warnings = append(d.city.Warnings, Problem{Origin: d.origin(at), Key: visible(key), Message: fmt.Sprintf(format, args...)})
}

// table decodes the members of one table. origins receives where each value was written, under its path below base.
func (d *decoder) table(n *node, path string, a *Agent) {
	for _, kid := range n.kids {
		k := d.schema.child(path, kid.key)
		if k == nil {
			d.unknown(kid, path)
			continue
		}
		switch k.status {
		case dropped:
			d.warn(kid.at, k.path, "does nothing any more; it can be taken out")
		case later:
			d.later(kid, k)
		default:
			d.supported(kid, k, a)
		}
	}
}

func (d *decoder) unknown(n *node, table string) {
	key, names := join(table, n.key), d.schema.names(table)
	what := "key"
	if n.shape == shapeTable && !n.inline || n.shape == shapeTables {
		what = "table"
	}
	switch near := suggest(n.key, names); {
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
		d.problem(n.at, key, "unknown %s; [%s] has %s", what, table, list(d.usable(table)))
	}
}

// elsewhere names the supported table that has such a key.
func (d *decoder) elsewhere(name string) string {
	for _, table := range []string{"agents", "workspace", "daemon", "session", "events"} {
		if k := d.schema.byPath[join(table, name)]; k != nil && k.status == supported {
			if table == "agents" {
				return "[[agents]]"
			}
			return "[" + table + "]"
		}
	}
	return ""
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

func (d *decoder) supported(n *node, k *key, a *Agent) {
	switch k.kind {
	case kindTable:
		if n.shape != shapeTable {
			d.problem(n.at, k.path, "is %s; it must be a table: write [%s] on a line of its own", n.shape, k.path)
			return
		}
		d.table(n, k.path, a)
	case kindTables:
		d.agents(n, k)
	default:
		d.scalar(n, k, a)
	}
}

// agents decodes [[agents]].
func (d *decoder) agents(n *node, k *key) {
	list := tablesOf(n)
	if n.shape == shapeTable || len(list) != len(n.kids) {
		d.problem(n.at, n.key, "is %s; each agent is a table of its own: write [[agents]] on a line of its own", n.shape)
		return
	}
	for _, t := range list {
		d.city.Agents = append(d.city.Agents, Agent{Origin: d.origin(t.at), Origins: make(map[string]Origin, len(t.kids))})
		a := &d.city.Agents[len(d.city.Agents)-1]
		d.defaults(k.path, a)
		d.table(t, k.path, a)
		for _, r := range d.schema.tables[k.path] {
			if r.require && t.get(r.name()) == nil {
				d.problem(t.at, r.path, "is missing; every agent needs one: %s = \"…\"", r.name())
			}
		}
	}
}

// defaults fills what a table does not say.
func (d *decoder) defaults(table string, a *Agent) {
	for _, k := range d.schema.tables[table] {
		if k.status == supported && k.def != "" && k.field != nil {
			set(k.field(d.city, a), plain(k.def))
		}
	}
}

// plain is a default as the value it stands for.
func plain(def string) any {
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
func (d *decoder) scalar(n *node, k *key, a *Agent) {
	v, msg := value(n, k)
	if msg == "" && k.check != nil {
		msg = k.check(v)
	}
	if msg != "" {
		d.problem(n.value.start, k.path, "%s", msg)
		return
	}
	set(k.field(d.city, a), v)
	origins, name := d.city.Origins, k.path
	if a != nil {
		origins, name = a.Origins, k.name()
	}
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

// value reads a node as its key wants it, or says why it cannot.
func value(n *node, k *key) (any, string) {
	wrong := "is " + n.shape.String() + "; it must be " + k.kind.example()
	switch k.kind {
	case kindBool:
		if n.shape == shapeBool {
			return n.text == "true", ""
		}
	case kindString:
		if n.shape == shapeString {
			return n.text, nul(n.text)
		}
	case kindInt, kindMillis:
		if n.shape == shapeInt {
			return integer(n.text, k.kind)
		}
	case kindDuration:
		if n.shape == shapeInt {
			return nil, fmt.Sprintf("is a number without a unit; write \"%ss\" for seconds", n.text)
		}
		if n.shape == shapeString {
			return duration(n.text)
		}
	case kindStrings:
		return texts(n, wrong)
	case kindEnv:
		return variables(n, wrong)
	}
	return nil, wrong
}

// maxDuration keeps sums of durations and times far from overflowing.
const maxDuration = 365 * 24 * time.Hour

// visible shows what a terminal would obey, or hide.
func visible(s string) string {
	shown := func(r rune) bool { return strconv.IsPrint(r) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !shown(r) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if shown(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}

func nul(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		return "contains a NUL character, which no program can be given; take it out"
	}
	return ""
}

func integer(text string, k kind) (any, string) {
	i, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
	if err != nil || i > math.MaxInt32 || i < math.MinInt32 {
		return nil, fmt.Sprintf("is too large a number: %s", text)
	}
	if k == kindMillis {
		return time.Duration(i) * time.Millisecond, ""
	}
	return int(i), ""
}

func duration(text string) (any, string) {
	t, err := time.ParseDuration(text)
	if err == nil && t > maxDuration {
		return nil, fmt.Sprintf("%q is too long; at most a year, \"8760h\", is possible", text)
	}
	if err == nil {
		return t, ""
	}
	if strings.Contains(err.Error(), "missing unit") {
		return nil, fmt.Sprintf("%q has no unit; write %q for seconds or %q for minutes", text, text+"s", text+"m")
	}
	if strings.ContainsAny(text, "dwy") {
		return nil, fmt.Sprintf("%q is no duration: the largest unit is h; a day is \"24h\"", text)
	}
	if strings.Trim(text, "0123456789.nuµmsh+-") == "" && strings.ContainsAny(text, "smh") {
		return nil, fmt.Sprintf("%q is too long; at most a year, \"8760h\", is possible", text)
	}
	return nil, fmt.Sprintf("%q is no duration; write it like \"500ms\", \"30s\", \"5m\" or \"1h30m\"", text)
}

func texts(n *node, wrong string) (any, string) {
	if n.shape == shapeString {
		return nil, "is a string; it must be a list: put it in brackets, [\"…\"]"
	}
	if n.shape != shapeArray {
		return nil, wrong
	}
	var out []string
	for i, kid := range n.kids {
		if kid.shape != shapeString {
			return nil, fmt.Sprintf("item %d is %s; every item must be a string", i+1, kid.shape)
		}
		if msg := nul(kid.text); msg != "" {
			return nil, fmt.Sprintf("item %d %s", i+1, msg)
		}
		out = append(out, kid.text)
	}
	return out, ""
}

func variables(n *node, wrong string) (any, string) {
	if n.shape != shapeTable {
		return nil, wrong
	}
	out := make(map[string]string, len(n.kids))
	for _, kid := range n.kids {
		if kid.shape != shapeString {
			return nil, fmt.Sprintf("%s is %s; every variable is a string: put it in quotes", kid.key, kid.shape)
		}
		if msg := nul(kid.text); msg != "" {
			return nil, kid.key + " " + msg
		}
		out[kid.key] = kid.text
	}
	return out, ""
}

// set stores v where field points.
func set(field, v any) {
	switch f := field.(type) {
	case *string:
		*f = v.(string)
	case *restart.Mode:
		*f = restart.Mode(v.(string))
	case *bool:
		*f = v.(bool)
	case *int:
		*f = v.(int)
	case *time.Duration:
		if ms, ok := v.(int); ok {
			v = time.Duration(ms) * time.Millisecond
		}
		*f = v.(time.Duration)
	case *[]string:
		*f = v.([]string)
	case *map[string]string:
		*f = v.(map[string]string)
	}
}

func list(names []string) string {
	switch n := len(names); n {
	case 0:
		return "nothing"
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}
