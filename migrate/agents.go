package migrate

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gcity/internal/toml"
)

type agent struct {
	name  string // name in the converted city
	was   string // name in the original city
	pack  *pack
	dir   string
	place string
	keys  map[string]value
	table bool // declared by an [[agent]] table

	folder string // agents/NAME; "" = the folder does not exist

	always, onDemand bool // set by a named session: the agent runs always, or on demand
	prompt           string
}

// readAgents reads a pack's agents. A table replaces the folder of the same name, as in Gas City.
func (c *conversion) readAgents(p *pack) error {
	entries, err := os.ReadDir(filepath.Join(p.dir, "agents"))
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("cannot read the agents in %s: %w", c.displayPath(p.dir), err)
	}
	declared := p.agentTables(nil)
	if p.dir == c.dir {
		declared = p.agentTables(c.files)
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
			continue
		}
		found := false
		for _, a := range declared {
			if a.was == name {
				a.useFolder(c, filepath.Join(p.dir, "agents", name))
				found = true
			}
		}
		if found {
			continue
		}
		if err := c.agentFolder(p, name); err != nil {
			return err
		}
	}
	for _, a := range declared {
		if err := c.addAgent(p, a); err != nil {
			return err
		}
	}
	return nil
}

// agentTables returns the agents that the tables in a pack's manifest and in other files declare.
func (p *pack) agentTables(others []*source) []*agent {
	var out []*agent
	for _, s := range append([]*source{p.manifest}, others...) {
		if s == nil {
			continue
		}
		for _, v := range s.root.tables("agent", "agents") {
			out = append(out, &agent{was: v.TextOf("name"), pack: p, dir: p.dir,
				place: v.place(), keys: keysOf(v), table: true})
		}
	}
	return out
}

// useFolder gives an agent that a table declares the prompt and the other files of its folder.
func (a *agent) useFolder(c *conversion, folder string) {
	if a.folder = folder; a.keys["prompt_template"].text() == "" {
		a.prompt = promptIn(folder)
	}
	if file := filepath.Join(folder, "agent.toml"); exists(file) {
		c.note(c.displayPath(file), "the file was ignored, because the table at %s declares the "+
			"agent", a.place)
	}
}

func promptIn(folder string) string {
	for _, file := range []string{"prompt.template.md", "prompt.md.tmpl", "prompt.md"} {
		if path := filepath.Join(folder, file); exists(path) {
			return path
		}
	}
	return ""
}

func (c *conversion) agentFolder(p *pack, name string) error {
	dir := filepath.Join(p.dir, "agents", name)
	a := &agent{was: name, pack: p, dir: dir, folder: dir, place: c.displayPath(dir),
		keys: map[string]value{}, prompt: promptIn(dir)}
	s, err := c.open(filepath.Join(dir, "agent.toml"))
	if err != nil {
		return err
	}
	if s != nil {
		a.keys, a.place = keysOf(s.root), s.name
	}
	if s == nil && a.prompt == "" {
		c.broken(c.displayPath(dir), "has neither an agent.toml nor a prompt, so it was "+
			"not converted")
		return nil
	}
	return c.addAgent(p, a)
}

func (c *conversion) addAgent(p *pack, a *agent) error {
	a.name = a.was
	if !validName().MatchString(a.was) {
		return fmt.Errorf(`%s: invalid agent name %q; use letters, digits, ".", "_" and "-"`,
			a.place, a.was)
	}
	same := func(b *agent) bool {
		return b.was == a.was && b.keys["dir"].text() == a.keys["dir"].text()
	}
	if i := slices.IndexFunc(p.agents, same); i >= 0 {
		return fmt.Errorf("%s: the name %q is already used by the agent at %s; rename one of "+
			"them", a.place, a.was, p.agents[i].place)
	}
	p.agents = append(p.agents, a)
	return nil
}

var validName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
})

func keysOf(v value) map[string]value {
	out := map[string]value{}
	for _, kid := range v.kids() {
		out[kid.Key] = kid
	}
	return out
}

func (c *conversion) applyShared() error {
	c.place(c.order)
	for _, p := range c.allPacks() {
		for _, root := range c.manifests(p) {
			c.defaults(p, root)
		}
	}
	for _, s := range c.files {
		for _, p := range c.order {
			c.defaults(p, s.root)
		}
	}
	c.dropFallbacks()
	if err := c.renameConflicting(); err != nil {
		return err
	}
	for _, p := range append(slices.Clone(c.order), c.root) {
		for _, root := range c.manifests(p) {
			c.patchAgents(p, root)
			c.namedSessions(p, root)
			c.globals(p, root)
		}
	}
	for _, p := range append(slices.Clone(c.order), c.root) {
		for _, root := range c.manifests(p) {
			p.patchSessions(c, root)
		}
	}
	return nil
}

func (c *conversion) allPacks() []*pack { return append([]*pack{c.root}, c.order...) }

