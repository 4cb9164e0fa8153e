package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

func (a *app) statusCommand() *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: "status", Short: "How the city stands, agent by agent", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return a.watchStatus(cmd.Context())
			}
			return a.status(cmd.Context())
		},
	}
	c.Flags().BoolVarP(&watch, "watch", "w", false, "show it again whenever something changed")
	return c
}

func (a *app) status(ctx context.Context) error {
	l, err := a.open(ctx)
	if exit.IsSilent(err) {
		dir, noCity := a.cityDir()
		return cmp.Or(noCity, a.statusOfFiles(ctx, dir))
	}
	if err != nil {
		return err
	}
	defer l.close()
	soon, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	if !l.live {
		soon = ctx
	}
	s, err := statusSnapshot(soon, l)
	if l.live && err != nil && ctx.Err() == nil && (soon.Err() != nil || exit.IsSilent(err)) {
		return a.statusOfFiles(ctx, l.dir)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(a.statusShape(s))
	}
	if err := a.writeStatus(a.Out, s, l.live); err != nil || l.live {
		return err
	}
	if why := a.notRun(ctx, l.dir); why != "" {
		a.Sayf("\n%s%s", a.Paint(output.Yellow, "! "), output.SafeLine(why))
	}
	return nil
}

// statusSnapshot asks for no more than status prints, where the city can answer that.
func statusSnapshot(ctx context.Context, l *link) (*city.Snapshot, error) {
	if b, ok := l.Control.(interface {
		BriefSnapshot(context.Context) (*city.Snapshot, error)
	}); ok {
		return b.BriefSnapshot(ctx)
	}
	return l.Snapshot(ctx)
}

