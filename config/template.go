package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"gcity/config/placeholder"
	"gcity/internal/toml"
	"gcity/session"
)

// ConfigDir returns the folder of the file with a declaration, for example of an agent.
func (c *City) ConfigDir(declared Origin) string { return c.folderOf(declared) }

func (c *City) vars(a *Agent) placeholder.Values {
	return placeholder.Values{City: c.Workspace.Name, CityName: c.Workspace.Name, CityRoot: c.Path,
		ConfigDir: c.ConfigDir(a.Origin),
		Agent:     a.Qualified(), Name: a.Name, Rig: a.Rig, Session: a.SessionName}
}

// Expanded contains an agent's expanded templates and paths.
type Expanded struct {
	Dir          string // absolute path of the working folder
	MakeDir      bool   // create the folder if it is missing
	PreStart     []string
	SessionSetup []string
	Script       string // absolute path of session_setup_script; "" = none
}

// Expand expands an agent's templates without I/O.
func (c *City) Expand(a *Agent) (Expanded, []Problem) {
	out, v := Expanded{Dir: c.Path}, c.vars(a)
	var problems []Problem
	say := func(key string, err error) {
		problems = append(problems, toml.At(a.Origins[key], "agents."+key, "%v", err))
	}
	if err := c.workDir(a, &v, &out); err != nil {
		say("dir", err)
	}
	lines := func(key string, from []string) (to []string) {
		for i, line := range from {
			line, err := placeholder.Expand(line, v)
			if err != nil {
				say(key, fmt.Errorf("item %d %w", i+1, err))
			}
			to = append(to, line)
		}
		return to
	}
	out.PreStart = lines("pre_start", a.PreStart)
	out.SessionSetup = lines("session_setup", a.SessionSetup)
	if script, err := placeholder.Expand(a.SessionSetupScript, v); err != nil {
		say("session_setup_script", err)
	} else if script != "" {
		if out.Script, err = c.PathOf(a, "session_setup_script", script); err != nil {
			say("session_setup_script", err)
		}
	}
	return out, problems
}

func (c *City) workDir(a *Agent, v *placeholder.Values, out *Expanded) (err error) {
	if r := c.Rig(a.Rig); r != nil {
		v.Dir, out.Dir = a.Dir, r.Path
	} else if v.Dir, err = placeholder.Expand(a.Dir, *v, "Dir", "WorkDir"); err == nil &&
		v.Dir != "" {
		out.MakeDir = !filepath.IsAbs(v.Dir) || strings.HasPrefix(v.Dir, "//")
		out.Dir, err = resolve(c.Path, c.Path, v.Dir)
	}
	v.WorkDir = out.Dir
	return err
}

func (c *City) sessionName(a *Agent) (string, error) {
	v := c.vars(a)
	for _, s := range []*string{&v.City, &v.CityName, &v.CityRoot, &v.ConfigDir, &v.Agent, &v.Name,
		&v.Rig} {
		*s = session.Encode(*s)
	}
	name, err := placeholder.Expand(c.Workspace.SessionTemplate, v, "Session", "Dir", "WorkDir")
	if err != nil {
		return "", err
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
		default:
			return "", fmt.Errorf(
				`creates the invalid name %q for the sessions of %q; use letters, digits, "_" `+
					`and "-"`, name, a.Qualified())
		}
	}
	if name == "" || len(name) > maxSessionName {
		return "", fmt.Errorf("creates a name of %d characters for the sessions of %q; use 1 to %d",
			len(name), a.Qualified(), maxSessionName)
	}
	return name, nil
}

const maxSessionName = 200
