package migrate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gcity/config"
)

// unlimited is the maximum size of a converted pool if the original set no limit.
const unlimited = 5

var copied = []string{"description", "suspended", "args", "prompt_mode", "prompt_flag", "nudge",
	"ready_delay_ms", "ready_prompt_prefix", "process_names", "emits_permission_warning",
	"hooks_installed", "default_sling_formula"}

type emitted struct {
	main, env, pool table
}

func (e *emitted) write(b *strings.Builder, header string) {
	e.main.write(b, "[["+header+"]]")
	e.env.write(b, "["+header+".env]")
	e.pool.write(b, "["+header+".pool]")
}

type emitter struct {
	*conversion
	base string // folder for relative paths, in the original city
	rel  string // the corresponding folder in the converted city
	pack *pack
}

func (e emitter) agent(a *agent) *emitted {
	out := &emitted{}
	out.main.text("name", a.name)
	e.workspaceEnv(a, out)
	e.keys(a, out)
	e.options(a, a, out)
	e.folder(a, out)
	e.prompt(a, out)
	e.overlay(a, out)
	e.size(a, out)
	return out
}

func (e emitter) keys(a *agent, out *emitted) {
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		v := a.keys[key]
		switch key {
		case "name", "scope", "dir", "work_dir", "fallback", "prompt_template", "overlay_dir",
			"append_fragments",
			"inject_fragments", "min_active_sessions", "max_active_sessions", "scale_check",
			"drain_timeout", "pool", "agent", options:
		case "env":
			for _, kid := range v.Kids {
				out.env.set(kid.Key, render(kid))
			}
		case "provider":
			if e.known(v.text()) {
				out.main.text(key, v.text())
			} else {
				e.broken(v.place(), "unknown provider %q for %s, so the agent is suspended; add a "+
					"[providers.%s] table, set provider, and remove suspended", v.text(), a.name,
					v.text())
			}
		case suspendedOnStart:
			if v.Text == "true" {
				out.main.set("suspended", "true")
			}
		case "idle_timeout":
			out.main.set(key, render(v.Node))
		case "start_command":
			out.main.text(key, e.shellLine(v, a, v.text()))
		case "work_query", "sling_query":
			out.main.text(key, e.query(v, a))
		case "pre_start", "session_setup":
			e.lines(key, v, a, out)
		case "session_live":
			e.lines("session_setup", v, a, out)
			e.note(v.place(), "session_live runs only once, after the session has started")
		case "session_setup_script":
			e.path(key, v, a, out)
		case "depends_on":
			out.main.texts(key, e.dependencies(v, a))
		case installHooks:
			out.main.texts(key, e.hooks(v, a.name))
		case "lifecycle":
			if v.text() == "one_shot" {
				out.main.text("restart", "on-failure")
			}
		default:
			if slices.Contains(copied, key) {
				out.main.set(key, render(v.Node))
			} else {
				named := *v.Node
				named.Key = key // without the suffix of a patch
				e.unknownKey(value{&named, v.src}, "agent "+a.name, "agents", instead[key])
			}
		}
	}
	if p := a.keys["provider"].text(); p != "" && !e.known(p) {
		out.main.set("suspended", "true") // another program could have wider permissions
	}
	e.fragments(a, out)
}

// workspaceEnv gives an agent the environment of all agents, which gcity does not have. The provider's variables stay.
func (e emitter) workspaceEnv(a *agent, out *emitted) {
	own := programs{e.conversion}.launchNamed(e.providerOf(a)).env
	for _, env := range e.settings("workspace", "env") {
		for _, kid := range env.Kids {
			if own[kid.Key] == "" {
				out.env.set(kid.Key, render(kid))
			}
		}
	}
}

var instead = map[string]string{
	"upstream":  "; put the variables for the model's address and key in env",
	"upstreams": "; put the variables for the model's address and key in env of the providers",
	"startup_timeout": "; gcity waits for ready_prompt_prefix of a provider for up to " +
		"ready_delay_ms",
	"max_session_age":  "; the closest key is idle_timeout",
	"sleep_after_idle": "; idle_timeout restarts an idle agent",
	"session":          "; agents run in terminals; see session in `gcity help config`",
	"on_death": "; the closest is an automation with gate = \"event\" and " +
		`on = "agent.crashed"`,
	"on_boot": "; the closest is an automation with gate = \"event\" and " +
		`on = "controller.started"`,
	"resume_command": "; each start begins a new conversation",
	"skills":         "; put the skill files in the agent's overlay folder",
	"mcp":            "; put the server configuration in the agent's overlay folder",
}

