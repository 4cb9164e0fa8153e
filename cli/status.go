package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/agents"
	"gcity/cli/doctor"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/describe"
)

func statusCommand(e *env.Env) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "status", Short: "Show the state of the city and its agents",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchStatus(cmd.Context(), e)
			}
			return status(cmd.Context(), e)
		},
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "print the status again after each change")
	return c
}

func status(ctx context.Context, e *env.Env) error {
	err := statusOnce(ctx, e)
	if exit.IsNotRunning(err) || exit.IsInterrupted(err) {
		// the controller exited during the request
		err = statusOnce(ctx, e)
	}
	return err
}

func statusOnce(ctx context.Context, e *env.Env) error {
	l, err := e.Open(ctx)
	if exit.IsSilent(err) {
		dir, noCity := e.CityDir()
		return cmp.Or(noCity, statusOfFiles(ctx, e, dir))
	}
	if err != nil {
		return err
	}
	defer l.Close()
	soon, cancel := context.WithTimeout(ctx, snapshotTimeout)
	defer cancel()
	if !l.Live {
		soon = ctx
	}
	s, err := folder.BriefSnapshot(soon, l.Control)
	if l.Live && err != nil && ctx.Err() == nil && (soon.Err() != nil || exit.IsSilent(err)) {
		return statusOfFiles(ctx, e, l.Dir)
	}
	if err != nil {
		return err
	}
	if e.JSON {
		return e.WriteJSON(env.StatusShape(e, s))
	}
	if err := writeStatus(e, e.Out, s, l); err != nil || l.Live {
		return err
	}
	if why := doctor.NotRun(ctx, e, l.Dir); why != "" {
		e.Sayf("\n%s%s", e.Paint(output.Yellow, "! "), output.SafeLine(why))
	}
	return nil
}

