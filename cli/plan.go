package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/city"
	"gcity/session"
)

func (a *app) planCommand() *cobra.Command {
	return &cobra.Command{
		Use: "plan", Short: "What the configuration on disk would change now; nothing is done", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.plan(cmd.Context()) },
	}
}

// change is what would become of one agent.
type change struct {
	Agent  string   `json:"agent"`
	Change string   `json:"change"` // "start", "stop", "restart", "fail", "wait", "none"
	Reason string   `json:"reason,omitempty"`
	Fields []string `json:"fields,omitempty"` // that differ from what the session was started with
}

type planShape struct {
	list[change]
	Revision string `json:"revision"`           // of the configuration on disk
	InForce  string `json:"in_force,omitempty"` // the running controller's, if one runs
}

func (a *app) plan(ctx context.Context) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	c, err := loadCity(dir)
	if err != nil {
		return err
	}
	provider, closeSessions, err := openSessions(dir, c, true, quietLogger())
	if err != nil {
		return err
	}
	defer closeSessions()
	sessions, err := provider.List(ctx)
	if err != nil {
		return fmt.Errorf("cannot list the sessions of %s: %w", dir, err)
	}
	l, err := a.reach(ctx, dir)
	if err != nil {
		return err
	}
	defer l.close()
	var running *city.Snapshot
	out := planShape{Revision: short(c.Revision)}
	if l.live {
		if running, err = l.Snapshot(ctx); err != nil {
			return err
		}
		out.InForce = running.Config.Revision
		if c.Workspace.Name != running.Name {
			return &failure{exitConfig, fmt.Errorf("the controller refuses this configuration: workspace.name is %q, and the running city keeps its name %q", c.Workspace.Name, running.Name)}
		}
	}
	out.list = listOf(changes(plan(c, dir), sessions, running))
	if a.json {
		return a.writeJSON(out)
	}
	return a.tellPlan(out)
}

// changes compares what should run with what does. running is nil where no controller runs.
func changes(wants []agent.Want, sessions []session.Status, running *city.Snapshot) []change {
	alive := map[string]session.Status{}
	for _, st := range sessions {
		if st.Alive {
			alive[st.Agent] = st
		}
	}
	var out []change
	for _, w := range wants {
		st, lives := alive[w.Name]
		delete(alive, w.Name)
		out = append(out, changeOf(w, st, lives, running))
	}
	for name := range alive {
		out = append(out, change{Agent: name, Change: "stop", Reason: "not in the configuration"})
	}
	slices.SortFunc(out, func(x, y change) int { return city.CompareNames(x.Agent, y.Agent) })
	return out
}

func changeOf(w agent.Want, st session.Status, lives bool, running *city.Snapshot) change {
	c := change{Agent: w.Name, Change: "none"}
	drift := st.Fingerprint.Drift(w.Spec.Fingerprint)
	switch {
	case w.Suspended != "" && lives:
		c.Change, c.Reason = "stop", "suspended "+w.Suspended
	case w.Suspended != "":
		c.Reason = "suspended " + w.Suspended
	case w.Problem != "":
		c.Change, c.Reason = "fail", w.Problem
	case lives && len(drift) > 0:
		c.Change, c.Reason, c.Fields = "restart", strings.Join(drift, ", "), drift
		if st.Attached > 0 {
			c.Reason += "; held back while somebody is attached"
		}
	case lives:
		c.Reason = "runs as configured"
	default:
		c.Change, c.Reason = "start", "not running"
		if hold, why := heldBack(w.Name, running); hold {
			c.Change, c.Reason = "wait", why
		}
	}
	return c
}

// heldBack says whether a running controller has its own reason not to start an agent now.
func heldBack(name string, running *city.Snapshot) (bool, string) {
	if running == nil {
		return false, ""
	}
	g, ok := running.Agent(name)
	if !ok {
		return false, ""
	}
	switch g.State {
	case city.Quarantined, city.Backoff, city.Exited, city.Waiting, city.Failed, city.Starting:
		why := string(g.State) + ": " + g.Reason
		if g.Until != nil {
			why += ", until " + g.Until.Local().Format("15:04:05")
		}
		return true, why
	}
	return false, ""
}

func (a *app) tellPlan(p planShape) error {
	n := 0
	rows := make([][]cell, 0, len(p.Items))
	for _, c := range p.Items {
		colour := dim
		switch c.Change {
		case "start":
			colour = green
		case "restart", "wait":
			colour = yellow
		case "stop", "fail":
			colour = red
		}
		if c.Change != "none" && c.Change != "wait" {
			n++
		}
		rows = append(rows, []cell{{c.Change, colour}, {c.Agent, bold}, plainCell(c.Reason)})
	}
	if len(rows) > 0 {
		if err := a.table(a.out, a.columns(), []string{"CHANGE", "AGENT", "WHY"}, rows); err != nil {
			return err
		}
		a.sayf("")
	}
	switch {
	case p.InForce != "" && p.InForce == p.Revision:
		a.sayf("%s; configuration %s is in force", counted(n, "change"), p.Revision)
	case p.InForce != "":
		a.sayf("%s; configuration %s on disk, %s in force", counted(n, "change"), p.Revision, p.InForce)
	default:
		a.sayf("%s; configuration %s, no controller runs", counted(n, "change"), p.Revision)
	}
	return nil
}
