package migrate

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gcity/config"
	"gcity/internal/toml"
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
	e.keys(a, out)
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
			"drain_timeout", "pool", "agent":
		case "env":
			for _, kid := range v.Kids {
				out.env.set(kid.Key, render(kid))
			}
		case "provider":
			if e.known(v.text()) {
				out.main.text(key, v.text())
			} else {
				e.note(v.place(), "unknown provider %q for %s; add a [providers.%s] table",
					v.text(), a.name, v.text())
			}
		case "idle_timeout":
			out.main.set(key, render(v.Node))
		case "start_command", "work_query", "sling_query":
			out.main.text(key, e.shellLine(v, a, v.text()))
		case "pre_start", "session_setup":
			e.lines(key, v, a, out)
		case "session_live":
			e.lines("session_setup", v, a, out)
			e.note(v.place(), "session_live runs only once, after the session has started")
		case "session_setup_script":
			e.path(key, v, a, out)
		case "depends_on", "install_agent_hooks":
			e.list(key, v, a, out)
		case "lifecycle":
			if v.text() == "one_shot" {
				out.main.text("restart", "on-failure")
			}
		default:
			if slices.Contains(copied, key) {
				out.main.set(key, render(v.Node))
			} else {
				e.note(v.place(), "the key %s in agent %s has no equivalent%s", key, a.name,
					instead[key])
			}
		}
	}
	e.fragments(a, out)
}

var instead = map[string]string{
	"option_defaults":  "; put the program's own options in args",
	"max_session_age":  "; the closest key is idle_timeout",
	"sleep_after_idle": "; idle_timeout restarts an idle agent",
	"session":          "; agents run in terminals; see session in `gcity help config`",
	"on_death": "; the closest is an automation with gate = \"event\" and " +
		`on = "agent.crashed"`,
	"on_boot": "; the closest is an automation with gate = \"event\" and " +
		`on = "controller.started"`,
	"resume_command": "; the presets resume conversations automatically",
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

func (e emitter) list(key string, v value, a *agent, out *emitted) {
	var names []string
	for _, name := range v.texts() {
		if key == "depends_on" {
			now, ok := e.renamed(e.pack, name)
			if !ok {
				e.note(v.place(), "unknown agent %q, on which %s depends; the dependency "+
					"was omitted", name, a.name)
				continue
			}
			name = now
		} else if !slices.Contains([]string{"claude", "gemini", "codex", "opencode", "copilot",
			"cursor"}, name) {
			e.note(v.place(), "unknown hooks %q for %s; the hooks were omitted", name, a.name)
			continue
		}
		names = append(names, name)
	}
	out.main.texts(key, names)
}

func (e emitter) lines(key string, v value, a *agent, out *emitted) {
	var list []string
	for _, line := range v.texts() {
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
		e.note(v.place(), "%s for %s was omitted, because %s does not exist", key, a.name, v.text())
		return
	}
	if strings.Contains(path, "{{") {
		path = e.template(v, a, path)
	}
	out.main.text(key, path)
}

func (e emitter) folder(a *agent, out *emitted) {
	dir, work := a.keys["dir"], a.keys["work_dir"]
	inRig := e.isRig(dir.text()) || a.pack != e.root && a.scope() == "rig"
	switch {
	case dir.Node != nil && a.pack == e.root:
		out.main.text("dir", dir.text())
	case dir.Node != nil:
		e.note(dir.place(), "dir for %s has no equivalent in a topology", a.name)
	}
	switch {
	case work.Node == nil:
	case inRig:
		e.note(work.place(), "%s works in its rig's folder: work_dir has no equivalent for a "+
			"rig's agents", a.name)
	case !strings.Contains(work.text(), "{{.Rig"):
		if text := e.template(work, a, work.text()); !strings.Contains(text, "$") {
			out.main.text("dir", text)
			return
		}
		fallthrough
	default:
		e.note(work.place(), "work_dir for %s has no equivalent; the agent works in the city's "+
			"folder", a.name)
	}
}

func (e emitter) prompt(a *agent, out *emitted) {
	if v := a.keys["prompt_template"]; v.text() != "" {
		if path, ok := e.find(a, v); ok {
			out.main.text("prompt_template", path)
			return
		}
		e.note(v.place(), "the prompt %s for %s does not exist", v.text(), a.name)
	}
	if a.prompt != "" {
		out.main.text("prompt_template", e.moved(a.prompt))
	}
}

func (e emitter) size(a *agent, out *emitted) {
	low, lowAt := e.bound(a, "min_active_sessions", "min")
	high, highAt := e.bound(a, "max_active_sessions", "max")
	check := a.keys["scale_check"]
	if old := a.keys["pool"]; check.Node == nil && old.Node != nil && old.Get("check") != nil {
		check = value{old.Get("check"), old.src}
	}
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
	if check.text() != "" {
		out.pool.text("check", e.shellLine(check, a, check.text()))
		if check.Key == "scale_check" {
			e.note(check.place(), "the check for %s must print how many members the pool should "+
				"have in total, not how many more", a.name)
		}
	}
	drain := a.keys["drain_timeout"].Node
	if drain == nil {
		drain = a.keys["pool"].get("drain_timeout")
	}
	if drain != nil {
		out.pool.set("drain_timeout", render(drain))
	}
}

func (v value) get(key string) *toml.Node {
	if v.Node == nil {
		return nil
	}
	return v.Get(key)
}

// bound returns the minimum or maximum number of an agent's sessions. In the older format, it is in the agent's pool
// table.
func (e emitter) bound(a *agent, key, older string) (int, value) {
	v := a.keys[key]
	if pool := a.keys["pool"]; v.Node == nil && pool.get(older) != nil {
		v = value{pool.get(older), pool.src}
	}
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
	for _, s := range e.files {
		if n := s.root.Get("workspace").Get("max_active_sessions"); n != nil {
			if limit, err := strconv.Atoi(n.Text); err == nil && limit > 0 {
				return limit
			}
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
			e.note(v.place(), "the overlay %s for %s does not exist; it was omitted", v.text(),
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
	for _, s := range e.files {
		if p := s.root.Get("workspace").TextOf("provider"); p != "" {
			return p
		}
	}
	return config.Presets()[0].Name
}
