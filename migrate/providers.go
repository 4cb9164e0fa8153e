package migrate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/config"
	"gcity/internal/toml"
)

// launch describes how the original city starts a program. It contains the settings of a provider and of its bases.
type launch struct {
	name    string
	builtIn string // the provider of Gas City itself that is the last base; "" = none
	keys    map[string]value
	env     map[string]string // rendered
	options map[string]value
	schema  map[string]value // by option
	more    []string         // arguments after those of the base
	replace bool             // the schema replaces the one of the built-in provider
}

// programs converts what the agents of the original city start.
type programs struct{ *conversion }

// namesIn returns the names of the providers that a pack sets, each once.
func (c programs) namesIn(p *pack) (names []string) {
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, root := range c.manifests(p) {
		if v := root.get("providers"); v.isTable() {
			for _, kid := range v.Kids {
				add(kid.Key)
			}
		}
	}
	for _, v := range c.patches(p) {
		add(v.TextOf("name"))
	}
	return names
}

// providers writes the settings of a pack's providers. Those that city.toml contains are omitted from the packs,
// because gcity would merge both.
func (c programs) providers(b *strings.Builder, p *pack) {
	names := append(c.namesIn(c.root), c.sharedNames()...)
	if p != c.root {
		names = slices.DeleteFunc(c.namesIn(p), func(name string) bool {
			return slices.Contains(names, name)
		})
	}
	for i, name := range names {
		if !slices.Contains(names[:i], name) {
			c.provider(b, p, name)
		}
	}
}

// sharedNames returns the names of the providers that city.toml must contain, because several packs or a rig's pack set
// them. In Gas City, the first pack's table applies to all agents. In gcity, a topology's table applies to its own
// agents, and to those without a table of their own. A rig's table does not apply to other agents if there is a preset.
func (c programs) sharedNames() (names []string) {
	seen := map[string]bool{}
	for _, p := range c.order {
		for _, name := range c.namesIn(p) {
			if seen[name] || !p.inCity && presetNamed(name) != nil {
				names = append(names, name)
			}
			seen[name] = true
		}
	}
	return names
}

