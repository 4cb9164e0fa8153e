package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/events"
)

func (a *app) whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why [AGENT]", Short: "Why an agent is as it is: state, reason, until when, what was decided", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.why(cmd.Context(), args) },
	}
}

// whyShape is the answer of why: the agent as the API gives it, and the newest events about it.
type whyShape struct {
	city.Agent
	Controller bool           `json:"controller"` // one runs
	Events     []events.Event `json:"events"`
}

func (a *app) why(ctx context.Context, args []string) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	name, err := a.self(args)
	if err != nil {
		return err
	}
	_, g, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	past, err := l.History(ctx, events.Query{Subject: g.Name, Limit: 8})
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(whyShape{Agent: *g, Controller: l.live, Events: listOf(past).Items})
	}
	a.sayf("%s", a.standing(g))
	a.facts(g, l.live)
	if len(g.Decisions) > 0 {
		a.sayf("\ndecided lately")
		for _, d := range g.Decisions {
			a.sayf("  %s  %-11s %s", a.clock(d.At), safeLine(d.What), safeLine(d.Why))
		}
	}
	if len(past) > 0 {
		a.sayf("\nhappened lately")
		for _, e := range inOrder(past) {
			a.sayf("  %s", safeLine(eventLine(e)))
		}
	}
	return nil
}

// standing is an agent's state in a sentence.
func (a *app) standing(g *city.Agent) string {
	return fmt.Sprintf("%s is %s since %s (%s)", a.paint(bold, safeLine(g.Name)), a.paint(stateColour(g.State), string(g.State)),
		a.clock(g.Since), a.age(g.Since))
}

// facts writes what is known of an agent, one fact a line.
func (a *app) facts(g *city.Agent, live bool) {
	fact := func(label, text string) {
		if text != "" {
			a.sayf("  %s %s", a.paint(dim, fmt.Sprintf("%-9s", label)), safeLine(text))
		}
	}
	fact("because", g.Reason)
	if g.Until != nil {
		fact("until", fmt.Sprintf("%s (in %s)", a.clock(*g.Until), span(g.Until.Sub(a.now()))))
	}
	if !live {
		fact("city", "no controller runs: nothing is started or restarted until one does")
	}
	if len(g.Drift) > 0 {
		fact("drift", "a restart is held back: "+strings.Join(g.Drift, ", "))
	}
	if g.Exit != nil {
		fact("last end", a.ending(g.Exit))
	}
	if g.Crashes > 0 {
		fact("crashes", fmt.Sprintf("%d within the restart window", g.Crashes))
	}
	if g.Restarts > 0 {
		fact("restarts", fmt.Sprint(g.Restarts))
	}
	if g.Session != nil {
		fact("session", fmt.Sprintf("%s, pid %d, started %s", g.Session.Name, g.PID, a.clock(g.Session.Started)))
	}
	fact("command", g.Command)
	fact("folder", g.Dir)
	fact("declared", g.Source)
}

func exitText(code int, signal string) string {
	if signal != "" {
		return signal
	}
	if code < 0 {
		return "exit code unknown"
	}
	return fmt.Sprintf("exit %d", code)
}

func (a *app) ending(e *city.Exit) string {
	how := exitText(e.Code, e.Signal) + fmt.Sprintf(" at %s after %s", a.clock(e.At), e.Uptime.Round(time.Second/10))
	if e.File != "" {
		how += ", its output is kept in " + e.File
	}
	return how
}