// watchStatus shows every new snapshot: in place on a terminal, one after the other elsewhere.
func (a *app) watchStatus(ctx context.Context) error {
	ctx, quiet := interruptible(ctx)
	defer quiet()
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	for s, err := range l.Snapshots(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case a.JSON:
			err = a.WriteJSONLine(a.statusShape(s))
		case a.OutTTY:
			var b strings.Builder
			if err = a.writeStatus(&b, s, l.live); err == nil {
				_, err = io.WriteString(a.Out, "\x1b[H\x1b[2J"+b.String())
			}
		default:
			if err = a.writeStatus(a.Out, s, l.live); err == nil {
				_, err = fmt.Fprintln(a.Out)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeStatus draws a snapshot: the city in two lines, what is wrong, and tables: the agents, those in need first, and
// pools and rigs if there are any.
func (a *app) writeStatus(w io.Writer, s *city.Snapshot, live bool) error {
	lines := []string{a.headline(s, live), a.Paint(output.Dim, strings.Join(summary(s), " · ")), ""}
	for _, trouble := range a.troubles(s) {
		lines = append(lines, a.Paint(output.Yellow, "! ")+trouble)
	}
	if len(lines) > 3 {
		lines = append(lines, "")
	}
	if len(s.Agents) == 0 && len(s.Pools) == 0 {
		lines = append(lines, "no agents yet: add an [[agents]] table with a name and a start_command to city.toml")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return a.sections(w,
		section{len(s.Agents) > 0, func() error { return a.writeAgents(w, s.Agents) }},
		section{len(s.Pools) > 0, func() error { return a.writePools(w, s.Pools) }},
		section{len(s.Rigs) > 0, func() error { return a.writeRigs(w, s.Rigs) }},
	)
}

// section is a part of what is written, if there is anything to write.
type section struct {
	any   bool
	write func() error
}

// sections writes parts with a blank line between them.
func (a *app) sections(w io.Writer, parts ...section) error {
	parts = slices.DeleteFunc(parts, func(p section) bool { return !p.any })
	for i, p := range parts {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := p.write(); err != nil {
			return err
		}
	}
	return nil
}

// summary is what is to be known of a city besides its state: its folder, its configuration, what it takes.
func summary(s *city.Snapshot) []string {
	out := []string{output.SafeLine(s.Path), "config " + s.Config.Revision}
	if s.API != "" {
		text := "api http://" + output.SafeLine(s.API)
		if s.APIToken != "" {
			text += " (token in " + output.SafeLine(s.APIToken) + ")"
		}
		out = append(out, text)
	}
	if s.Work.Open+s.Work.InProgress > 0 {
		out = append(out, fmt.Sprintf("work: %d open, %d in progress", s.Work.Open, s.Work.InProgress))
	}
	if s.Mail.Unread > 0 {
		out = append(out, fmt.Sprintf("mail: %d unread", s.Mail.Unread))
	}
	if text := automationCount(s); text != "" {
		out = append(out, text)
	}
	if text := watchdogCount(s); text != "" {
		out = append(out, text)
	}
	if sum, measured := total(s); measured {
		out = append(out, takes(sum))
	}
	return out
}

// automationCount is "4 automations: 1 broken, 1 failing", "" if there are none.
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
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{states[city.AutomationBroken], "broken"}, {failing, "failing"}, {states[city.AutomationRunning], "running"}, {states[city.AutomationDue], "due"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	text := output.Counted(len(s.Automations), "automation")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

// total is what all agents together take.
func total(s *city.Snapshot) (sum city.Usage, measured bool) {
	for i := range s.Agents {
		if u := s.Agents[i].Usage; u != nil {
			sum.CPU, sum.RSS, sum.Procs, measured = sum.CPU+u.CPU, sum.RSS+u.RSS, sum.Procs+u.Procs, true
		}
	}
	return sum, measured
}

func (a *app) headline(s *city.Snapshot, live bool) string {
	how := a.Paint(output.Yellow, "no controller runs")
	if live {
		how = fmt.Sprintf("%s, pid %d, up %s, turned %s ago", s.Mode, s.PID, a.Age(s.Started), output.Span(s.Patrol.Age(a.Now())))
	}
	if s.ShutDown {
		how += " · " + a.Paint(output.Yellow, "stopping")
		if s.Ending != nil {
			how += " since " + a.Clock(s.Ending.Since) + ", until " + a.Clock(s.Ending.Until) + " at most"
		}
	}
	if s.Suspended {
		how += " · " + a.Paint(output.Yellow, "suspended")
	}
	return a.Paint(output.Bold, output.SafeLine(s.Name)) + " · " + output.HeadCount(s) + " · " + how
}

// troubles are the things about the city as a whole that need a person, each in a line that is safe.
func (a *app) troubles(s *city.Snapshot) []string {
	var out []string
	if s.Config.Rejected != "" {
		text := "the configuration on disk is not in force: " + s.Config.Rejected
		if strings.Contains(strings.TrimSpace(s.Config.Rejected), "\n") {
			text = output.SafeLead(text) + "; `gcity doctor` lists them"
		}
		out = append(out, text)
	}
	if h := s.Config.Held; h != nil {
		out = append(out, fmt.Sprintf("the configuration on disk (%s) is held since %s: %s; "+
			"`gcity reload --confirm` lets it come into force, `gcity plan` shows it", h.Revision, a.Clock(h.Since), output.Loss(h.Removes, h.Running)))
	}
	if s.Ending != nil {
		for _, what := range s.Ending.Waits {
			out = append(out, "the stop waits: "+what)
		}
	}
	out = append(out, s.Degraded...)
	out = append(out, s.StrandedLines()...)
	out = append(out, a.calls(s)...)
	for _, w := range s.Config.Warnings {
		out = append(out, "warning: "+w)
	}
	if p := s.Patrol; p.Interval > 0 && !p.Last.IsZero() && p.Age(a.Now()) > 3*p.Interval {
		out = append(out, fmt.Sprintf("the loop has not turned for %s (patrol every %s): `gcity doctor`", output.Span(p.Age(a.Now())), p.Interval))
	}
	for i := range out {
		out[i] = output.SafeLead(out[i])
	}
	return out
}

// usageWidth is how wide a terminal must be for the figures of what each agent takes.
const usageWidth = 100

// writeAgents writes a table of agents, those in need first. What they take stands there if it was measured and there is
// room for it.
func (a *app) writeAgents(w io.Writer, agents []city.Agent) error {
	width := a.Columns()
	head := []string{"STATE", "AGENT", "SINCE", "CPU", "MEM", "PID", "WHY"}
	rows := make([][]output.Cell, 0, len(agents))
	for _, g := range byNeed(agents) {
		rows = append(rows, []output.Cell{
			output.Tinted(string(g.State), output.StateColour(g.State)), output.Tinted(g.Name, output.Bold), output.Tinted(a.Age(g.Since), ""), output.Plain(output.Percent(g.Usage)),
			output.Plain(output.Memory(g.Usage)), output.Tinted(pid(&g), output.Dim), output.Plain(a.because(&g)),
		})
	}
	measured := slices.ContainsFunc(agents, func(g city.Agent) bool { return g.Usage != nil })
	if measured && (width == 0 || width >= usageWidth) {
		output.FlushRight(head, rows, 3, 4)
	} else {
		head = slices.Delete(head, 3, 5)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], 3, 5)
		}
	}
	return a.Table(w, width, head, rows)
}

// byNeed orders a copy of a list: the most urgent state first, in it who is stuck, then by name, worker-2 before worker-10.
func byNeed(agents []city.Agent) []city.Agent {
	agents = slices.Clone(agents)
	slices.SortStableFunc(agents, func(x, y city.Agent) int {
		return cmp.Or(x.State.Urgency()-y.State.Urgency(), stuckFirst(&x, &y), city.CompareNames(x.Name, y.Name))
	})
	return agents
}

func pid(g *city.Agent) string {
	if g.PID == 0 {
		return ""
	}
	return fmt.Sprint(g.PID)
}

// because is an agent's reason with everything that belongs beside it.
func (a *app) because(g *city.Agent) string {
	parts := []string{g.Reason}
	if g.State == city.Running && slices.Contains([]string{"", "declared at " + g.Source, "member of pool " + g.Pool}, g.Reason) {
		parts[0] = cmp.Or(g.Description, g.Reason) // that it is declared goes without saying
	}
	if g.Until != nil {
		parts = append(parts, "until "+a.Clock(*g.Until))
	}
	switch d := g.Drain; {
	case d == nil:
	case d.Acked:
		parts = append(parts, "it says that it has finished")
	case d.Deadline == nil:
		parts = append(parts, "no deadline")
	case g.Until == nil:
		parts = append(parts, "deadline "+a.Clock(*d.Deadline))
	}
	if g.AwaitsGate != "" {
		parts = append([]string{city.AwaitingGate + " " + g.AwaitsGate}, parts...)
	}
	if g.Stuck != nil {
		parts = append([]string{a.stuck(g.Stuck)}, parts...)
	}
	if g.Frozen {
		parts = append(parts, "stopped by SIGSTOP")
	}
	if len(g.Drift) > 0 && !strings.Contains(g.Reason, "held back") {
		parts = append(parts, "restart held back: "+strings.Join(g.Drift, ", "))
	}
	if g.Session != nil && g.Session.Attached {
		parts = append(parts, "attached")
	}
	if g.Restarts > 0 {
		parts = append(parts, output.Counted(g.Restarts, "restart"))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " · ")
}
