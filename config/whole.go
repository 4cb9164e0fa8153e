package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"path/filepath"
	"slices"
	"strings"
)

// script is a session_setup_script as it was read.
type script struct{ hash, problem string }

// whole checks what only shows when everything is read: names against each other, templates, paths, scripts.
func (d *decoder) whole() {
	d.cityName()
	d.rigs()
	d.patches()
	d.rigOverrides()
	d.patchWatchdogs()
	d.amend()
	d.providers()
	d.work()
	d.api()
	if !d.sizes() {
		return
	}
	d.names()
	d.depend()
	d.routes()
	d.watchdogs()
	c, sessions := d.city, map[string]string{}
	d.scripts, c.members = map[string]script{}, map[string]derived{}
	c.leans = map[string]bool{}
	d.outfits = newOutfits()
	if len(c.Agents) == 0 {
		d.sessionOf(&Agent{Name: "agent"}, sessions) // the template is right, or not, without any
	}
	d.idleFragments()
	defer func() { d.whose = nil }()
	for i := range c.Agents {
		a := &c.Agents[i]
		d.whose = &a.Rig
		d.outfit(a)
		switch {
		case a.Name == "": // said already
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

// agent works out what follows from one agent's values.
func (d *decoder) agent(a *Agent, sessions map[string]string) {
	d.sessionOf(a, sessions)
	e, problems := d.city.Expand(a)
	for _, p := range problems {
		misuse(d, a, p.Origin, p.Key, p.Message)
	}
	d.script(a, e.Script)
}

// cityName takes the folder's name where the file names none.
func (d *decoder) cityName() {
	c := d.city
	if c.Workspace.Name != "" {
		return
	}
	c.Workspace.Name = filepath.Base(c.Path)
	if msg := keys.CheckName(c.Workspace.Name); msg != "" && !d.failed("workspace.name") &&
		!d.unread.files {
		d.problem(toml.Everywhere, "workspace.name", "is missing, and the folder's name cannot "+
			"stand in for it: %s", msg)
	}
}

// failedIn says whether something is wrong with a key of a table.
func (d *decoder) failedIn(table string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return strings.HasPrefix(p.Key, table+".")
	})
}

func (d *decoder) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key })
}

// sessionOf names an agent's sessions. What is wrong with the template is said once.
func (d *decoder) sessionOf(a *Agent, taken map[string]string) {
	const key = "workspace.session_template"
	if d.failed("workspace.name") || keys.CheckName(d.city.Workspace.Name) != "" {
		return // and nothing can be named after it
	}
	name, err := d.city.sessionName(a)
	if err == nil && taken[name] != "" && taken[name] != a.Qualified() {
		err = fmt.Errorf("makes the same name %q for the sessions of %q and %q; put "+
			"{{.Agent}} into it", name, taken[name], a.Qualified())
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
func (d *decoder) script(a *Agent, path string) {
	if path == "" {
		return
	}
	s, ok := d.scripts[path]
	if !ok {
		d.city.Sources = append(d.city.Sources, path)
		if data, err := ReadSource(path); err != nil {
			s.problem = err.Error()
		} else {
			s.hash = sum(data)
		}
		d.scripts[path] = s
		d.hashes[path] = s.hash
	}
	a.ScriptHash, a.ScriptProblem = s.hash, s.problem
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
