package config

import (
	"cmp"
	"gcity/pool"
	"gcity/restart"
	"gcity/topology"
	"path/filepath"
	"slices"
	"strings"
)

// ProviderOf returns the name of an agent's session provider.
func (c *City) ProviderOf(a *Agent) string {
	if _, written := a.Origins["session"]; written {
		return cmp.Or(a.Session, defaultProvider)
	}
	return c.Session.Provider
}

// Policy returns an agent's restart policy.
func (c *City) Policy(a *Agent) restart.Policy {
	return restart.Policy{
		Mode: a.Restart, MinUptime: a.MinUptime,
		MaxRestarts: c.Daemon.MaxRestarts, Window: c.Daemon.RestartWindow,
		Backoff: c.Daemon.RestartBackoff, MaxBackoff: c.Daemon.PatrolInterval,
	}
}

// Rig returns the rig with this name, or nil.
func (c *City) Rig(name string) *Rig {
	return first(c.Rigs, func(r *Rig) bool { return r.Name == name && name != "" })
}

// Prefix returns the ID prefix of the city's own beads. It differs from every rig's prefix.
func (c *City) Prefix() string {
	p := strings.ToLower(prefixOf(c.Workspace.Name))
	if p == "" || strings.ContainsFunc(p, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		return "gc"
	}
	return p
}

// PrefixOf returns the ID prefix of a rig's beads. If rig is "" or unknown, it returns the city's prefix.
func (c *City) PrefixOf(rig string) string {
	if r := c.Rig(rig); r != nil {
		return r.Prefix
	}
	return c.Prefix()
}

// RigAgents returns the qualified names of a rig's agents and pools, except those from topologies.
func (c *City) RigAgents(rig string) []string { return c.agentsOf(rig, false) }

// RigTopologyAgents returns the qualified names of the agents and pools that come from a rig's topologies.
func (c *City) RigTopologyAgents(rig string) []string { return c.agentsOf(rig, true) }

func (c *City) agentsOf(rig string, fromTopology bool) []string {
	var out []string
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Rig == rig && rig != "" && (a.Topology != "") == fromTopology {
			out = append(out, a.Qualified())
		}
	}
	return out
}

// SessionOf returns the session name for a qualified agent name, even if no such agent is declared.
func (c *City) SessionOf(name string) string {
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Qualified() == name && a.SessionName != "" {
			return a.SessionName
		}
	}
	if m, ok := c.members[name]; ok {
		return m.session
	}
	a := &Agent{Name: name}
	if rig, inner, ok := strings.Cut(name, "/"); ok {
		a.Rig, a.Name = rig, inner
	}
	session, err := c.sessionName(a)
	if err != nil {
		return ""
	}
	return session
}

// HooksOf returns the kinds of hook files to install for an agent.
func (c *City) HooksOf(a *Agent) []string {
	if a.HooksInstalled {
		return nil
	}
	if _, written := a.Origins["install_agent_hooks"]; written {
		return a.InstallAgentHooks
	}
	return c.Workspace.InstallAgentHooks
}

func (c *City) ownFragments(a *Agent) []string {
	var out []string
	for _, name := range slices.Concat(c.Workspace.GlobalFragments, a.InjectFragments) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Member returns member i (from 1 to Max) of an agent's pool, or the agent itself if it is the only member.
func (c *City) Member(a *Agent, i int) Agent {
	m := *a
	if a.Pool == nil || a.Pool.Max <= 1 {
		return m
	}
	m.Name = pool.Spec{Name: a.Name, Max: a.Pool.Max}.Member(i)
	w := c.members[m.Qualified()]
	m.SessionName, m.ScriptHash, m.ScriptProblem = w.session, w.scriptHash, w.scriptProblem
	return m
}

// TriageOf returns the watchdog that has the agent as its triage agent, or nil.
func (c *City) TriageOf(agent string) *Watchdog {
	return first(c.Watchdogs, func(w *Watchdog) bool { return w.Triage == agent })
}

// Parts returns the configuration's files in reading order, and then the folders of its topologies.
func (c *City) Parts() []Part {
	var out []Part
	for _, path := range c.Sources {
		out = append(out, Part{"file", c.displayPath(path)})
	}
	for _, p := range c.cityTopologies {
		out = append(out, Part{"topology", c.displayPath(p.dir)})
	}
	return out
}

func (c *City) remote(name string, at Origin) *Remote {
	r := first(c.Remotes, func(r *Remote) bool { return r.Name == name })
	if r == nil {
		r = added(&c.Remotes, Remote{Name: name, Origin: at, Origins: map[string]Origin{}})
	}
	return r
}

// remoteTopology converts a [topologies] table. A source that is neither a URL nor HOST:PATH is a folder.
func (c *City) remoteTopology(r *Remote) topology.Remote {
	w := topology.Remote{Name: r.Name, Source: r.Source, From: r.Source, Ref: r.Ref, Path: r.Path}
	host, _, remote := strings.Cut(r.Source, ":")
	if remote && !strings.Contains(host, "/") {
		return w
	}
	if inner, city := strings.CutPrefix(r.Source, "//"); city {
		w.From = filepath.Join(c.Path, inner)
	} else if !filepath.IsAbs(r.Source) {
		w.From = filepath.Join(c.folderOf(r.Origins["source"]), r.Source)
	}
	return w
}
