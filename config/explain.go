package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"maps"
	"strings"
)

func (c printer) explainAgent(a *Agent, member string) string {
	var b strings.Builder
	s, shown := keys.City(), *a
	kind := "agent"
	switch {
	case member != "":
		shown = c.Member(a, a.Spec().Index(member))
		fmt.Fprintf(&b, "agent %s, a member of ", member)
		fallthrough
	case a.Pool != nil:
		kind = "pool"
	}
	fmt.Fprintf(&b, "%s %s, %s\n", kind, a.Qualified(), a.Origin)
	writeRows(&b, "  ", append(c.rows(s, "agents", place{a}),
		c.removedRows(a)...))
	if r := c.Rig(a.Rig); r != nil {
		fmt.Fprintf(&b, "\nfrom the rig %s, %s\n", r.Name, r.Origin)
		writeRows(&b, "  ", c.rows(s, "rigs", place{r})[1:])
	}
	c.explainProgram(&b, s, a)
	c.explainWatched(&b, s, a)
	b.WriteString("\nfrom the city\n")
	writeRows(&b, "  ", c.cityRows(s, a))
	b.WriteString("\nderived values\n")
	writeRows(&b, "  ", c.derivedRows(&shown, member != ""))
	if member == "" && a.Pool != nil && a.Pool.Max != 1 {
		b.WriteString("\nmembers\n")
		writeRows(&b, "  ", c.memberRows(a))
	}
	return b.String()
}

// removedRows shows which variables patches and overrides have removed from an agent's env.
func (c printer) removedRows(a *Agent) (out []row) {
	add := func(p *patch) {
		if len(p.remove) > 0 {
			out = append(out, row{"env_remove", c.shown(&p.remove),
				p.Origins["env_remove"].String()})
		}
	}
	for i := range c.patches.agents {
		if p := &c.patches.agents[i]; p.matches(a) {
			add(p)
		}
	}
	if r := c.Rig(a.Rig); r != nil && a.Topology != "" {
		for i := range r.overrides {
			if r.overrides[i].Name == a.Name {
				add(&r.overrides[i])
			}
		}
	}
	return out
}

func (c printer) cityRows(s keys.Schema, a *Agent) []row {
	var out []row
	if by, _ := c.programKey(a); strings.HasPrefix(by, "workspace.") {
		out = append(out, c.row(s, by))
	}
	if c.Workspace.Suspended {
		out = append(out, c.row(s, "workspace.suspended"))
	}
	if a.Prompt != nil && len(c.Workspace.GlobalFragments) > 0 {
		out = append(out, c.row(s, "workspace.global_fragments"))
	}
	if _, own := a.Origins["install_agent_hooks"]; !own && len(c.HooksOf(a)) > 0 {
		out = append(out, c.row(s, "workspace.install_agent_hooks"))
	}
	if a.Pool != nil && a.Pool.Max > 0 && a.Pool.Check == "" {
		// the pool's size is the number of its open beads in this store
		out = append(out, c.row(s, "beads.provider"))
	}
	for _, path := range []string{"daemon.max_restarts", "daemon.restart_window",
		"daemon.restart_backoff", "daemon.patrol_interval",
		"daemon.shutdown_timeout", "daemon.crash_history", "session.provider"} {
		if _, own := a.Origins["session"]; own && path == "session.provider" {
			continue
		}
		out = append(out, c.row(s, path))
	}
	return out
}

func (c printer) derivedRows(a *Agent, member bool) []row {
	var out []row
	single := member || a.Spec().Max == 1
	e, _ := c.Expand(a) // Load has rejected invalid templates
	if single {
		out = append(out, row{"session", toml.Quote(a.SessionName), ""})
	}
	if single || !strings.Contains(a.Dir, "{{") {
		trouble := ""
		if r := c.Rig(a.Rig); r != nil {
			trouble = r.Problem
		}
		out = append(out, row{"folder", toml.Quote(e.Dir), trouble})
	}
	if p := c.ProgramOf(a, noPreset); p.SelectedBy == "" {
		out = append(out, row{"command", "the first of these that is found: " +
			toml.List(presetNames()), "not set; set agents.provider or " +
			"agents.start_command"})
	} else if p.Line == "" {
		out = append(out, row{"command", c.shown(new(p.CommandLine())), ""})
	}
	if single && e.Script != "" {
		out = append(out, row{"script", toml.Quote(e.Script), toml.Visible(a.ScriptProblem)})
	}
	if len(a.Needs) > 0 {
		out = append(out, row{"started after", toml.List(a.Needs), ""})
	}
	var after []string
	for i := range c.Agents {
		for _, name := range c.Agents[i].Needs {
			if name == a.Qualified() {
				after = append(after, c.Agents[i].Qualified())
			}
		}
	}
	if len(after) > 0 {
		out = append(out, row{"started before", toml.List(after), ""})
	}
	return out
}

