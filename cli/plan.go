package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/pool"
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
	Change string   `json:"change"` // "start", "stop", "drain", "restart", "fail", "wait", "none"
	Reason string   `json:"reason,omitempty"`
	Fields []string `json:"fields,omitempty"` // that differ from what the session was started with
}

type planShape struct {
	list[change]
	Revision string     `json:"revision"`           // of the configuration on disk
	InForce  string     `json:"in_force,omitempty"` // the running controller's, if one runs
	Held     *heldShape `json:"held,omitempty"`     // it would not come into force without a word
}

// heldShape says why a configuration needs somebody's word.
type heldShape struct {
	Removes []string   `json:"removes"`
	Running int        `json:"running"`
	Since   *time.Time `json:"since,omitempty"` // it waits already
}

// sight is what a plan is made of.
type sight struct {
	wants     []agent.Want
	pools     []agent.Pool
	overrides map[string]int
	sessions  []session.Status
	running   *city.Snapshot // nil where no controller runs
	clock     func(time.Time) string
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
	v := sight{wants: plan(c, dir), pools: poolPlan(c, dir), clock: a.clock}
	if v.sessions, err = provider.List(ctx); err != nil {
		return fmt.Errorf("cannot list the sessions of %s: %w", dir, err)
	}
	if v.overrides, err = config.Overrides(dir); err != nil {
		return err
	}
	l, err := a.reach(ctx, dir)
	if err != nil {
		return err
	}
	defer l.close()
	out := planShape{Revision: short(c.Revision)}
	if l.live {
		if v.running, err = l.Snapshot(ctx); err != nil {
			return err
		}
		out.InForce = v.running.Config.Revision
		if c.Workspace.Name != v.running.Name {
			return &failure{exitConfig, fmt.Errorf("the controller refuses this configuration: workspace.name is %q, and the running city keeps its name %q", c.Workspace.Name, v.running.Name)}
		}
		if out.InForce != out.Revision {
			out.Held = v.held(out.Revision)
		}
	}
	out.list = listOf(changes(v))
	if a.json {
		return a.writeJSON(out)
	}
	return a.tellPlan(out)
}

// held says whether the running controller would hold this configuration, since it has most of the running agents no
// longer.
func (v sight) held(revision string) *heldShape {
	wanted := map[string]bool{}
	for _, w := range v.wants {
		wanted[w.Name] = true
	}
	out := heldShape{Removes: []string{}}
	for i := range v.running.Agents {
		g := &v.running.Agents[i]
		if !g.Running || g.Source == "" { // whom nobody declares, nothing can remove
			continue
		}
		out.Running++
		if !wanted[g.Name] {
			out.Removes = append(out.Removes, g.Name)
		}
	}
	if 2*len(out.Removes) <= out.Running {
		return nil
	}
	if h := v.running.Config.Held; h != nil && h.Revision == revision {
		out.Since = &h.Since
	}
	return &out
}

// changes compares what should run with what does.
func changes(v sight) []change {
	alive := map[string]session.Status{}
	for _, st := range v.sessions {
		if st.Alive {
			alive[st.Agent] = st
		}
	}
	sizes := v.sizes(alive)
	var out []change
	for _, w := range v.wants {
		st, lives := alive[w.Name]
		delete(alive, w.Name)
		size, ofPool := sizes[w.Pool]
		surplus := ofPool && w.Index > size
		switch {
		case surplus && lives && w.Suspended == "":
			out = append(out, change{Agent: w.Name, Change: "drain", Reason: fmt.Sprintf("pool %s wants %d", w.Pool, size)})
		case !surplus || lives:
			out = append(out, v.change(w, st, lives))
		}
	}
	for name := range alive {
		c := change{Agent: name, Change: "stop", Reason: "not in the configuration"}
		if p := v.formerPool(name); p != "" {
			c.Change, c.Reason = "drain", "no longer a member of pool "+p
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(x, y change) int { return city.CompareNames(x.Agent, y.Agent) })
	return out
}

// formerPool is the pool whose member somebody was who is declared no more, "" if it was in none.
func (v sight) formerPool(name string) string {
	if v.running != nil {
		if g, ok := v.running.Agent(name); ok && g.Pool != "" {
			return g.Pool
		}
	}
	for _, p := range v.pools {
		if (pool.Spec{Name: p.Name, Max: math.MaxInt}).Index(name) > 0 {
			return p.Name
		}
	}
	return ""
}

// sizes is how many members each pool would want: what was set by hand, else what it wants now, else as many as live.
func (v sight) sizes(alive map[string]session.Status) map[string]int {
	out := map[string]int{}
	for _, p := range v.pools {
		n, byHand := v.overrides[p.Name]
		if v.running != nil && !byHand {
			if q, ok := v.running.Pool(p.Name); ok {
				n = q.Desired
			}
		} else if !byHand {
			for name, st := range alive {
				if p.Index(name) > 0 && !st.Drain.On() {
					n++
				}
			}
		}
		out[p.Name] = p.Size(n)
	}
	return out
}

// change is what becomes of one agent that is wanted, or suspended.
func (v sight) change(w agent.Want, st session.Status, lives bool) change {
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
		if back, why := v.heldBack(w.Name); back {
			c.Change, c.Reason = "wait", why
		}
	}
	return c
}

// heldBack says whether a running controller has its own reason not to start an agent now.
func (v sight) heldBack(name string) (bool, string) {
	if v.running == nil {
		return false, ""
	}
	g, ok := v.running.Agent(name)
	if !ok {
		return false, ""
	}
	switch g.State {
	case city.Quarantined, city.Backoff, city.Exited, city.Waiting, city.Failed, city.Starting:
		why := string(g.State) + ": " + g.Reason
		if g.Until != nil {
			why += ", until " + v.clock(*g.Until)
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
		case "restart", "wait", "drain":
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
	if h := p.Held; h != nil {
		would := "would be held"
		if h.Since != nil {
			would = "is held since " + a.clock(*h.Since)
		}
		a.sayf("%s %s: %s; `gcity reload --confirm` lets it come into force", a.paint(yellow, "!"), would, safeLine(loss(h.Removes, h.Running)))
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
