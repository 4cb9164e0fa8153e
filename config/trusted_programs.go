package config

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"gcity/session"
	"gcity/trust"
)

// Programs returns all programs in the configuration except those of automations and FetchedFolders.
func (c *City) Programs() []trust.Program {
	r := programList{city: c}
	for _, p := range []struct{ what, key, provider string }{
		{"session provider", "session.provider", c.Session.Provider},
		{"event script", "events.provider", c.Events.Provider},
		{"work store", "beads.provider", c.Beads.Provider},
	} {
		r.provider(p.what, c.Origins[p.key], p.provider)
	}
	for i := range c.Agents {
		r.agent(&c.Agents[i])
	}
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		r.user = "watchdog " + w.Qualified()
		r.folders = []string{c.folderOf(w.Origin)} // a patched command can use GC_PACK_DIR
		r.addProgram(cmp.Or(w.Origins["escalate_command"], w.Origin), trust.Program{
			What: "escalate_command of watchdog " + w.Qualified(), Line: w.EscalateCommand,
			Same: []string{"escalation of watchdog " + w.Qualified()}}) // in earlier records
		r.folders = nil
		for _, said := range [][2]string{{"nudge", w.Nudge}, {"wake", w.Wake}} {
			if at, written := w.Origins[said[0]]; written {
				r.add(said[0]+" of watchdog "+w.Qualified(), at, said[1])
			}
		}
	}
	return r.all
}

type programList struct {
	city    *City
	user    string   // see trust.Program
	folders []string // of the current agent: its working folders in the city, and its ConfigDir
	all     []trust.Program
}

func (r *programList) add(what string, at Origin, line string, sums ...string) {
	r.addProgram(at, trust.Program{What: what, Line: line, Sums: sums})
}

func (r *programList) addProgram(at Origin, p trust.Program) {
	if strings.TrimSpace(p.Line) == "" || strings.HasPrefix(at.File, "environment ") {
		return // the user's own environment sets the variable and is trusted
	}
	p.At, p.From, p.User = at.String(), []string{r.fileOf(at)}, r.user
	folders := append([]string{r.city.Path, r.city.folderOf(at)}, r.folders...)
	r.all = append(r.all, p.WithScripts(folders...))
}

func (r *programList) file(path string) {
	if n := len(r.all); n > 0 {
		r.all[n-1].Files = append(r.all[n-1].Files, path)
	}
}

func (r *programList) declaredIn(origins map[string]Origin) {
	last := &r.all[len(r.all)-1]
	for _, at := range origins {
		if at.File != "" && !strings.HasPrefix(at.File, "preset ") {
			last.From = append(last.From, r.fileOf(at))
		}
	}
}

func (r *programList) fileOf(at Origin) string {
	if filepath.IsAbs(at.File) {
		return at.File
	}
	return filepath.Join(r.city.Path, cmp.Or(at.File, FileName))
}

func (r *programList) provider(what string, at Origin, name string) {
	_, program, external := session.External(name)
	switch {
	case external:
		r.add(what, at, program)
	case name == "k8s": // a kubeconfig and a pod file can contain names of programs
		before := len(r.all)
		r.add(what, at, "gcity-session-k8s")
		k := r.city.Session.Kubernetes
		for _, path := range []string{k.Kubeconfig, k.Pod} {
			if path != "" && len(r.all) > before {
				r.all[before] = r.all[before].WithFile(path)
			}
		}
	case name == "bd":
		r.add(what, at, name)
	}
}

// trustedFlag returns the prompt flag that is part of an agent's program. The flag in Copilot's preset is not, because
// the preset of earlier versions has none, and cities that were trusted then would not start.
func trustedFlag(p *Program) string {
	if p.Origins["prompt_flag"].File == "preset copilot" {
		return ""
	}
	return p.PromptFlag
}

