package config

import (
	"gcity/config/keys"
	"gcity/internal/toml"
	"strings"
)

type decoder struct{ *loading }

func (d decoder) table(n *toml.Node, path string, p place) {
	for _, kid := range n.Kids {
		k := d.schema.Child(path, kid.Key)
		if k == nil {
			d.unknown(kid, path)
			continue
		}
		switch {
		case k.Status == keys.Dropped:
			d.warn(kid.At, k.Path, "is ignored; remove it")
		case k.Status == keys.Later:
			d.addUnsupported(kid, k)
		case kid.Key == k.Alias && k.Kind != keys.Tables && n.Get(k.Name()) != nil:
			d.problem(kid.At, kid.Key, "is another name for %s, and both are set; keep only one",
				k.Word())
		default:
			d.supported(kid, k, p)
		}
	}
}

func (d decoder) unknown(n *toml.Node, table string) {
	if d.full() {
		d.truncated = true
		return
	}
	key, names := keys.Join(table, n.Key), d.schema.Names(table)
	what := "key"
	if n.Shape == toml.ShapeTable && !n.Inline || n.Shape == toml.ShapeTables {
		what = "table"
	}
	switch near, inner := keys.Suggest(n.Key, names), d.inner(table, n.Key); {
	case inner != "":
		d.problem(n.At, key, "unknown %s here; it belongs to %s", what, inner)
	case what == "key" && n.Key == "include":
		d.problem(n.At, key, "unknown key here; include must be above the first [header]")
	case near != "":
		yet := ""
		if d.schema.Child(table, near).Status == keys.Later {
			yet = " (that is not supported yet)"
		}
		d.problem(n.At, key, "unknown %s; did you mean %q?%s", what, near, yet)
	case table == "":
		if in := d.tableWith(n.Key); in != "" && what == "key" {
			if k := d.schema.ByPath["workspace."+n.Key]; in == "[[agents]]" && k != nil &&
				k.Status == keys.Supported {
				in = "[workspace] or " + in
			}
			d.problem(n.At, key, "unknown key; it belongs to %s. A key belongs to the "+
				"[header] above it", in)
			return
		}
		d.problem(n.At, key, "unknown %s; use one of %s", what, toml.List(d.supportedKeys("")))
	default:
		if in := d.tableWith(n.Key); in != "" {
			d.problem(n.At, key, "unknown %s here; it belongs to %s", what, in)
			return
		}
		d.problem(n.At, key, "unknown %s; %s supports %s", what, d.schema.ByPath[table].Header(),
			toml.List(d.supportedKeys(table)))
	}
}

func (d decoder) inner(table, name string) string {
	if table == "" {
		if k := d.schema.ByPath[keys.Join("agents", name)]; k != nil &&
			(k.Kind == keys.Table || k.Kind == keys.Env) {
			return "[[agents]], as " + k.Header()
		}
	}
	for _, t := range d.schema.Tables[table] {
		if k := d.schema.ByPath[keys.Join(t.Path, name)]; k != nil && table != "" &&
			t.Status == keys.Supported && k.Status == keys.Supported {
			return t.Header()
		}
	}
	return ""
}

func (d decoder) tableWith(name string) string {
	for _, table := range []string{"agents", "agents.pool", "workspace", "daemon", "session",
		"events", "api", "rigs", "providers.*", "automations", "watchdogs"} {
		if k := d.schema.ByPath[keys.Join(table, name)]; k != nil && k.Status == keys.Supported {
			return d.schema.ByPath[table].Header()
		}
	}
	return ""
}

func (d decoder) supportedKeys(table string) []string {
	var out []string
	for _, k := range d.schema.Tables[table] {
		if k.Status == keys.Supported {
			out = append(out, k.Name())
		}
	}
	if len(out) == 0 {
		return d.schema.Names(table)
	}
	return out
}

func (d decoder) addUnsupported(n *toml.Node, k *keys.Key) {
	report := true
	for _, t := range toml.TablesOf(n) {
		only := len(t.Kids) > 0
		for _, kid := range t.Kids {
			switch c := d.schema.Child(k.Path, kid.Key); {
			case k.Kind == keys.Any:
			case c == nil:
				d.unknown(kid, k.Path)
			case c.Status == keys.Dropped:
				d.warn(kid.At, c.Path, "is ignored; remove it")
				continue
			}
			only = false
		}
		report = report && !only
	}
	if report {
		d.problem(n.At, keys.Join(k.Table(), n.Key), "is not supported yet; remove it, because "+
			"this version ignores it")
	}
}

func (d decoder) supported(n *toml.Node, k *keys.Key, p place) {
	switch k.Kind {
	case keys.Table:
		if n.Shape != toml.ShapeTable {
			d.problem(n.At, k.Path, "is %s; it must be a table: put [%s] on a line of its own",
				n.Shape, k.Path)
			return
		}
		switch t := p.table.(type) {
		case *Agent: // its only table is the pool
			t.Pool = &Pool{}
			d.defaults(k.Path, p)
		case *patch:
			t.Pool = &Pool{}
		}
		d.table(n, k.Path, p)
	case keys.Tables:
		d.list(n, k)
	case keys.Named:
		d.entries(n, k)
	default:
		d.scalar(n, k, p)
	}
}

