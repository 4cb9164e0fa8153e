package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
)

// script is a session_setup_script as it was read.
type script struct{ hash, problem string }

// whole checks what only shows when everything is read: names against each other, templates, paths, scripts.
func (d *decoder) whole() {
	d.cityName()
	c := d.city
	d.rigs()
	d.names()
	scripts, sessions := map[string]script{}, map[string]string{}
	if len(c.Agents) == 0 {
		d.sessionOf(&Agent{Name: "agent"}, sessions) // the template is right, or not, without any
	}
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Name == "" {
			continue // said already
		}
		d.sessionOf(a, sessions)
		e, problems := c.Expand(a)
		for _, p := range problems {
			d.say(p.Origin, p.Key, p.Message)
		}
		d.script(a, e.Script, scripts)
	}
}

// cityName takes the folder's name where the file names none.
func (d *decoder) cityName() {
	c := d.city
	if c.Workspace.Name != "" {
		return
	}
	c.Workspace.Name = filepath.Base(c.Path)
	if msg := checkName(c.Workspace.Name); msg != "" && !d.failed("workspace.name") {
		d.problem(everywhere, "workspace.name", "is missing, and the folder's name cannot stand in for it: %s", msg)
	}
}

// names compares the qualified names of all agents.
func (d *decoder) names() {
	c := d.city
	first := make(map[string]*Agent, len(c.Agents))
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Name == "" {
			continue
		}
		if other := first[a.Qualified()]; other != nil {
			d.say(a.Origins["name"], "agents.name", fmt.Sprintf("another agent%s is called %q already, at %s; each needs a name of its own",
				ofRig(a), a.Name, other.Origins["name"]))
			continue
		}
		first[a.Qualified()] = a
	}
}

func ofRig(a *Agent) string {
	if a.Rig == "" {
		return ""
	}
	return fmt.Sprintf(" of the rig %q", a.Rig)
}

func (d *decoder) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key })
}

// sessionOf names an agent's sessions. What is wrong with the template is said once.
func (d *decoder) sessionOf(a *Agent, taken map[string]string) {
	const key = "workspace.session_template"
	if d.failed("workspace.name") {
		return // and nothing can be named after it
	}
	name, err := d.city.sessionName(a)
	if err == nil && taken[name] != "" && taken[name] != a.Qualified() {
		err = fmt.Errorf("makes the same name %q for the sessions of %q and %q; put {{.Agent}} into it", name, taken[name], a.Qualified())
	}
	if err != nil {
		if !d.failed(key) {
			d.say(d.city.Origins[key], key, err.Error())
		}
		return
	}
	taken[name], a.SessionName = a.Qualified(), name
}

// script hashes an agent's script, each file once.
func (d *decoder) script(a *Agent, path string, seen map[string]script) {
	if path == "" {
		return
	}
	s, ok := seen[path]
	if !ok {
		d.city.Sources = append(d.city.Sources, path)
		if data, err := read(path); err != nil {
			s.problem = err.Error()
		} else {
			s.hash = sum(data)
		}
		seen[path] = s
		d.hashes[path] = s.hash
	}
	a.ScriptHash, a.ScriptProblem = s.hash, s.problem
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