// noPreset selects no preset, because the preset depends on the machine on which the agent starts.
func noPreset([]Preset) string { return "" }

func (c printer) explainProgram(b *strings.Builder, s keys.Schema, a *Agent) {
	p := c.ProgramOf(a, noPreset)
	if p.Provider.Name == "" {
		return
	}
	taken := p.Provider
	taken.Env = maps.Clone(p.Env)
	maps.DeleteFunc(taken.Env, func(name, _ string) bool { _, own := a.Env[name]; return own })
	taken.Origins = maps.Clone(p.Origins)
	maps.DeleteFunc(taken.Origins, func(key string, _ Origin) bool {
		_, own := a.Origins[key]
		return own && isAgentKey(key)
	})
	fmt.Fprintf(b, "\nfrom the provider %s, %s\n", p.Provider.Name, p.Origin)
	writeRows(b, "  ", c.rows(s, "providers.*", place{&taken}))
}

func (c printer) explainWatched(b *strings.Builder, s keys.Schema, a *Agent) {
	for i := range c.Watchdogs {
		switch w := &c.Watchdogs[i]; a.Qualified() {
		case w.Watches:
			fmt.Fprintf(b, "\nwatched by the watchdog %s, %s\n", w.Qualified(), w.Origin)
			writeRows(b, "  ", c.rows(s, "watchdogs", place{w}))
		case w.Triage:
			fmt.Fprintf(b, "\ntriage agent of the watchdog %s, %s\n", w.Qualified(), w.Origin)
			writeRows(b, "  ", c.rows(s, "watchdogs", place{w}))
		}
	}
}

func (c printer) memberRows(a *Agent) []row {
	const most = 10
	if a.Pool.Max == 0 {
		return []row{{"none", "max is 0: the pool is off", ""}}
	}
	var out []row
	for i := range min(a.Pool.Max, most) {
		m := c.Member(a, i+1)
		e, _ := c.Expand(&m)
		why := "session " + m.SessionName
		if m.ScriptProblem != "" {
			why += "; its script cannot be read: " + toml.Visible(m.ScriptProblem)
		}
		out = append(out, row{m.Qualified(), toml.Quote(e.Dir), why})
	}
	if more := a.Pool.Max - most; more > 0 {
		out = append(out, row{fmt.Sprintf("and %d more", more),
			"up to " + a.Spec().Member(a.Pool.Max), ""})
	}
	return out
}

func (c printer) explainRig(r *Rig) string {
	var b strings.Builder
	fmt.Fprintf(&b, "rig %s, %s\n", r.Name, r.Origin)
	writeRows(&b, "  ", c.rows(keys.City(), "rigs", place{r}))
	var agents []string
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Rig == r.Name {
			name := a.Qualified()
			if a.Pool != nil {
				name += fmt.Sprintf(" (%d–%d)", a.Pool.Min, a.Pool.Max)
			}
			agents = append(agents, name)
		}
	}
	out := []row{{"folder", toml.Quote(r.Path), r.Problem}, {"agents", toml.List(agents), ""}}
	if c.Workspace.Suspended {
		out = append(out, row{"suspended", "by the city", ""})
	}
	b.WriteString("\nderived values\n")
	writeRows(&b, "  ", out)
	for i := range c.overrides {
		if o := &c.overrides[i]; o.Rig == r.Name {
			fmt.Fprintf(&b, "\nits automation %s is overridden at %s\n", o.Name, o.origin)
			writeRows(&b, "  ", c.rows(keys.City(), "automations.overrides", place{o})[2:])
		}
	}
	return b.String()
}
