package migrate

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config"
	"gcity/config/keys"
	"gcity/internal/toml"
)

// supports reports whether gcity supports a key in a table.
func (c *conversion) supports(table, key string) bool {
	k := c.schema.Child(table, key)
	return !strings.Contains(key, ".") && k != nil && k.Status == keys.Supported && k.Name() != "*"
}

func (c cityWriter) plainTable(out *table, name string, v value, except ...string) {
	for _, kid := range v.kids() {
		switch {
		case slices.Contains(except, kid.Key):
		case !c.supports(name, kid.Key), kid.Shape == toml.ShapeTable,
			kid.Shape == toml.ShapeTables:
			at := "[" + name + "]"
			c.unknownKey(kid, at, at, instead[kid.Key])
		default:
			out.set(kid.Key, render(kid.Node))
		}
	}
}

type cityWriter struct{ *conversion }

func (c cityWriter) text() string {
	var b strings.Builder
	c.workspace().write(&b, "[workspace]")
	for _, name := range []string{"daemon", "session", "session.k8s", "events", "api", "beads",
		"dolt", "automations"} {
		t := &table{}
		for _, root := range c.manifests(c.root) {
			if name == "automations" || root.src != c.root.manifest {
				c.section(t, name, root)
			}
		}
		if name == "automations" {
			t.texts("skip", c.skipped())
		}
		t.write(&b, "["+name+"]")
	}
	if c.hasFormulas(c.root) {
		b.WriteString("\n[formulas]\ndir = \"formulas\"\n")
	}
	c.orderOverrides(&b)
	programs(c).providers(&b, c.root)
	c.rootAgents(&b)
	c.writeRigs(&b)
	c.cityPatches(&b)
	c.unknownTables()
	return strings.TrimPrefix(b.String(), "\n")
}

// suspendedOnStart is the newer name of the key suspended.
const suspendedOnStart = "suspended_on_start"