func (c *conversion) globals(p *pack, root value) {
	v := root.get("global").get("session_live")
	if v.Node == nil || v.Shape != toml.ShapeArray {
		return
	}
	for _, a := range p.agents {
		live := *v.Node
		if own, ok := a.keys["session_live"]; ok {
			live.Kids = append(slices.Clone(v.Kids), own.Kids...)
		}
		a.keys["session_live"] = value{&live, v.src}
	}
}

// manifests returns the root tables of a pack's files.
func (c *conversion) manifests(p *pack) (out []value) {
	if p.manifest != nil {
		out = append(out, p.manifest.root)
	}
	if p == c.root {
		for _, s := range c.files {
			out = append(out, s.root)
		}
	}
	return out
}

func (c *conversion) defaults(p *pack, root value) {
	for _, table := range []string{"agent_defaults", "agents"} {
		v := root.get(table)
		if !v.isTable() {
			continue
		}
		for _, kid := range v.kids() {
			switch kid.Key {
			case "provider", "default_sling_formula", "append_fragments", "scope",
				"install_agent_hooks", options:
			default:
				at := "[" + table + "]"
				c.unknownKey(kid, at, at, instead[kid.Key])
				continue
			}
			for _, a := range p.agents {
				own, set := a.keys[kid.Key]
				if set && kid.Key == options {
					a.keys[options] = merged(kid, own)
				} else if !set && (kid.Key != "scope" || p != c.root) {
					a.keys[kid.Key] = kid
				}
			}
		}
	}
}

func (c *conversion) dropFallbacks() {
	fallback := func(a *agent) bool {
		v := a.keys["fallback"]
		return v.Node != nil && v.Text == "true"
	}
	for _, p := range c.order {
		p.agents = slices.DeleteFunc(p.agents, func(a *agent) bool {
			if !fallback(a) {
				return false
			}
			for _, q := range c.allPacks() {
				for _, b := range q.agents {
					if b != a && b.was == a.was && !fallback(b) {
						c.note(a.place, "the fallback agent %s was omitted: %s declares the agent",
							a.was, b.place)
						return true
					}
				}
			}
			return false
		})
	}
}

// renameConflicting renames agents that have the same name as another agent. Gas City distinguishes such agents by
// import.
func (c *conversion) renameConflicting() error {
	groups := [][]*pack{append([]*pack{c.root}, c.directFirst(c.root.imports)...)}
	for _, r := range c.rigs {
		groups = append(groups, c.directFirst(r.imports))
	}
	for _, group := range groups {
		taken := map[string]*agent{}
		for _, p := range group {
			for _, a := range p.agents {
				first := taken[a.name]
				if p == c.root && a.keys["dir"].text() != "" {
					continue
				}
				if first != nil && first != a {
					name := p.binding + "." + a.was
					c.note(a.place, "the agent %s was renamed to %s: %s also declares an agent "+
						"with the old name", a.was, name, first.place)
					a.name = name
				}
				if other := taken[a.name]; other != nil && other != a {
					return fmt.Errorf("%s: the name %q is already used by the agent at %s; "+
						"rename one of them", a.place, a.name, other.place)
				}
				taken[a.name] = a
			}
		}
	}
	return nil
}

