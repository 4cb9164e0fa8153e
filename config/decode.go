package config

import (
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
	outfits  outfits
	named    map[string]*Agent // by qualified name: agents, pools, members of pools
	problems []Problem
	about    []about // of each problem
	more     bool    // there are problems beyond maxProblems
	whose    *string // the rig whose agent is looked at, "" = the city's; nil = nobody's is
	unread   unread
	lost     map[string]int // problems that tell of a topology that cannot be read, by what that is known by

	strict bool // two files that set the same key are an error

	instead map[string][]byte // of Source
	packs   map[string]*pack  // topologies that were read, by folder; nil = one that cannot be used, or is being read
	packed  schema            // of topology.toml

	provided map[*pack]bool  // whose providers are the city's
	unkept   map[string]bool // watchdogs of topologies of which it was said that they watch nobody
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
		case kid.key == k.alias && k.kind != kindTables && n.get(k.name()) != nil:
			d.problem(kid.at, kid.key, "is another word for %s, and both are here; keep one", wordFor(k))
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
	for _, table := range []string{"agents", "agents.pool", "workspace", "daemon", "session", "events", "api", "rigs", "providers.*", "automations", "watchdogs"} {
		if k := d.schema.byPath[join(table, name)]; k != nil && k.status == supported {
			return header(d.schema.byPath[table])
		}
	}
	return ""
}

// header is how the table of a key begins.
func header(k *key) string {
	path := strings.ReplaceAll(k.path, "*", "NAME")
	if k.kind == kindTables {
		return "[[" + path + "]]"
	}
	return "[" + path + "]"
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
		switch {
		case k.path == "agents.pool":
			p.agent.Pool = &Pool{}
			d.defaults(k.path, p)
		case p.patch != nil && k.path == p.patch.table+".pool":
			p.patch.says.Pool = &Pool{}
		}
		d.table(n, k.path, p)
	case kindTables:
		d.list(n, k)
	case kindNamed:
		d.entries(n, k)
	default:
		d.scalar(n, k, p)
	}
}

// entries decodes a table of named tables, each into an element of its own.
func (d *decoder) entries(n *node, k *key) {
	if n.shape != shapeTable {
		d.problem(n.at, k.path, "is %s; each %s is a table of its own: write [%s.NAME] on a line of its own", n.shape, strings.TrimSuffix(k.name(), "s"), k.path)
		return
	}
	for _, kid := range n.kids {
		path := join(k.path, kid.key)
		if msg := checkName(kid.key); msg != "" {
			d.problem(kid.at, k.path, "%s", msg)
			continue
		}
		if kid.shape != shapeTable {
			d.problem(kid.at, path, "is %s; it must be a table: write [%s] on a line of its own", kid.shape, path)
			continue
		}
		p, said, warned := d.element(path, d.origin(kid.at), make(map[string]Origin, len(kid.kids))), len(d.problems), len(d.city.Warnings)
		d.table(kid, join(k.path, "*"), p)
		for _, news := range [][]Problem{d.problems[said:], d.city.Warnings[warned:]} {
			for i := range news {
				news[i].Key = strings.Replace(news[i].Key, join(k.path, "*"), path, 1)
			}
		}
	}
}

// list decodes a list of tables, each into an element of its own.
func (d *decoder) list(n *node, k *key) {
	tables := tablesOf(n)
	noun := strings.TrimSuffix(k.name(), "s")
	if k.table() == "patches" {
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
			if r.require && t.get(r.name()) == nil && (r.alias == "" || t.get(r.alias) == nil) {
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
	case "watchdogs":
		c.Watchdogs = append(c.Watchdogs, Watchdog{Origin: at, Origins: origins})
		return place{city: c, watchdog: &c.Watchdogs[len(c.Watchdogs)-1]}
	case "patches.watchdogs":
		c.dogPatch = append(c.dogPatch, watchPatch{Watchdog{Origin: at, Origins: origins}})
		return place{city: c, watchdog: &c.dogPatch[len(c.dogPatch)-1].says}
	case "rigs.overrides":
		r := &c.Rigs[len(c.Rigs)-1] // the one that is being decoded
		r.overrides = append(r.overrides, patch{table: path, origin: at, origins: origins})
		return place{city: c, patch: &r.overrides[len(r.overrides)-1]}
	case "patches.rigs":
		c.rigPatch = append(c.rigPatch, rigPatch{Rig{Origin: at, Origins: origins}})
		return place{city: c, rigPatch: &c.rigPatch[len(c.rigPatch)-1]}
	case "patches.agents":
		c.patches = append(c.patches, patch{table: path, origin: at, origins: origins})
		return place{city: c, patch: &c.patches[len(c.patches)-1]}
	case "patches.providers":
		c.amended = append(c.amended, Provider{Origin: at, Origins: origins})
		return place{city: c, provider: &c.amended[len(c.amended)-1]}
	case "automations.overrides":
		c.overrides = append(c.overrides, override{origin: at, origins: origins})
		return place{city: c, override: &c.overrides[len(c.overrides)-1]}
	}
	if name, ok := strings.CutPrefix(path, "providers."); ok {
		return place{city: c, provider: c.provider(name, at)}
	}
	if name, ok := strings.CutPrefix(path, "topologies."); ok {
		return place{city: c, remote: c.remote(name, at)}
	}
	c.Agents = append(c.Agents, Agent{Origin: at, Origins: origins})
	return place{city: c, agent: &c.Agents[len(c.Agents)-1]}
}

// defaults fills what a table does not say.
func (d *decoder) defaults(table string, p place) {
	for _, k := range d.schema.tables[table] {
		if k.status == supported && k.def != "" && k.field != nil {
			set(k.field(p), defaultValue(k))
		}
	}
}

// defaultValue is a key's default as the value it stands for.
func defaultValue(k *key) any {
	if s, err := strconv.Unquote(k.def); err == nil {
		if t, err := time.ParseDuration(s); err == nil && k.kind != kindString {
			return t
		}
		return s
	}
	if n, err := strconv.Atoi(k.def); err == nil {
		return n
	}
	return k.def == "true"
}

// scalar decodes one value, checks it and notes where it stands.
func (d *decoder) scalar(n *node, k *key, p place) {
	v, msg := value(n, k)
	if msg == "" {
		msg = k.wrong(v)
	}
	if msg != "" {
		d.problem(n.value.start, k.path, "%s", msg)
		return
	}
	origins, name := p.origins(k)
	if k.kind == kindEnv {
		v = d.joined(k.field(p), v.(map[string]string))
	} else if k.path != "include" {
		d.collides(origins[name], d.origin(n.value.start), k.path)
	}
	set(k.field(p), v)
	origins[name] = d.origin(n.value.start)
	if k.kind == kindEnv {
		for _, kid := range n.kids {
			d.collides(origins[name+"."+kid.key], d.origin(kid.value.start), join(k.path, kid.key))
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