// skipped returns the orders that the city disables in city.toml or in its pack.toml.
func (c cityWriter) skipped() (names []string) {
	for _, root := range c.manifests(c.root) {
		for _, v := range root.tables("orders", "automations") {
			names = append(names, v.get("skip").texts()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const prefixDerived = "the prefix for the city's work is derived from its name"

func (c cityWriter) workspace() *table {
	t := &table{}
	t.text("name", c.cityName())
	for _, s := range c.files {
		w := s.root.get("workspace")
		c.plainTable(t, "workspace", w, "name", "includes", "topology", "topologies", "pack",
			"packs", "default_rig_includes", "max_active_sessions", "provider", "prefix",
			installHooks, "env")
		t.texts(installHooks, c.hooks(w.get(installHooks), "the agents"))
		if p := w.TextOf("provider"); p != "" && c.known(p) {
			t.text("provider", p)
		} else if p != "" {
			c.broken(w.get("provider").place(), "unknown provider %q, so the city is suspended; "+
				"add a [providers.%s] table, set provider, and remove suspended", p, p)
			t.set("suspended", "true") // another program could have wider permissions
		}
		lost := map[string]string{
			"default_rig_includes": "add the topologies to each new rig",
			"prefix":               prefixDerived,
			"max_active_sessions":  "it is now the max of each pool without a limit of its own",
		}
		for _, kid := range w.kids() {
			if why := lost[kid.Key]; why != "" {
				c.note(kid.place(), "%s in [workspace] has no equivalent; %s", kid.Key, why)
			}
		}
	}
	c.noteSite()
	t.texts("topologies", c.topologyNames(c.root.imports, "city"))
	return t
}

func (c cityWriter) noteSite() {
	if c.site == nil {
		return
	}
	for _, kid := range c.site.root.kids() {
		switch kid.Key {
		case "workspace_name", "rig", "rigs":
		case "workspace_prefix":
			c.note(kid.place(), "workspace_prefix has no equivalent; %s", prefixDerived)
		default:
			c.note(kid.place(), "%s has no equivalent", kid.Key)
		}
	}
}

func (c *conversion) topologyNames(imports []imported, scope string) []string {
	var out []string
	for _, p := range c.flat(imports) {
		switch {
		case c.hasAgentsFor(p, scope):
			out = append(out, p.rel)
		case len(p.agents) == 0 &&
			(c.hasFormulas(p) || p.manifest.root.get("providers").Node != nil):
			out = append(out, p.rel)
		case c.hasFormulas(p):
			c.formulaPacks = append(c.formulaPacks, p)
			out = append(out, p.rel+formulasSuffix)
		}
		if scope == "rig" && p.twoLevels(c) {
			out = append(out, p.rel+rigSuffix)
		}
	}
	return out
}

func (c cityWriter) slingTarget(r *rig, name string) string {
	if !strings.Contains(name, "/") {
		if a := c.lookupIn(r.name, name); a != nil {
			return a.name
		}
		return ""
	}
	target, ok := c.renamed(c.root, name)
	if !ok {
		return ""
	}
	return target
}

func (c *conversion) cityName() string {
	var names []string
	if c.site != nil {
		names = append(names, c.site.root.TextOf("workspace_name"))
	}
	for _, v := range c.settings("workspace", "name") {
		names = append(names, v.text())
	}
	if c.root.manifest != nil {
		names = append(names, c.root.name)
	}
	for _, name := range append(names, filepath.Base(c.dir)) {
		if validName().MatchString(name) {
			return name
		}
	}
	return "city"
}

// hasAgentsFor reports whether a pack has agents for scope: "city" or "rig".
func (c *conversion) hasAgentsFor(p *pack, scope string) bool {
	other := map[string]string{"city": "rig", "rig": "city"}[scope]
	return slices.ContainsFunc(p.agents, func(a *agent) bool {
		return a.scope() == scope || a.scope() != other && !(scope == "rig" && p.twoLevels(c))
	})
}

func (c cityWriter) section(t *table, name string, root value) {
	at, below, nested := strings.Cut(name, ".")
	v := root.get(at)
	if nested {
		v = v.get(below)
	}
	if name == "automations" && v.Node == nil {
		v = root.get("orders")
	}
	if !v.isTable() {
		return
	}
	c.plainTable(t, name, v, "k8s", "overrides")
	if name == "session" {
		if p := v.TextOf("provider"); p != "" && !sessionProvider(p) {
			t.set("provider", "")
			c.note(v.get("provider").place(), "the session provider %q does not exist in gcity; "+
				"agents run in gcity's own terminals", p)
		}
	}
}

func sessionProvider(name string) bool {
	return slices.Contains([]string{"pty", "tmux", "subprocess", "fake", "fail", "k8s"}, name) ||
		strings.HasPrefix(name, "exec:") || strings.HasPrefix(name, "plugin:")
}

func (c cityWriter) orderOverrides(b *strings.Builder) {
	for _, root := range c.manifests(c.root) {
		for _, orders := range root.tables("orders", "automations") {
			for _, v := range orders.tables("overrides") {
				t := &table{}
				for _, kid := range v.kids() {
					key := kid.Key
					if key == "trigger" {
						key = "gate"
					}
					if key == "pool" {
						pool, _ := c.renamed(c.root, kid.Text)
						t.text(key, pool)
					} else if c.supports("automations.overrides", key) {
						t.set(key, render(kid.Node))
					} else {
						c.unknownKey(kid, "an override", "overrides", "")
					}
				}
				t.write(b, "[[automations.overrides]]")
			}
		}
	}
}

func (c cityWriter) rootAgents(b *strings.Builder) {
	e := emitter{conversion: c.conversion, base: c.dir, pack: c.root}
	for _, a := range c.root.agents {
		if a.scope() == "rig" && a.keys["dir"].Node == nil {
			c.broken(a.place,
				`%s has scope "rig" and no dir, so it does not belong to any rig; set `+
					`dir = "RIG" and convert again`, a.name)
			continue
		}
		e.agent(a).write(b, "agents")
		c.Report.Agents = append(c.Report.Agents, a.name)
	}
}

// prefixes returns valid prefixes for the rigs that have one.
func (c cityWriter) prefixes() map[*rig]string {
	city := config.City{Workspace: config.Workspace{Name: c.cityName()}}
	out, taken := map[*rig]string{}, []string{city.Prefix()}
	for _, r := range c.rigs {
		was := r.get("prefix")
		for _, kid := range c.siteOf(r.name) {
			if kid.Key == "prefix" {
				was = kid
			}
		}
		prefix := was.text()
		if len(prefix) > keys.MaxPrefix {
			prefix = strings.TrimRight(prefix[:keys.MaxPrefix], "-_.")
		}
		for n := 2; slices.Contains(taken, strings.ToLower(prefix)); n++ {
			prefix = fmt.Sprintf("%.*s%d", keys.MaxPrefix-2, was.text(), n)
		}
		if was.text() == "" {
			continue
		}
		if out[r] = prefix; prefix != was.text() {
			c.note(was.place(), "the prefix %q of the rig %s is now %q, because prefixes have up "+
				"to %d characters and differ from each other and from the city's prefix %q",
				was.text(), r.name, prefix, keys.MaxPrefix, taken[0])
		}
		taken = append(taken, strings.ToLower(prefix))
	}
	return out
}

func (c cityWriter) writeRigs(b *strings.Builder) {
	prefixes := c.prefixes()
	for _, r := range c.rigs {
		t := &table{}
		t.text("name", r.name)
		t.text("path", c.rigPath(r))
		for _, kid := range append(r.kids(), c.siteOf(r.name)...) {
			switch kid.Key {
			case "name", "path", "imports", "includes", "topologies", "topology", "overrides",
				"patches":
			case "formulas_dir":
				t.text(kid.Key, c.formulasDir(r, kid))
			case "prefix":
				t.text(kid.Key, prefixes[r])
			case "suspended", suspendedOnStart:
				if t.values["suspended"] != "true" {
					t.set("suspended", render(kid.Node))
				}
			case "default_sling_target":
				if target := c.slingTarget(r, kid.Text); target != "" {
					t.text(kid.Key, target)
				} else {
					c.broken(kid.place(), "unknown agent %q, to which the rig %s assigns work",
						kid.Text, r.name)
				}
			default:
				if c.supports("rigs", kid.Key) {
					t.set(kid.Key, render(kid.Node))
				} else {
					c.unknownKey(kid, "the rig "+r.name, "rigs", "")
				}
			}
		}
		t.texts("topologies", c.topologyNames(r.imports, "rig"))
		t.write(b, "[[rigs]]")
		c.rigPatches(b, r)
	}
}

func (c cityWriter) formulasDir(r *rig, v value) string {
	path := c.inCity(v.Text)
	if rel, err := filepath.Rel(c.dir, path); err == nil && within(c.dir, path) &&
		(exists(filepath.Join(c.stage, rel)) || !exists(path)) { // a rig in the city is not copied
		return rel
	}
	c.broken(v.place(), "the formulas of the rig %s stay in %s, so they were not converted",
		r.name, path)
	return path
}

func (c cityWriter) siteOf(name string) []value {
	if c.site == nil {
		return nil
	}
	for _, v := range c.site.root.tables("rig", "rigs") {
		if v.TextOf("name") == name {
			return slices.DeleteFunc(v.kids(), func(k value) bool { return k.Key == "name" })
		}
	}
	return nil
}

func (c cityWriter) rigPath(r *rig) string {
	path := r.TextOf("path")
	for _, kid := range c.siteOf(r.name) {
		if kid.Key == "path" && path == "" {
			path = kid.Text
		}
	}
	if path == "" {
		path = filepath.Join("rigs", r.name)
		c.broken(r.place(), "the rig %s has no path; its agents do not start until you "+
			"set path in city.toml to its folder", r.name)
		return path
	}
	return c.inCity(path)
}

func (c cityWriter) rigPatches(b *strings.Builder, r *rig) {
	for _, v := range r.tables("overrides", "patches") {
		name := cmp.Or(v.TextOf("name"), v.TextOf("agent"))
		if !c.inTopologies(r, name) {
			c.broken(v.place(), "no topology of the rig %s has an agent %q; the patch was "+
				"omitted", r.name, name)
			continue
		}
		c.writePatch(b, "rigs.overrides", v, name, r.name)
	}
}

// inTopologies reports whether a rig's topologies have an agent with this name for rigs.
func (c cityWriter) inTopologies(r *rig, name string) bool {
	a := c.lookup(&pack{imports: r.imports}, name[strings.LastIndexByte(name, '/')+1:])
	return a != nil && a.scope() != "city"
}

func (c cityWriter) cityPatches(b *strings.Builder) {
	for _, root := range c.manifests(c.root) {
		patches := root.get("patches")
		for _, v := range patches.tables("agent", "agents") {
			if dir := v.TextOf("dir"); dir != "" {
				c.writePatch(b, "patches.agents", v, v.TextOf("name"), dir)
			}
		}
		for _, key := range []string{"rigs", "rig"} {
			if v := patches.get(key); v.Node != nil {
				c.broken(v.place(), "[[patches.%s]] was omitted; make its changes in the tables "+
					"that it patches", key)
			}
		}
	}
}

func (c cityWriter) writePatch(b *strings.Builder, header string, v value, name, inRig string) {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	target := c.lookupIn(inRig, name)
	if target == nil {
		c.broken(v.place(), "unknown agent %q; the patch was omitted", name)
		return
	}
	a := &agent{name: target.name, was: target.was, pack: c.root, dir: c.dir, place: v.place(),
		table: true, keys: keysOf(v)}
	a.keys["dir"] = value{&toml.Node{Shape: toml.ShapeString, Text: inRig}, v.src}
	if work, ok := target.keys["work_dir"]; ok && a.keys["work_dir"].Node == nil {
		a.keys["work_dir"] = work
	}
	e, out := emitter{conversion: c.conversion, base: c.dir, pack: c.root}, &emitted{}
	if header == "patches.agents" {
		out.main.text("dir", inRig)
	}
	out.main.text("name", a.name)
	e.keys(a, out)
	e.options(a, target, out)
	for _, key := range []string{"prompt_template", "prompt"} {
		if p := a.keys[key]; p.text() != "" {
			if path, ok := e.find(a, p); ok {
				out.main.text("prompt_template", path)
			}
		}
	}
	for _, as := range []string{"min", "max"} {
		if n, at := e.bound(a, as+"_active_sessions", as); at.Node != nil && n >= 0 {
			out.pool.number(as, n)
		}
	}
	out.pool.text("check", e.query(a.poolKey("scale_check", "check"), a))
	out.write(b, header)
}

func (c cityWriter) unknownTables() {
	for _, p := range c.allPacks() {
		for _, root := range c.manifests(p) {
			for _, kid := range root.kids() {
				switch kid.Key {
				case "workspace", "providers", "imports", "defaults", "agent", "agents",
					"named_session", "named_sessions",
					"rigs", "patches", "beads", "session", "events", "dolt", "formulas", "daemon",
					"orders", "automations",
					"api", "agent_defaults", "packs", "include", "pack":
				case "global":
					for _, key := range kid.kids() {
						if key.Key != "session_live" {
							c.unknownKey(key, "[global]", "[global]", "")
						}
					}
				case "mail":
					c.note(kid.place(), "[mail] has no equivalent: mail is stored with the work")
				default:
					c.note(kid.place(), "the table %s has no equivalent%s", kid.Key,
						instead[kid.Key])
				}
			}
			c.packTable(p, root.get("pack"))
		}
	}
}

func (c cityWriter) packTable(p *pack, v value) {
	if v.Node == nil {
		return
	}
	for _, kid := range v.kids() {
		switch kid.Key {
		case "name", "schema", "version", "requires_gc", "includes", "description":
		default:
			c.unknownKey(kid, "[pack]", "[pack]", "")
		}
	}
	for _, folder := range []string{"commands", "doctor", "skills", "mcp", "lifecycle"} {
		if exists(filepath.Join(p.dir, folder)) {
			c.note(c.displayPath(filepath.Join(p.dir, folder)), "gcity does not read this "+
				"folder; its files were copied")
		}
	}
}