func (c *conversion) directFirst(imports []imported) []*pack {
	var direct, out []*pack
	for _, i := range imports {
		direct = append(direct, i.pack)
	}
	for _, p := range append(direct, c.flat(imports)...) {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// lookupIn returns the agent with this name in a rig, or else in the city. rigName may be "".
func (c *conversion) lookupIn(rigName, name string) *agent {
	for _, a := range c.root.agents {
		if rigName != "" && a.was == name && a.keys["dir"].text() == rigName {
			return a
		}
	}
	for _, r := range c.rigs {
		if r.name == rigName {
			if a := c.lookup(&pack{imports: r.imports}, name); a != nil {
				return a
			}
		}
	}
	return c.lookup(c.root, name)
}

// lookup returns the agent that a pack calls NAME or BINDING.NAME.
func (c *conversion) lookup(p *pack, name string) *agent {
	binding, bare, qualified := strings.Cut(name, ".")
	if qualified {
		for _, i := range p.imports {
			if i.binding == binding {
				if a := c.lookup(i.pack, bare); a != nil {
					return a
				}
			}
		}
	}
	for _, q := range append([]*pack{p}, c.directFirst(p.imports)...) {
		if i := slices.IndexFunc(q.agents, func(a *agent) bool { return a.was == name }); i >= 0 {
			return q.agents[i]
		}
	}
	if p != c.root {
		return nil
	}
	for _, r := range c.rigs {
		for _, i := range r.imports {
			rest, ok := name, true
			if qualified {
				rest, ok = bare, i.binding == binding
			}
			if a := c.lookup(i.pack, rest); ok && a != nil {
				return a
			}
		}
	}
	return nil
}

// renamed converts an agent's name, [RIG/][BINDING.]NAME, to its name in the converted city.
func (c *conversion) renamed(p *pack, name string) (string, bool) {
	prefix, bare := "", name
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		prefix, bare = name[:i], name[i+1:]
	}
	a := c.lookup(p, bare)
	if c.isRig(prefix) {
		a = c.lookupIn(prefix, bare)
	}
	switch {
	case a == nil:
		return name, false
	case c.isRig(prefix):
		return prefix + "/" + a.name, true
	default:
		return a.name, true
	}
}

func (c *conversion) isRig(name string) bool {
	return slices.ContainsFunc(c.rigs, func(r *rig) bool { return r.name == name })
}

// patchAgents applies a pack's patches to its agents. It skips the city's patches for a single rig, because cityPatches
// converts them.
func (c *conversion) patchAgents(p *pack, root value) {
	for _, v := range root.get("patches").tables("agent", "agents") {
		name := v.TextOf("name")
		if v.TextOf("dir") != "" && p == c.root {
			continue
		}
		a := c.lookup(p, name)
		if a == nil {
			c.broken(v.place(), "unknown agent %q; the patch was omitted", name)
			continue
		}
		c.patch(a, v)
	}
}

func (c *conversion) patch(a *agent, v value) {
	a.keys = maps.Clone(a.keys)
	folder := filepath.Dir(v.src.path)
	for _, kid := range v.kids() {
		key, appends := strings.CutSuffix(kid.Key, "_append")
		was, known := a.keys[key]
		switch {
		case kid.Key == "name", kid.Key == "dir", kid.Key == "agent":
		case kid.Key == "prompt":
			a.prompt = ""
			a.keys["prompt_template"] = value{&toml.Node{Key: "prompt_template", Shape: kid.Shape,
				At: kid.At, Text: filepath.Join(folder, "patches", kid.Text)}, v.src}
		case known && (appends || slices.Contains([]string{"env", "pool", options}, key)):
			a.keys[key] = merged(was, kid)
		case key == "prompt_template":
			a.prompt = ""
			path := *kid.Node
			if !filepath.IsAbs(kid.Text) && !strings.HasPrefix(kid.Text, "//") {
				path.Text = filepath.Join(folder, kid.Text)
			}
			a.keys[key] = value{&path, v.src}
		default:
			a.keys[key] = kid
		}
	}
}

func (c *conversion) namedSessions(p *pack, root value) {
	for _, v := range root.tables("named_session", "named_sessions") {
		c.sessions = true
		c.namedSession(p, v)
	}
}

func (c *conversion) namedSession(p *pack, v value) {
	name := v.TextOf("name")
	template := cmp.Or(v.TextOf("template"), name)
	a := c.lookup(p, template)
	if a == nil {
		c.broken(v.place(), "unknown agent %q; the named session was omitted", template)
		return
	}
	for _, kid := range v.kids() {
		switch kid.Key {
		case "template", "name", "mode", "scope", "dir":
		default:
			c.unknownKey(kid, "a named session", "named sessions", "")
		}
	}
	if name != "" && name != a.was && name != template {
		b := *a
		b.name, b.was, b.place, b.always, b.onDemand = name, name, v.place(), false, false
		b.keys = maps.Clone(a.keys)
		for _, key := range []string{"min_active_sessions", "max_active_sessions", "pool",
			"scale_check"} {
			delete(b.keys, key)
		}
		if slices.ContainsFunc(p.agents, func(o *agent) bool { return o.name == name }) {
			c.broken(v.place(), "another agent has the name %q; the named session was omitted",
				name)
			return
		}
		a.pack.agents = append(a.pack.agents, &b)
		a = &b
	}
	for _, key := range []string{"scope", "dir"} {
		if own := v.get(key); own.Node != nil && a.keys[key].Node == nil {
			a.keys[key] = own
		}
	}
	a.setMode(v.TextOf("mode"))
}

func (a *agent) setMode(mode string) {
	if mode == "always" {
		a.always = true
	} else {
		a.onDemand = true
	}
}

// patchSessions applies the pack's patches of named sessions.
func (p *pack) patchSessions(c *conversion, root value) {
	for _, v := range root.get("patches").tables("named_session", "named_sessions") {
		name := cmp.Or(v.TextOf("name"), v.TextOf("template"))
		a := c.lookup(p, name)
		if a == nil || !a.always && !a.onDemand {
			c.broken(v.place(), "unknown named session %q; the patch was omitted", name)
			continue
		}
		for _, kid := range v.kids() {
			switch kid.Key {
			case "name", "template", "scope", "dir":
			case "mode":
				a.always, a.onDemand = false, false
				a.setMode(kid.Text)
			default:
				c.unknownKey(kid, "a patch of a named session", "patches", "")
			}
		}
	}
}

// scope returns where an agent belongs: "city", "rig", or "" for both.
func (a *agent) scope() string { return a.keys["scope"].text() }

func (c *conversion) known(provider string) bool {
	if presetNamed(provider) != nil {
		return true
	}
	for _, p := range c.allPacks() {
		for _, root := range c.manifests(p) {
			if root.get("providers").get(provider).Node != nil {
				return true
			}
		}
	}
	return false
}
