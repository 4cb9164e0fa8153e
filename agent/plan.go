package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/config"
	"gcity/session"
)

// Plan says who should exist in a city, in name order. It reads nothing but its arguments. The same configuration gives the same
// fingerprints on every host.
func Plan(c *config.City, h Host) []Want {
	wants := make([]Want, 0, len(c.Agents))
	base := inherited(h)
	for i := range c.Agents {
		wants = append(wants, want(c, &c.Agents[i], base))
	}
	slices.SortFunc(wants, func(a, b Want) int { return cmp.Compare(a.Name, b.Name) })
	return wants
}

// Spawn is what to start under an id: the Spec with the id in it and in its environment, which is a copy.
func (w Want) Spawn(id string) session.Spec {
	s := w.Spec
	s.ID = id
	s.Env = append(slices.Clip(slices.Clone(s.Env)), "GC_SESSION_ID="+id)
	slices.Sort(s.Env)
	return s
}

func want(c *config.City, a *config.Agent, base environ) Want {
	w := Want{Name: a.Name, Description: a.Description, Provider: c.Session.Provider, Source: a.Origin.String(), Policy: c.Policy(a)}
	switch {
	case a.Suspended:
		w.Suspended = "by agent"
	case c.Workspace.Suspended:
		w.Suspended = "by city"
	}
	w.Spec = session.Spec{
		Name: a.SessionName, Agent: a.Name, City: c.Path, Command: cmp.Or(a.StartCommand, c.Workspace.StartCommand),
		Dir: c.Path, SetupScript: a.ScriptPath, Ready: ready(a), Nudge: a.Nudge, Cols: c.Session.Cols, Rows: c.Session.Rows,
	}
	w.Spec.Fingerprint = fingerprint(a, w.Spec.Command)
	w.Problem = fill(&w, c, a)
	w.Spec.Env = base.of(c, a, w.Spec.Dir)
	return w
}

// fill expands the templates, and says why the agent cannot be started.
func fill(w *Want, c *config.City, a *config.Agent) string {
	v := c.Vars(a)
	dir, err := config.Expand(a.Dir, v)
	if err == nil && dir != "" {
		w.MakeDir = !strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "//")
		w.Spec.Dir, err = config.Resolve(c.Path, dir)
	}
	if err != nil {
		return fmt.Sprintf("dir %v", err)
	}
	v.Dir, v.WorkDir = dir, w.Spec.Dir
	if w.Spec.PreStart, err = expandAll(a.PreStart, v); err != nil {
		return fmt.Sprintf("pre_start %v", err)
	}
	if w.Spec.Setup, err = expandAll(a.SessionSetup, v); err != nil {
		return fmt.Sprintf("session_setup %v", err)
	}
	switch {
	case w.Spec.Command == "":
		return fmt.Sprintf("no command: the agent at %s has no start_command, and neither has [workspace]; write one of them", w.Source)
	case a.ScriptProblem != "":
		return "session_setup_script cannot be read: " + a.ScriptProblem
	}
	return ""
}

func expandAll(lines []string, v config.Vars) ([]string, error) {
	var out []string
	for _, line := range lines {
		s, err := config.Expand(line, v)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func ready(a *config.Agent) session.Ready {
	r := session.Ready{Prefix: a.ReadyPromptPrefix, Delay: a.ReadyDelay}
	if r.Delay >= session.DefaultReadyDeadline {
		r.Deadline = r.Delay + session.DefaultReadyDeadline
	}
	return r
}

// fingerprint is over what the configuration says, as it says it: neither the host nor the folder enters, so nothing
// drifts because the controller was started from somewhere else.
func fingerprint(a *config.Agent, command string) session.Fingerprint {
	fields := map[string]string{"command": command}
	for name, value := range a.Env {
		fields["env "+name] = value
	}
	lines := func(name string, l []string) {
		if len(l) > 0 {
			fields[name] = strings.Join(l, "\x00")
		}
	}
	lines("pre_start", a.PreStart)
	lines("session_setup", a.SessionSetup)
	if a.SessionSetupScript != "" {
		fields["session_setup_script"] = a.SessionSetupScript + "\x00" + a.ScriptHash
	}
	return session.NewFingerprint(fields)
}