// provider writes a pack's settings of a provider, or all that apply if the pack is the city.
func (c programs) provider(b *strings.Builder, p *pack, name string) {
	layers := c.tables(p, name)
	if p == c.root {
		layers = c.allTables(name)
	}
	if len(layers) == 0 {
		return
	}
	v, l := layers[0], c.launch(name, layers, 0)
	has := func(kid value, key string) bool {
		return slices.ContainsFunc(layers, func(v value) bool { return v.Get(key) == kid.Node })
	}
	t, env := &table{}, &table{}
	for _, key := range slices.Sorted(maps.Keys(l.keys)) {
		if kid := l.keys[key]; c.supports("providers.*", key) {
			t.set(key, render(kid.Node))
		} else if has(kid, key) { // not a key of the base
			c.unknownKey(kid, "the provider "+name, "providers", "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.env)) {
		env.set(name, l.env[name])
	}
	from := presetNamed(l.builtIn)
	if from != nil && l.keys["command"].text() == from.FirstWord() {
		t.text("command", from.Command) // the preset's command can contain options
	}
	if from != nil && from.Name != name {
		inherit(t, env, from)
	}
	if args, set := c.args(l, value{}, value{}); set {
		t.set("args", quoteAll(args))
	}
	if t.values["command"] == "" && presetNamed(name) == nil {
		c.broken(v.place(), "the provider %s has no command and is unknown to gcity; add one",
			name)
		t.text("command", name)
	}
	t.write(b, "[providers."+bare(name)+"]")
	env.write(b, "[providers."+bare(name)+".env]")
}

// inherit sets the keys that a provider takes from a preset with another name.
func inherit(t, env *table, from *config.Preset) {
	base, vars := &table{}, &table{}
	base.text("command", from.Command)
	base.texts("args", from.Args)
	if t.values["prompt_mode"] == "" && t.values["prompt_flag"] == "" {
		base.text("prompt_mode", from.PromptMode)
		base.text("prompt_flag", from.PromptFlag)
	}
	if from.ReadyDelay > 0 {
		base.number("ready_delay_ms", int(from.ReadyDelay/time.Millisecond))
	}
	base.text("ready_prompt_prefix", from.ReadyPromptPrefix)
	base.texts("process_names", from.ProcessNames)
	for _, name := range slices.Sorted(maps.Keys(from.Env)) {
		vars.text(name, from.Env[name])
	}
	t.fill(base)
	env.fill(vars)
}

func presetNamed(name string) *config.Preset {
	presets := config.Presets()
	i := slices.IndexFunc(presets, func(p config.Preset) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &presets[i]
}

// tables returns the tables of a provider in a pack, and then the pack's patches.
func (c programs) tables(p *pack, name string) []value {
	return append(c.declared(p, name), c.patched(p, name)...)
}

func (c programs) declared(p *pack, name string) (out []value) {
	for _, root := range c.manifests(p) {
		if v := root.get("providers").get(name); v.isTable() {
			out = append(out, v)
		}
	}
	return out
}

func (c programs) patched(p *pack, name string) []value {
	return slices.DeleteFunc(c.patches(p), func(v value) bool { return v.TextOf("name") != name })
}

func (c programs) patches(p *pack) (out []value) {
	for _, root := range c.manifests(p) {
		out = append(out, root.get("patches").tables("providers", "provider")...)
	}
	return out
}

// allTables returns the tables of a provider that apply in Gas City, the most important last: those of the city or else
// of the first pack that has any, and the city's patches. Gas City ignores the tables of other packs.
func (c programs) allTables(name string) (out []value) {
	out = c.declared(c.root, name)
	for _, p := range c.byPrecedence() {
		if len(out) == 0 {
			out = c.tables(p, name)
		}
	}
	return append(out, c.patched(c.root, name)...)
}

// byPrecedence returns the imported packs, each before the packs that it imports. Those of rigs follow, and then those
// that no rig uses yet.
func (c programs) byPrecedence() (out []*pack) {
	var walk func(list []imported)
	walk = func(list []imported) {
		for _, i := range list {
			if i.pack == nil || i.pack == c.root || slices.Contains(out, i.pack) {
				continue
			}
			if out = append(out, i.pack); !i.closed {
				walk(i.pack.imports)
			}
		}
	}
	walk(c.root.imports)
	for _, r := range c.rigs {
		walk(r.imports)
	}
	for _, p := range c.order {
		walk([]imported{{pack: p}})
	}
	return out
}

// launchNamed returns all settings of a provider.
func (c programs) launchNamed(name string) launch {
	return c.launch(name, c.allTables(name), 0)
}

// launch merges the settings of a provider. Later tables override earlier ones.
func (c programs) launch(name string, layers []value, depth int) launch {
	l := c.base(name, layers, depth)
	l.name = name
	for _, v := range layers {
		l.apply(v)
	}
	return l
}

func (l *launch) apply(v value) {
	for _, kid := range v.kids() {
		switch kid.Key {
		case "base", "name":
		case "env":
			for _, k := range kid.Kids {
				l.env[k.Key] = render(k)
			}
		case options:
			maps.Copy(l.options, keysOf(kid))
		case "options_schema":
			for _, k := range v.tables(kid.Key) {
				l.schema[k.TextOf("key")] = k
			}
		case "args":
			l.keys[kid.Key], l.more = kid, nil
		case "args_append":
			l.more = append(slices.Clone(l.more), kid.texts()...)
		case "options_schema_merge":
			l.replace = kid.Text == "replace"
		default:
			l.keys[kid.Key] = kid
		}
	}
}

// base returns the settings that a provider inherits.
func (c programs) base(name string, layers []value, depth int) launch {
	l := launch{keys: map[string]value{}, env: map[string]string{}, options: map[string]value{},
		schema: map[string]value{}}
	var written value
	for _, v := range layers {
		if base := v.get("base"); v.TextOf("base") != "" {
			written = base
		}
	}
	kind, base, _ := strings.Cut(written.text(), ":")
	base = cmp.Or(base, kind, name)
	parent := c.allTables(base)
	if kind != "builtin" && base != name && len(parent) > 0 && depth < 8 {
		return c.launch(base, parent, depth+1)
	}
	if l.builtIn = base; written.Node != nil && presetNamed(base) == nil {
		c.broken(written.place(), "the base %q of the provider %s is unknown to gcity; copy its "+
			"settings", written.text(), name)
	}
	return l
}

// args returns a program's arguments, with those for the options of the provider and of an agent. set is false if there
// are no options. own contains the agent's own arguments.
func (c programs) args(l launch, own, agent value) (args []string, set bool) {
	chosen := map[string]value{}
	for key, v := range l.schema {
		choice := v.get("default")
		if key == permission && l.permissive() && l.choice(key, unrestricted).Node != nil {
			choice.Node = &toml.Node{Shape: toml.ShapeString, Text: unrestricted, At: v.At}
		}
		if choice.Node != nil {
			chosen[key] = choice
		}
	}
	maps.Copy(chosen, l.options)
	maps.Copy(chosen, keysOf(agent))
	written := own
	if own.Node == nil {
		written = l.keys["args"]
	}
	if preset := presetNamed(l.builtIn); written.Node != nil {
		args = written.texts()
	} else if preset != nil {
		args = preset.Args
	}
	if own.Node == nil {
		args = slices.Concat(args, l.more)
	}
	_, restricts := chosen[permission]
	if !restricts && (l.schema[permission].Node != nil || l.replace && len(l.schema) > 0) {
		args, restricts = without(args, permissionFlags), true // as in the original
	}
	if mode := permissionModes[l.builtIn][unrestricted]; !restricts && written.Node != nil &&
		mode != "" && len(without(args, permissionFlags)) == len(args) {
		c.note(written.place(), "args without permissions: the program asks before it acts; "+
			"Gas City adds %s", mode)
	}
	for _, key := range slices.SortedFunc(maps.Keys(chosen), permissionFirst) {
		v := chosen[key]
		flags, known := l.flags(key, v.text())
		if key == permission {
			args = without(args, permissionFlags)
		}
		if !known {
			effect := ""
			if key == permission {
				effect = ", so its agents start without arguments for permissions"
			}
			c.broken(v.place(), "%s = %q for the provider %s is unknown to gcity%s; put the "+
				"program's own options in args", key, v.text(), l.name, effect)
			continue
		}
		if len(flags) == 2 && strings.HasPrefix(flags[0], "--") {
			args = without(args, map[string]int{flags[0]: 1})
		}
		args = append(slices.Clone(args), flags...)
	}
	return args, restricts || len(chosen) > 0 || len(l.more) > 0
}

// options is the key for a program's options, permission is one of them, and unrestricted is a value of permission.
const (
	options      = "option_defaults"
	permission   = "permission_mode"
	unrestricted = "unrestricted"
)

// permissionFirst compares options. The arguments for permission replace those before them.
func permissionFirst(a, b string) int {
	switch permission {
	case a:
		return -1
	case b:
		return 1
	}
	return cmp.Compare(a, b)
}

// permissive reports whether Gas City starts the program without restrictions if no option is set.
func (l launch) permissive() bool {
	_, ok := permissionModes[l.builtIn]
	return ok && !l.replace
}

// permissionFlags contains the programs' arguments for permissions, with the number of their values.
var permissionFlags = map[string]int{
	"--dangerously-skip-permissions": 0, "--permission-mode": 1,
	"--dangerously-bypass-approvals-and-sandbox": 0, "--full-auto": 0,
	"--ask-for-approval": 1, "--sandbox": 1, "--approval-mode": 1, "--yolo": 0,
	"--dangerously-allow-all": 0, "-f": 0,
}

// permissionModes contains the arguments for the permission modes of Gas City's own providers.
var permissionModes = map[string]map[string]string{
	"claude": {
		"auto-edit": "--permission-mode acceptEdits", "full-auto": "--permission-mode dontAsk",
		"plan": "--permission-mode plan", unrestricted: "--dangerously-skip-permissions",
	},
	"codex": {
		"suggest":    "--ask-for-approval on-request --sandbox read-only",
		"auto-edit":  "--ask-for-approval on-request --sandbox workspace-write",
		unrestricted: "--dangerously-bypass-approvals-and-sandbox",
	},
	"gemini": {
		"default": "--approval-mode default", "auto-edit": "--approval-mode auto_edit",
		"plan": "--approval-mode plan", unrestricted: "--approval-mode yolo",
	},
}

func without(args []string, flags map[string]int) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		flag, _, joined := strings.Cut(args[i], "=")
		values, known := flags[flag]
		switch {
		case !known:
			out = append(out, args[i])
		case !joined:
			i += values
		}
	}
	return out
}

// choice returns the choice with this name that the city declares for an option.
func (l launch) choice(key, name string) (found value) {
	choices := l.schema[key].tables("choices")
	i := slices.IndexFunc(choices, func(v value) bool { return v.TextOf("value") == name })
	if i >= 0 {
		found = choices[i]
	}
	return found
}

// flags returns the arguments for an option. known is false if the option or its value is unknown.
func (l launch) flags(key, choice string) (flags []string, known bool) {
	if v := l.choice(key, choice); v.Node != nil {
		return v.get("flag_args").texts(), true
	}
	modes := permissionModes[l.builtIn]
	switch {
	case key == permission && l.replace:
		return nil, false
	case key == permission:
		mode, ok := modes[choice]
		return strings.Fields(mode), ok
	case choice == "":
		return nil, true
	case key == "model" && modes != nil:
		if l.builtIn == "claude" && strings.Contains(choice, "-") {
			choice = "claude-" + strings.TrimPrefix(choice, "claude-")
		}
		return []string{"--model", choice}, true
	case key == "effort" && l.builtIn == "claude":
		return []string{"--effort", choice}, true
	case key == "effort" && l.builtIn == "codex":
		return []string{"-c", "model_reasoning_effort=" + choice}, true
	case key == "sandbox" && l.builtIn == "codex":
		return []string{"--sandbox", choice}, true
	}
	return nil, false
}

// options adds the arguments for options to an agent's own, which replace those of its provider. target is the agent
// that a patch changes, or the agent itself.
func (e emitter) options(a, target *agent, out *emitted) {
	own := merged(target.keys[options], a.keys[options])
	args := a.keys["args"]
	changes := args.Node != nil || a.keys[options].Node != nil
	if args.Node == nil {
		args = target.keys["args"]
	}
	other := a != target && a.keys["provider"].Node != nil &&
		(args.Node != nil || own.Node != nil)
	if !changes && !other || a.keys["start_command"].Node != nil {
		return
	}
	provider := a.keys["provider"].text()
	if provider == "" || !e.known(provider) {
		provider = e.providerOf(target)
	}
	start := programs{e.conversion}
	if all, set := start.args(start.launchNamed(provider), args, own); set {
		out.main.set("args", quoteAll(all))
	}
}

// merged returns a table with the keys of both values. The keys of over replace those of v.
func merged(v, over value) value {
	switch {
	case v.Node == nil:
		return over
	case over.Node == nil || v.Node == over.Node:
		return v
	}
	sum := &toml.Node{Key: v.Key, Shape: v.Shape, At: v.At, Kids: slices.Clone(v.Kids)}
	for _, k := range over.Kids {
		sum.Kids = slices.DeleteFunc(sum.Kids, func(o *toml.Node) bool {
			return o.Key != "" && o.Key == k.Key
		})
		sum.Kids = append(sum.Kids, k)
	}
	return value{sum, v.src}
}