func (d decoder) entries(n *toml.Node, k *keys.Key) {
	if n.Shape != toml.ShapeTable {
		d.problem(n.At, k.Path, "is %s; each entry is a separate table: put [%s.NAME] on a line "+
			"of its own", n.Shape, k.Path)
		return
	}
	for _, kid := range n.Kids {
		path := keys.Join(k.Path, kid.Key)
		if msg := keys.CheckName(kid.Key); msg != "" {
			d.problem(kid.At, k.Path, "%s", msg)
			continue
		}
		if kid.Shape != toml.ShapeTable {
			d.problem(kid.At, path, "is %s; it must be a table: put [%s] on a line of its own",
				kid.Shape, path)
			continue
		}
		p, said, warned := d.element(path, d.origin(kid.At),
			make(map[string]Origin, len(kid.Kids))), len(d.problems), len(d.city.Warnings)
		d.table(kid, keys.Join(k.Path, "*"), p)
		for _, news := range [][]Problem{d.problems[said:], d.city.Warnings[warned:]} {
			for i := range news {
				news[i].Key = strings.Replace(news[i].Key, keys.Join(k.Path, "*"), path, 1)
			}
		}
	}
}

func (d decoder) list(n *toml.Node, k *keys.Key) {
	tables := toml.TablesOf(n)
	noun := strings.TrimSuffix(k.Name(), "s")
	if k.Table() == "patches" {
		noun = "patch"
	}
	isList := n.Shape == toml.ShapeArray || n.Shape == toml.ShapeTables
	if !isList || len(tables) != len(n.Kids) {
		d.problem(n.At, keys.Join(k.Table(), n.Key), "is %s; each %s is a separate table: put "+
			"[[%s]] on a line of its own", n.Shape, noun, k.Path)
		return
	}
	for _, t := range tables {
		p := d.element(k.Path, d.origin(t.At), make(map[string]Origin, len(t.Kids)))
		d.defaults(k.Path, p)
		d.table(t, k.Path, p)
		for _, r := range d.schema.Tables[k.Path] {
			if r.Require && t.Get(r.Name()) == nil && (r.Alias == "" || t.Get(r.Alias) == nil) {
				d.problem(t.At, r.Path, "is missing; every %s needs one: %s = \"…\"", noun,
					r.Name())
			}
		}
	}
}

// element adds an element to a list of tables. The result is valid until the next call.
func (d decoder) element(path string, at Origin, origins map[string]Origin) place {
	c, own := d.city, Agent{Origin: at, Origins: origins}
	switch path {
	case "rigs":
		return place{added(&c.Rigs, Rig{Origin: at, Origins: origins})}
	case "watchdogs":
		return place{added(&c.Watchdogs, Watchdog{Origin: at, Origins: origins})}
	case "patches.watchdogs":
		return place{added(&c.patches.watchdogs, Watchdog{Origin: at, Origins: origins})}
	case "rigs.overrides":
		r := &c.Rigs[len(c.Rigs)-1]
		return place{added(&r.overrides, patch{table: path, Agent: own})}
	case "patches.rigs":
		return place{added(&c.patches.rigs, Rig{Origin: at, Origins: origins})}
	case "patches.agents":
		return place{added(&c.patches.agents, patch{table: path, Agent: own})}
	case "patches.providers":
		return place{added(&c.patches.providers, Provider{Origin: at, Origins: origins})}
	case "automations.overrides":
		return place{added(&c.overrides, override{origin: at, origins: origins})}
	}
	if name, ok := strings.CutPrefix(path, "providers."); ok {
		return place{c.provider(name, at)}
	}
	if name, ok := strings.CutPrefix(path, "topologies."); ok {
		return place{c.remote(name, at)}
	}
	return place{added(&c.Agents, own)}
}

func added[T any](list *[]T, v T) *T {
	*list = append(*list, v)
	return &(*list)[len(*list)-1]
}

func (d decoder) defaults(table string, p place) {
	for _, k := range d.schema.Tables[table] {
		if k.Status == keys.Supported && k.Def != "" && k.HasValue() {
			set(p.field(k), k.DefaultValue())
		}
	}
}

func (d decoder) scalar(n *toml.Node, k *keys.Key, p place) {
	if k.Kind == keys.Env && d.invalidVariables(n, k) {
		return
	}
	v, msg := keys.Parse(n, k)
	if msg == "" {
		msg = k.Invalid(v)
	}
	if msg != "" {
		d.problem(n.Value.Start, k.Path, "%s", msg)
		return
	}
	origins, name := p.origins(k)
	if k.Kind == keys.Env {
		v = d.mergedTable(p.field(k), v.(map[string]string))
	} else if k.Path != "include" {
		d.addDuplicate(origins[name], d.origin(n.Value.Start), k.Path)
	}
	set(p.field(k), v)
	origins[name] = d.origin(n.Value.Start)
	if k.Kind == keys.Env {
		for _, kid := range n.Kids {
			d.addDuplicate(origins[name+"."+kid.Key], d.origin(kid.Value.Start),
				keys.Join(k.Path, kid.Key))
			origins[name+"."+kid.Key] = d.origin(kid.Value.Start)
			d.variable(kid, k)
		}
	}
}

// invalidVariables reports every invalid value in a table of environment variables.
func (d decoder) invalidVariables(n *toml.Node, k *keys.Key) (found bool) {
	for _, kid := range n.Kids {
		if msg := keys.InvalidVariable(kid); msg != "" && n.Shape == toml.ShapeTable {
			d.problem(kid.Value.Start, k.Path, "%s", msg)
			found = true
		}
	}
	return found
}

func (d decoder) variable(n *toml.Node, k *keys.Key) {
	path := keys.Join(k.Path, n.Key)
	switch {
	case n.Key == "" || strings.ContainsAny(n.Key, "=\x00"):
		d.problem(n.At, path, "is not a valid environment variable name")
	case keys.Reserved(n.Key):
		d.warn(n.At, path, "is set by gcity for every agent, so this value is ignored")
	}
}
