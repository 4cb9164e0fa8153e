package config

import (
	"cmp"
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/internal/toml"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type script struct{ hash, problem, warning string }

type checker struct{ *loading }

func (d checker) checkCity() {
	d.cityName()
	rigChecker(d).rigs()
	patcher(d).patchAgents()
	patcher(d).rigOverrides()
	patcher(d).patchWatchdogs()
	patcher(d).patchProviders()
	providerChecker(d).providers()
	d.checkWork()
	d.checkAPI()
	d.file("session.k8s.kubeconfig", &d.city.Session.Kubernetes.Kubeconfig)
	d.file("session.k8s.pod", &d.city.Session.Kubernetes.Pod)
	if !d.checkPools() {
		return
	}
	d.names()
	dependencies(d).depend()
	d.checkRoutes()
	watchdogChecker(d).watchdogs()
	c, sessions := d.city, map[string]string{}
	d.scripts, c.members = map[string]script{}, map[string]derived{}
	c.topologyPrompts = map[string]bool{}
	d.agentFiles = newAgentFileCache()
	if len(c.Agents) == 0 {
		// check the session template even if there are no agents
		d.sessionOf(&Agent{Name: "agent"}, sessions)
	}
	agentFileReader(d).warnUnusedFragments()
	for a := range d.agents {
		agentFileReader(d).read(a)
		d.warnUnexpanded(a)
		switch {
		case a.Name == "": // already reported
		case a.Pool == nil || a.Pool.Max <= 1:
			d.agent(a, sessions)
		default:
			for m := range a.Pool.Max {
				member := c.Member(a, m+1)
				d.agent(&member, sessions)
				c.members[member.Qualified()] = derived{member.SessionName, member.ScriptHash,
					member.ScriptProblem}
				if d.full() {
					break
				}
			}
		}
	}
}

func (d checker) agent(a *Agent, sessions map[string]string) {
	d.sessionOf(a, sessions)
	e, problems := d.city.Expand(a)
	for _, p := range problems {
		d.addMisuse(a, p.Place, p.Key, "%s", p.Message)
	}
	d.script(a, e.Script)
}

// warnUnexpanded reports template fields in the shell commands of an agent, which are not templates.
func (d checker) warnUnexpanded(a *Agent) {
	by, line := d.city.programKey(a)
	at := cmp.Or(a.Origins["start_command"], d.city.Origins[by])
	d.warnFields(at, by, line)
	d.warnFields(a.Origins["work_query"], "agents.work_query", a.WorkQuery)
	d.warnFields(a.Origins["sling_query"], "agents.sling_query", a.SlingQuery)
	if a.Pool != nil {
		d.warnFields(a.Origins["pool.check"], "agents.pool.check", a.Pool.Check)
	}
}

func (d *loading) warnFields(at Origin, key, command string) {
	for _, f := range [][2]string{{"ConfigDir", "GC_PACK_DIR"}, {"CityRoot", "GC_CITY_PATH"},
		{"WorkDir", "GC_DIR"}} {
		if strings.Contains(command, "{{."+f[0]+"}}") {
			d.warnOnce(toml.At(at, key, "is not a template, so gcity does not replace {{.%s}}; "+
				"use $%s instead", f[0], f[1]))
		}
	}
}

func (d checker) cityName() {
	c := d.city
	if c.Workspace.Name != "" {
		return
	}
	c.Workspace.Name = filepath.Base(c.Path)
	if msg := keys.CheckName(c.Workspace.Name); msg != "" && !d.failed("workspace.name") &&
		!d.failedSources.files {
		d.problem(toml.Everywhere, "workspace.name", "is missing, and the folder's name cannot "+
			"be used instead: %s", msg)
	}
}

func (d checker) sessionOf(a *Agent, taken map[string]string) {
	const key = "workspace.session_template"
	if d.failed("workspace.name") || keys.CheckName(d.city.Workspace.Name) != "" {
		return // no session name can be derived from an invalid city name
	}
	name, err := d.city.sessionName(a)
	if err == nil && taken[name] != "" && taken[name] != a.Qualified() {
		err = fmt.Errorf("creates the same name %q for the sessions of %q and %q; add "+
			"{{.Agent}} to the template", name, taken[name], a.Qualified())
	}
	if err != nil {
		if !d.failed(key) {
			d.addError(d.city.Origins[key], key, "%v", err)
		}
		return
	}
	taken[name], a.SessionName = a.Qualified(), name
}

func (d checker) script(a *Agent, path string) {
	if path == "" {
		return
	}
	s, ok := d.scripts[path]
	if !ok {
		s = d.readScript(path)
		d.scripts[path] = s
	}
	a.ScriptHash, a.ScriptProblem = s.hash, s.problem
	const key = "agents.session_setup_script"
	at := a.Origins["session_setup_script"]
	if s.warning != "" && !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool {
		return p.Place == at && p.Key == key // of another member, or in another rig
	}) {
		d.addWarning(at, key, "%s", s.warning)
	}
}

func (d checker) readScript(path string) (s script) {
	d.city.Sources = append(d.city.Sources, path)
	data, err := files.ReadSource(path)
	if err != nil {
		s.problem = err.Error()
		s.warning = "cannot be read: " + s.problem + "; the agent cannot be started"
		return s
	}
	s.hash = files.Sum(data)
	d.hashes[path] = s.hash
	if info, err := os.Stat(path); err == nil && info.Mode()&0o111 == 0 {
		d.hashes[path] += " not executable"
		s.warning = fmt.Sprintf("%s is not executable, so the agent's start fails; run "+
			"`chmod +x` on it", path)
	}
	return s
}
