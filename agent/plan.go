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

// Pools says which pools should exist, in name order.
func Pools(c *config.City, h Host) []Pool { return nil }

// Rigs lists a city's rigs, in name order.
func Rigs(c *config.City) []Rig { return nil }

// Spawn is what to start under an id: the Spec with the id in it and in its environment, which is a copy.
func (w Want) Spawn(id string) session.Spec {
	s := w.Spec
	s.ID = id
	s.Env = append(slices.Clip(s.Env), "GC_SESSION_ID="+id) // clipped, so it is copied
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
	e, problems := c.Expand(a)
	w.MakeDir = e.MakeDir
	w.Spec = session.Spec{
		Name: a.SessionName, Agent: a.Name, City: c.Path, Command: cmp.Or(a.StartCommand, c.Workspace.StartCommand),
		Dir: e.Dir, Env: base.of(c, a, e.Dir), PreStart: e.PreStart, Setup: e.SessionSetup, SetupScript: e.Script,
		Ready: ready(a), Nudge: a.Nudge, Cols: c.Session.Cols, Rows: c.Session.Rows,
	}
	w.Spec.Fingerprint = fingerprint(a, w.Spec.Command)
	switch {
	case len(problems) > 0:
		w.Problem = problems[0].String()
	case w.Spec.Command == "":
		w.Problem = fmt.Sprintf("no command: neither the agent (%s) nor [workspace] has a start_command; write one of them", w.Source)
	case a.ScriptProblem != "":
		w.Problem = "session_setup_script cannot be read: " + a.ScriptProblem
	}
	return w
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
