package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
)

// whole checks what only shows when everything is read: names against each other, templates, paths, scripts.
func (d *decoder) whole() {
	d.names()
	c := d.city
	scripts, sessions := map[string]string{}, map[string]string{}
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Name == "" {
			continue // said already
		}
		d.sessionOf(a, sessions)
		d.templates(a)
		d.script(a, scripts)
	}
}

func (d *decoder) names() {
	c := d.city
	if c.Workspace.Name == "" {
		c.Workspace.Name = filepath.Base(c.Path)
		if msg := checkName(c.Workspace.Name); msg != "" && !d.failed("workspace.name") {
			d.problem(0, "workspace.name", "is missing, and the folder's name cannot stand in for it: %s", msg)
		}
	}
	first := make(map[string]*Agent, len(c.Agents))
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Name == "" {
			continue
		}
		if other := first[a.Name]; other != nil {
			d.problems = append(d.problems, Problem{Origin: a.Origins["name"], Key: "agents.name",
				Message: "another agent is called \"" + a.Name + "\" already, at " + other.Origins["name"].String() + "; each needs a name of its own"})
			continue
		}
		first[a.Name] = a
	}
}

func (d *decoder) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key })
}

// sessionOf names an agent's sessions. What is wrong with the template is said once.
func (d *decoder) sessionOf(a *Agent, taken map[string]string) {
	const key = "workspace.session_template"
	name, err := d.city.sessionName(a)
	if err == nil && taken[name] != "" && taken[name] != a.Name {
		err = errors.New("makes the same name \"" + name + "\" for the sessions of \"" + taken[name] + "\" and \"" + a.Name +
			"\"; put {{.Agent}} into it")
	}
	if err != nil {
		if !d.failed(key) {
			d.problems = append(d.problems, Problem{Origin: d.city.Origins[key], Key: key, Message: err.Error()})
		}
		return
	}
	taken[name], a.SessionName = a.Name, name
}

// templates fills an agent's templates in, to see that it can be done.
func (d *decoder) templates(a *Agent) {
	v := d.city.Vars(a)
	bad := func(key string, err error) {
		d.problems = append(d.problems, Problem{Origin: a.Origins[key], Key: "agents." + key, Message: err.Error()})
	}
	dir, err := Expand(a.Dir, v)
	if err == nil {
		v.Dir = dir
		v.WorkDir, err = Resolve(d.city.Path, dir)
	}
	if err != nil {
		bad("dir", err)
	}
	for _, line := range a.PreStart {
		if _, err := Expand(line, v); err != nil {
			bad("pre_start", err)
		}
	}
	for _, line := range a.SessionSetup {
		if _, err := Expand(line, v); err != nil {
			bad("session_setup", err)
		}
	}
	if a.SessionSetupScript == "" {
		return
	}
	script, err := Expand(a.SessionSetupScript, v)
	if err == nil {
		a.ScriptPath, err = Resolve(d.city.Path, script)
	}
	if err != nil {
		bad("session_setup_script", err)
	}
}

// script hashes an agent's script, each file once.
func (d *decoder) script(a *Agent, seen map[string]string) {
	if a.ScriptPath == "" {
		return
	}
	hash, ok := seen[a.ScriptPath]
	if !ok {
		d.city.Sources = append(d.city.Sources, a.ScriptPath)
		data, err := read(a.ScriptPath)
		if err == nil {
			sum := sha256.Sum256(data)
			hash = hex.EncodeToString(sum[:])
		} else {
			a.ScriptProblem = err.Error()
		}
		seen[a.ScriptPath] = hash
	}
	if a.ScriptHash = hash; hash == "" && a.ScriptProblem == "" {
		_, err := read(a.ScriptPath)
		a.ScriptProblem = errText(err)
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