func watchStatus(ctx context.Context, e *env.Env) error {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return e.Follow(ctx, l, func(ctx context.Context, l *env.Link) error {
		for s, err := range l.Snapshots(ctx) {
			switch {
			case ctx.Err() != nil:
				return nil
			case err != nil:
				return err
			case e.JSON:
				err = e.WriteJSONLine(env.StatusShape(e, s))
			case e.OutTTY && e.Getenv("TERM") != "dumb":
				var b strings.Builder
				if err = writeStatus(e, &b, s, l); err == nil {
					_, err = io.WriteString(e.Out, "\x1b[H\x1b[2J"+b.String())
				}
			default:
				if err = writeStatus(e, e.Out, s, l); err == nil {
					_, err = fmt.Fprintln(e.Out)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func writeStatus(e *env.Env, w io.Writer, s *city.Snapshot, l *env.Link) error {
	lines := []string{headline(e, s, l), e.Paint(output.Dim, output.Join(" · ", summary(s)...)),
		""}
	for _, trouble := range troubles(e, s) {
		lines = append(lines, e.Paint(output.Yellow, "! ")+trouble)
	}
	if len(lines) > 3 {
		lines = append(lines, "")
	}
	if len(s.Agents) == 0 && len(s.Pools) == 0 {
		lines = append(lines, "no agents yet: add an [[agents]] table with a name and a "+
			"start_command to city.toml")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return agents.Sections(w,
		agents.Section{Any: len(s.Agents) > 0,
			Write: func() error { return agents.WriteAgents(e, w, s.Agents) }},
		agents.Section{Any: len(s.Pools) > 0,
			Write: func() error { return agents.WritePools(e, w, s.Pools) }},
		agents.Section{Any: len(s.Rigs) > 0,
			Write: func() error { return agents.WriteRigs(e, w, s.Rigs) }},
	)
}

func summary(s *city.Snapshot) []string {
	out := []string{output.SafeLine(s.Path), "config " + cmp.Or(s.Config.Revision, "invalid")}
	if s.API != "" {
		text := "api http://" + output.SafeLine(s.API)
		if s.APIToken != "" {
			text += " (token in " + output.SafeLine(s.APIToken) + ")"
		}
		out = append(out, text)
	}
	if s.Work.Open+s.Work.InProgress > 0 {
		out = append(out, fmt.Sprintf("work: %d open, %d in progress", s.Work.Open,
			s.Work.InProgress))
	}
	if s.Mail.Unread > 0 {
		out = append(out, fmt.Sprintf("mail: %d unread", s.Mail.Unread))
	}
	out = append(out, automationCount(s), agents.WatchdogCount(s))
	if sum, measured := total(s); measured {
		out = append(out, agents.UsageText(sum))
	}
	return out
}

func automationCount(s *city.Snapshot) string {
	states, failing := map[city.AutomationState]int{}, 0
	for i := range s.Automations {
		states[s.Automations[i].State]++
		if s.Automations[i].Failures > 0 {
			failing++
		}
	}
	if len(s.Automations) == 0 {
		return ""
	}
	return output.Tally(describe.Count(len(s.Automations), "automation"), []output.Part{
		{N: states[city.AutomationBroken], What: "broken"}, {N: failing, What: "failing"},
		{N: states[city.AutomationRunning], What: "running"},
		{N: states[city.AutomationDue], What: "due"}}...)
}

func total(s *city.Snapshot) (sum city.Usage, measured bool) {
	for i := range s.Agents {
		if u := s.Agents[i].Usage; u != nil {
			sum.CPU, sum.RSS, sum.Procs, measured = sum.CPU+u.CPU, sum.RSS+u.RSS, sum.Procs+u.Procs,
				true
		}
	}
	return sum, measured
}

func headline(e *env.Env, s *city.Snapshot, l *env.Link) string {
	how := e.Paint(output.Yellow, "no controller is running") + " (" +
		describe.HowToStart + ")"
	switch {
	case l.Held != nil:
		how = e.Paint(output.Yellow, l.Held.Error())
	case l.Live:
		how = fmt.Sprintf("%s, up %s, last pass %s ago", describe.Runner(s.Mode, s.PID),
			e.Age(s.Started), output.Span(s.Patrol.Age(e.Now())))
	}
	if s.ShutDown {
		how += " · " + e.Paint(output.Yellow, "stopping")
		if s.Ending != nil {
			how += " since " + e.Clock(s.Ending.Since) + ", until " + e.Clock(s.Ending.Until) +
				" at the latest"
		}
	}
	if s.Suspended {
		how += " · " + e.Paint(output.Yellow, "suspended")
	}
	return e.Bold(s.Name) + " · " + output.HeadCount(s) + " · " + how
}

func troubles(e *env.Env, s *city.Snapshot) []string {
	var out []string
	if s.Config.Rejected != "" {
		text := "the configuration on disk is not in force: " + s.Config.Rejected
		if s.Config.Trust != "" { // perhaps only a script has changed
			text = "changes on disk wait for your trust: " + s.Config.Rejected
		}
		if strings.Contains(strings.TrimSpace(s.Config.Rejected), "\n") {
			text = output.SafeLead(text) + "; `gcity doctor` lists them"
		}
		out = append(out, text)
	}
	if h := s.Config.Held; h != nil {
		out = append(out, fmt.Sprintf("the configuration on disk (%s) has been held since %s: "+
			"%s; `gcity plan` shows it, and `gcity reload --confirm` applies it", h.Revision,
			e.Clock(h.Since), output.RemovalText(h.Removes, h.Running)))
	}
	if s.Ending != nil {
		for _, what := range s.Ending.Waits {
			out = append(out, "stopping: "+what)
		}
	}
	out = append(out, s.Degraded...)
	out = append(out, s.StrandedLines()...)
	out = append(out, agents.Calls(e, s)...)
	out = append(out, agents.Alerts(s)...)
	out = append(out, agents.FailingPools(s)...)
	out = append(out, agents.FailingAutomations(s)...)
	for _, w := range s.Config.Warnings {
		out = append(out, "warning: "+w)
	}
	if p := s.Patrol; p.Interval > 0 && !p.Last.IsZero() && p.Age(e.Now()) > 3*p.Interval {
		out = append(out, fmt.Sprintf("the controller's loop has not run for %s (patrol_interval "+
			"is %s); run `gcity doctor`", output.Span(p.Age(e.Now())), p.Interval))
	}
	for i := range out {
		out[i] = output.SafeLead(out[i])
	}
	return out
}