func (r *programList) agent(a *Agent) {
	p := r.city.ProgramOf(a, noPreset)
	name, members := a.Qualified(), r.expanded(a)
	r.user = "agent " + name
	r.folders = []string{r.city.folderOf(a.Origin)}
	for _, m := range members {
		// agents switch branches and merge in checkouts of their own, so their files change all the time
		if within(r.city.Path, m.Dir) && !slices.Contains(r.folders, m.Dir) &&
			!trust.InNestedCheckout(r.city.Path, m.Dir) {
			r.folders = append(r.folders, m.Dir)
		}
	}
	at := func(keys ...string) Origin {
		for _, k := range keys {
			if o, written := a.Origins[k]; written {
				return o
			}
		}
		return a.Origin
	}
	r.program(name, &p, at("start_command", "provider", "args"), at("env", "provider"))
	if p.SelectedBy == "" {
		r.changedPresets(a)
	}
	for i, line := range a.PreStart {
		r.template("pre_start of "+name, at("pre_start"), line, members,
			func(m Expanded) string { return m.PreStart[i] })
	}
	for i, line := range a.SessionSetup {
		r.template("session_setup of "+name, at("session_setup"), line, members,
			func(m Expanded) string { return m.SessionSetup[i] })
	}
	r.setupScript(a, at("session_setup_script"), members)
	r.add("work_query of "+name, at("work_query"), a.WorkQuery)
	r.add("sling_query of "+name, at("sling_query"), a.SlingQuery)
	if a.Pool != nil {
		r.add("check of pool "+name, at("pool.check"), a.Pool.Check)
	}
	if a.OverlayDir != "" {
		r.add("overlay of "+name, at("overlay_dir"), a.OverlayDir, a.OverlayHash)
		r.file(a.OverlayDir)
	}
	r.provider("session provider of "+name, at("session"), a.Session)
	r.folders = nil // a nudge can mention files that the agent changes
	r.add("nudge of "+name, at("nudge"), a.Nudge)
}

// program adds an agent's program, which is declared at line, and its environment, which is declared at env.
func (r *programList) program(name string, p *Program, line, env Origin) {
	folders := r.folders
	defer func() { r.folders = folders }()
	if dir := r.city.providerFolder(p); dir != "" {
		r.folders = append(slices.Clone(folders), dir)
	}
	r.add("agent "+name, line,
		cmp.Or(p.CommandLine(), "(the first preset that is installed)"), trustedFlag(p))
	r.declaredIn(p.Origins)
	if len(p.Env) > 0 {
		r.add("environment of "+name, env, trust.Environment(p.Env))
		r.declaredIn(p.Origins)
	}
}

// changedPresets adds the presets that [providers] tables change. An agent without a provider can start any of them.
func (r *programList) changedPresets(a *Agent) {
	for _, name := range presetNames() {
		if r.city.providerTable(a, name).Name != "" {
			p := r.city.ProgramOf(a, func([]Preset) string { return name })
			r.program(a.Qualified()+" with "+name, &p, p.Origin, p.Origin)
		}
	}
}

// expanded returns the expanded templates of all members of an agent's pool.
func (r *programList) expanded(a *Agent) (all []Expanded) {
	for i := range max(1, a.Spec().Max) {
		m := r.city.Member(a, i+1)
		e, _ := r.city.Expand(&m) // loading the configuration reports the problems
		all = append(all, e)
	}
	return all
}

// template adds a command line that each member of a pool expands.
func (r *programList) template(what string, at Origin, line string, members []Expanded,
	of func(Expanded) string) {
	p := trust.Program{What: what, Line: line}
	if strings.Contains(line, "{{") {
		for _, m := range members {
			p.Runs = append(p.Runs, of(m))
		}
	}
	r.addProgram(at, p)
}

// setupScript adds the session_setup_script of all members of an agent's pool.
func (r *programList) setupScript(a *Agent, at Origin, members []Expanded) {
	if a.SessionSetupScript == "" {
		return
	}
	var paths, hashes []string
	for i, e := range members {
		if !slices.Contains(paths, e.Script) {
			m := r.city.Member(a, i+1)
			paths, hashes = append(paths, e.Script), append(hashes, m.ScriptHash)
		}
	}
	r.add("session_setup_script of "+a.Qualified(), at, a.SessionSetupScript, hashes...)
	for _, path := range paths {
		if path != "" {
			r.file(path)
		}
	}
}
