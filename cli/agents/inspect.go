package agents

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/describe"
)

type shownShape struct {
	output.AgentShape
	Inspection *city.Inspection `json:"inspection"`
}

func agentPID(ctx context.Context, e *env.Env, l *env.Link, name string) error {
	_, g, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	if g.PID == 0 {
		return fmt.Errorf("agent %s has no process: it is not running (%s)", g.Name, g.Reason)
	}
	return e.Result(g.PID, "%d", g.PID)
}

func agentShown(ctx context.Context, e *env.Env, l *env.Link, name string, secrets bool) error {
	s, g, err := l.Find(ctx, name)
	if err != nil {
		return err
	}
	about, err := l.Inspect(ctx, g.Name)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.WriteJSON(shownShape{output.ShapeOf(*g), about})
	}
	if secrets {
		if err := env.Reveal(e, g, about); err != nil {
			return err
		}
	}
	e.Sayf("%s", standing(e, g))
	if g.Description != "" {
		e.Sayf("  %s", output.SafeLine(g.Description))
	}
	agentFacts(e, s, g, l)
	specFacts(e, about.Spec)
	driftFacts(e, about.Drift)
	envFacts(e, about.Env)
	if about.Prompt != "" {
		e.Sayf("\nprompt%s", promptFrom(about))
		e.Sayf("%s", output.SafeText(about.Prompt))
	}
	crashFacts(e, about.Crashes)
	for _, p := range about.Problems {
		e.Sayf("\n%s %s", e.Paint(output.Yellow, "!"), output.SafeLine(p))
	}
	return nil
}

func promptFrom(about *city.Inspection) string {
	how := map[string]string{"arg": ", as an argument",
		"flag":  strings.TrimRight(", after the flag "+output.SafeLine(about.PromptFlag), " "),
		"typed": ", typed once the agent is ready",
		"none":  ", which the agent requests with `gc prime`"}[about.PromptMode]
	if about.PromptFile == "" {
		return how
	}
	return " from " + output.SafeLine(about.PromptFile) + how
}

func specFacts(e *env.Env, s *city.Spec) {
	if s == nil {
		return
	}
	if s.Found {
		e.Fact("program", s.Program+", the first agent program found")
	} else {
		e.Fact("program", s.Program)
	}
	e.Fact("provider", s.Provider)
	if s.Limits != "" {
		e.Fact("", "it "+s.Limits)
	}
	e.Fact("terminal", fmt.Sprintf("%dx%d while no user is attached", s.Cols, s.Rows))
	for _, line := range s.PreStart {
		e.Fact("before", line)
	}
	for _, line := range s.Setup {
		e.Fact("setup", line)
	}
	e.Fact("setup", s.SetupScript)
	e.Fact("overlay", s.Overlay)
	e.Fact("hooks", strings.Join(s.Hooks, ", "))
	if s.ReadyLimit > 0 {
		e.Fact("ready", describe.Ready(s))
	}
	e.Fact("types", s.Nudge)
	e.Fact("restart", describe.Restart(&s.Restart))
	if s.Strategy != "" && s.Strategy != "one_for_one" {
		e.Fact("strategy", s.Strategy)
	}
}

func driftFacts(e *env.Env, all []city.Difference) {
	if len(all) == 0 {
		return
	}
	e.Sayf("\ndifferences from the configuration")
	for _, d := range all {
		e.Sayf("  %s %s", e.Paint(output.Yellow, output.SafeLine(d.Field)), output.SafeLine(d.What))
		if d.Hidden {
			continue
		}
		if d.RunsUnknown {
			e.Fact("runs", describe.Unrecorded)
		} else {
			e.Fact("runs", d.Runs)
		}
		e.Fact("wants", d.Wants)
	}
}

func envFacts(e *env.Env, env []city.Variable) {
	for _, group := range describe.Environment(env) {
		e.Sayf("\n%s", group.Title)
		for _, v := range group.All {
			value := v.Value
			if v.Hidden {
				value = e.Paint(output.Dim, "(hidden)")
			} else {
				value = output.SafeLine(value)
			}
			e.Sayf("  %s=%s", output.SafeLine(v.Name), value)
		}
	}
}

func crashFacts(e *env.Env, all []city.Crash) {
	if len(all) == 0 {
		return
	}
	const lines = 3
	times := make([]time.Time, len(all))
	for i := range all {
		times[i] = all[i].At
	}
	stamp := e.Stamps(times)
	e.Sayf("\ncrashes, newest first")
	for i := range all {
		c := &all[i]
		what := output.SafeLine(c.Why)
		if c.NoStart {
			what = describe.NotStarted(what)
		}
		e.Sayf("  %s  %s", stamp(c.At), e.Paint(output.Red, what))
		said := strings.Split(strings.TrimSpace(c.Output), "\n")
		for _, line := range said[max(0, len(said)-lines):] {
			if line = output.SafeLine(line); line != "" {
				e.Sayf("      %s", e.Paint(output.Dim, line))
			}
		}
		if c.File != "" {
			e.Sayf("      stored in %s", output.SafeLine(c.File))
		}
	}
}