func (e emitter) fragments(a *agent, out *emitted) {
	var names []string
	for _, key := range []string{"inject_fragments", "append_fragments"} {
		for _, name := range a.keys[key].texts() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if a.plain() {
		return // Gas City appends fragments only to templates
	}
	out.main.texts("inject_fragments", names)
}

func (a *agent) plain() bool { return filepath.Base(a.prompt) == "prompt.md" }

func (e emitter) dependencies(v value, a *agent) (names []string) {
	for _, name := range v.texts() {
		now, ok := e.renamed(e.pack, name)
		if !ok {
			e.broken(v.place(), "unknown agent %q, on which %s depends; the dependency was omitted",
				name, a.name)
			continue
		}
		names = append(names, now)
	}
	return names
}

const installHooks = "install_agent_hooks"

// hooks returns the kinds of hooks in a list that gcity can install.
func (c *conversion) hooks(v value, owner string) (names []string) {
	for _, name := range v.texts() {
		if c.schema.Child("agents", installHooks).Check([]string{name}) != "" {
			c.note(v.place(), "gcity cannot install hooks for %s; the item was omitted for %s",
				name, owner)
			continue
		}
		names = append(names, name)
	}
	return names
}

func (e emitter) lines(key string, v value, a *agent, out *emitted) {
	var list []string
	for _, line := range v.texts() {
		if v.Key == "pre_start" && usesWorkDir(line) && e.losesWorkDir(a) {
			e.broken(v.place(), "pre_start for %s was omitted: it prepares {{.WorkDir}}, which is "+
				"now a folder that the agent shares with you; add it again if that is safe", a.name)
			continue
		}
		if line = e.template(v, a, line); line != "" {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		return
	}
	if was, ok := out.main.values[key]; ok {
		out.main.set(key, strings.TrimSuffix(was, "]")+", "+strings.TrimPrefix(quoteAll(list), "["))
		return
	}
	out.main.texts(key, list)
}

func (e emitter) find(a *agent, v value) (string, bool) {
	written := v.text()
	if strings.HasPrefix(written, "//") || strings.Contains(written, "{{") {
		return written, true
	}
	bases := []string{a.dir, a.pack.dir, e.base, e.dir}
	if v.src != nil && v.src.path != "" {
		bases = append([]string{filepath.Dir(v.src.path)}, bases...)
	}
	if filepath.IsAbs(written) {
		bases = []string{""}
	}
	for _, base := range bases {
		if path := filepath.Join(base, written); exists(path) {
			return e.moved(path), true
		}
	}
	return "", false
}

func (e emitter) moved(path string) string {
	for _, p := range slices.Backward(e.allPacks()) {
		if p.rel == "" && p != e.root || !within(p.dir, path) {
			continue
		}
		in, _ := filepath.Rel(p.dir, path)
		if rest, hidden := strings.CutPrefix(in, ".gc/"); hidden && p == e.root {
			in = filepath.Join(hiddenFiles, rest)
			e.hidden[in] = path
		}
		if p.rel == e.rel {
			return in
		}
		return "//" + filepath.Join(p.rel, in)
	}
	return path
}

func (e emitter) path(key string, v value, a *agent, out *emitted) {
	path, ok := e.find(a, v)
	if !ok {
		e.broken(v.place(), "%s for %s was omitted, because %s does not exist", key, a.name,
			v.text())
		return
	}
	if strings.Contains(path, "{{") {
		path = e.template(v, a, path)
	}
	out.main.text(key, path)
}

func (e emitter) folder(a *agent, out *emitted) {
	dir, work := a.keys["dir"], a.keys["work_dir"]
	switch {
	case dir.Node != nil && a.pack == e.root:
		out.main.text("dir", dir.text())
	case dir.Node != nil:
		e.note(dir.place(), "dir for %s has no equivalent in a topology", a.name)
	}
	switch own := e.workDir(a); {
	case own != "":
		out.main.text("dir", own)
	case work.Node == nil:
	case e.inRig(a):
		e.note(work.place(), "%s works in its rig's folder, which the members of a pool share: "+
			"work_dir has no equivalent for a rig's agents", a.name)
	default:
		e.note(work.place(), "work_dir for %s has no equivalent; the agent works in the city's "+
			"folder", a.name)
	}
}

func (e emitter) inRig(a *agent) bool {
	return e.isRig(a.keys["dir"].text()) || a.pack != e.root && a.scope() == "rig"
}

// workDir returns an agent's work_dir as a value for dir; "" = the agent has none, or it has no equivalent.
func (e emitter) workDir(a *agent) string {
	work := a.keys["work_dir"]
	if work.Node == nil || e.inRig(a) || strings.Contains(work.text(), "{{.Rig") {
		return ""
	}
	if text := e.template(work, a, work.text()); !strings.Contains(text, "$") {
		return text
	}
	return ""
}

// losesWorkDir reports whether an agent has a folder of its own only in the original city.
func (e emitter) losesWorkDir(a *agent) bool {
	return a.keys["work_dir"].Node != nil && e.workDir(a) == ""
}

func (e emitter) prompt(a *agent, out *emitted) {
	if v := a.keys["prompt_template"]; v.text() != "" {
		if path, ok := e.find(a, v); ok {
			out.main.text("prompt_template", path)
			return
		}
		e.broken(v.place(), "the prompt %s for %s does not exist", v.text(), a.name)
	}
	if a.prompt != "" {
		out.main.text("prompt_template", e.moved(a.prompt))
	}
}

func (e emitter) size(a *agent, out *emitted) {
	low, lowAt := e.bound(a, "min_active_sessions", "min")
	high, highAt := e.bound(a, "max_active_sessions", "max")
	check := a.poolKey("scale_check", "check")
	sized := lowAt.Node != nil || highAt.Node != nil || check.Node != nil
	if a.table && !sized && !e.sessions && !a.onDemand {
		return // if the city has no named sessions, the agent in an [[agent]] table always runs
	}
	if a.always && (!sized || highAt.Node != nil && high == 1) ||
		low == 1 && high == 1 && check.Node == nil {
		return
	}
	if highAt.Node == nil || high < 0 {
		switch limit := e.limit(); {
		case a.onDemand && !sized:
			high = 1
			e.note(a.place, "%s starts for open work, but not for mail or a nudge; `gcity pool "+
				"scale %s 1` starts it", a.name, a.name)
		case limit > 0:
			high = limit
		default:
			high = max(unlimited, low)
			e.note(a.place, "%s has no limit on sessions, so its pool has max = %d", a.name, high)
		}
	}
	if a.always && low < 1 {
		low = 1
	}
	if low > high {
		e.note(lowAt.place(), "min_active_sessions for %s was greater than its maximum; it is "+
			"now %d", a.name, high)
		low = high
	}
	out.pool.number("min", low)
	out.pool.number("max", high)
	if line := e.query(check, a); line != "" {
		out.pool.text("check", line)
		if check.Key == "scale_check" {
			e.note(check.place(), "the check for %s must print how many members the pool should "+
				"have in total, not how many more", a.name)
		}
	}
	if drain := a.poolKey("drain_timeout", "drain_timeout"); drain.Node != nil {
		out.pool.set("drain_timeout", render(drain.Node))
	}
}

// poolKey returns the value of a key for an agent's pool. In the older format, it is in the agent's pool table.
func (a *agent) poolKey(key, older string) value {
	if v := a.keys[key]; v.Node != nil {
		return v
	}
	return a.keys["pool"].get(older)
}

// bound returns the minimum or maximum number of an agent's sessions.
func (e emitter) bound(a *agent, key, older string) (int, value) {
	v := a.poolKey(key, older)
	if v.Node == nil {
		return 0, v
	}
	n, err := strconv.Atoi(v.Text)
	if err != nil {
		e.note(v.place(), "%s for %s is not a whole number and was omitted", key, a.name)
		return 0, value{}
	}
	return n, v
}

func (e emitter) limit() int {
	for _, v := range e.settings("workspace", "max_active_sessions") {
		if limit, err := strconv.Atoi(v.Text); err == nil && limit > 0 {
			return limit
		}
	}
	return 0
}

func (e emitter) overlay(a *agent, out *emitted) {
	var layers []string
	provider := e.providerOf(a)
	add := func(dir string) {
		for _, layer := range []string{dir, filepath.Join(dir, "per-provider", provider)} {
			if info, err := os.Stat(layer); err == nil && info.IsDir() &&
				filepath.Base(layer) != "per-provider" {
				layers = append(layers, layer)
			}
		}
	}
	add(filepath.Join(e.dir, "overlay"))
	add(filepath.Join(e.dir, "overlays"))
	if a.pack != e.root {
		add(filepath.Join(a.pack.dir, "overlay"))
		add(filepath.Join(a.pack.dir, "overlays"))
	}
	if v := a.keys["overlay_dir"]; v.text() != "" {
		if path, ok := e.find(a, v); ok {
			if !e.table(a) {
				add(e.original(path))
			} else {
				out.main.text("overlay_dir", path)
				return
			}
		} else {
			e.broken(v.place(), "the overlay %s for %s does not exist; it was omitted", v.text(),
				a.name)
		}
	}
	if a.folder != "" && (!a.table || a.keys["overlay_dir"].text() == "") {
		add(filepath.Join(a.folder, "overlay"))
	}
	if len(layers) == 0 {
		return
	}
	rel := filepath.Join("agent-overlays", a.name)
	for _, layer := range layers {
		e.overlays = append(e.overlays, layerCopy{layer, filepath.Join(e.rel, rel)})
	}
	out.main.text("overlay_dir", rel)
}

func (e emitter) table(a *agent) bool {
	return a.table && !exists(filepath.Join(e.dir, "overlay")) &&
		!exists(filepath.Join(a.pack.dir, "overlay"))
}

// original is the inverse of moved.
func (e emitter) original(path string) string {
	if from := e.hidden[strings.TrimPrefix(path, "//")]; from != "" {
		return from
	}
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		for _, p := range slices.Backward(e.order) {
			if rel, err := filepath.Rel(p.rel, rest); err == nil && p.rel != "" &&
				within(p.rel, rest) {
				return filepath.Join(p.dir, rel)
			}
		}
		return filepath.Join(e.dir, rest)
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.base, path)
}

func (e emitter) providerOf(a *agent) string {
	if p := a.keys["provider"].text(); p != "" {
		return p
	}
	for _, v := range e.settings("workspace", "provider") {
		if p := v.text(); p != "" {
			return p
		}
	}
	return config.Presets()[0].Name
}
