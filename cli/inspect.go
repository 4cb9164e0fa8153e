package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/output"
)

// shownShape is an agent with all that is known of it.
type shownShape struct {
	output.AgentShape
	Inspection *city.Inspection `json:"inspection"`
}

// agentShown writes everything known about an agent.
func (a *app) agentShown(ctx context.Context, l *link, name string, secrets bool) error {
	s, g, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	about, err := l.Inspect(ctx, g.Name)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(shownShape{output.ShapeOf(*g), about})
	}
	if secrets {
		if err := a.reveal(g, about); err != nil {
			return err
		}
	}
	a.Sayf("%s", a.standing(g))
	if g.Description != "" {
		a.Sayf("  %s", output.SafeLine(g.Description))
	}
	a.agentFacts(s, g, l.live)
	a.specFacts(about.Spec)
	a.driftFacts(about.Drift)
	a.envFacts(about.Env)
	if about.Prompt != "" {
		a.Sayf("\nprompt%s", promptFrom(about))
		a.Sayf("%s", output.SafeText(about.Prompt))
	}
	a.crashFacts(about.Crashes)
	for _, p := range about.Problems {
		a.Sayf("\n%s %s", a.Paint(output.Yellow, "!"), output.SafeLine(p))
	}
	return nil
}

// promptFrom says where a prompt comes from, and how it goes in.
func promptFrom(about *city.Inspection) string {
	how := map[string]string{"arg": ", as an argument", "flag": strings.TrimRight(", behind the flag "+output.SafeLine(about.PromptFlag), " "), "typed": ", typed once it is ready", "none": ", which it has to ask for"}[about.PromptMode]
	if about.PromptFile == "" {
		return how
	}
	return " of " + output.SafeLine(about.PromptFile) + how
}

// specFacts writes how an agent is started and restarted, as far as agentFacts does not.
func (a *app) specFacts(s *city.Spec) {
	if s == nil {
		return
	}
	if s.Found {
		a.Fact("program", s.Program+", the first that was found")
	} else {
		a.Fact("program", s.Program)
	}
	a.Fact("provider", s.Provider)
	if s.Limits != "" {
		a.Fact("", "it "+s.Limits)
	}
	a.Fact("terminal", fmt.Sprintf("%dx%d", s.Cols, s.Rows))
	for _, line := range s.PreStart {
		a.Fact("before", line)
	}
	for _, line := range s.Setup {
		a.Fact("setup", line)
	}
	a.Fact("setup", s.SetupScript)
	a.Fact("overlay", s.Overlay)
	a.Fact("hooks", strings.Join(s.Hooks, ", "))
	a.Fact("ready", readyText(s))
	a.Fact("types", s.Nudge)
	a.Fact("restart", restartText(&s.Restart))
	if s.Strategy != "" && s.Strategy != "one_for_one" {
		a.Fact("strategy", s.Strategy)
	}
}

// readyText says when an agent counts as running, "" = at once.
func readyText(s *city.Spec) string {
	if s.ReadyLimit <= 0 {
		return ""
	}
	var parts []string
	if s.ReadyPrefix != "" {
		parts = append(parts, fmt.Sprintf("when a line begins with %q", s.ReadyPrefix))
	}
	if s.ReadyDelay > 0 {
		parts = append(parts, "after "+output.Exact(s.ReadyDelay))
	}
	return strings.Join(parts, " or ") + ", within " + output.Exact(s.ReadyLimit)
}

// restartText says what follows an agent's ends.
func restartText(p *city.RestartPolicy) string {
	if p.Mode == "never" {
		return "never"
	}
	text := p.Mode
	if p.Mode == "always" && p.MinUptime > 0 {
		text += fmt.Sprintf("; an end within %s is a crash", output.Exact(p.MinUptime))
	}
	if p.MaxRestarts > 0 {
		text += fmt.Sprintf("; quarantine at crash %d within %s", p.MaxRestarts+1, output.Exact(p.Window))
	}
	switch first, most := p.Waits(); {
	case first > 0 && first < most:
		text += fmt.Sprintf("; waits %s, doubling up to %s", output.Exact(first), output.Exact(most))
	case first > 0:
		text += "; waits " + output.Exact(first)
	}
	return text
}

// driftFacts writes, field by field, what runs and what is wanted.
func (a *app) driftFacts(all []city.Difference) {
	if len(all) == 0 {
		return
	}
	a.Sayf("\nnot as configured")
	for _, d := range all {
		a.Sayf("  %s %s", a.Paint(output.Yellow, output.SafeLine(d.Field)), output.SafeLine(d.What))
		if d.Hidden {
			continue
		}
		if d.RunsUnknown {
			a.Fact("runs", "not known: of it only a fingerprint is kept")
		} else {
			a.Fact("runs", d.Runs)
		}
		a.Fact("wants", d.Wants)
	}
}

// envFacts writes an environment, what the configuration names first.
func (a *app) envFacts(env []city.Variable) {
	titles := map[city.Origin]string{
		city.FromConfig: "environment from the configuration", city.FromCity: "environment from the city", city.FromInherited: "environment as the controller's own",
	}
	for _, from := range []city.Origin{city.FromConfig, city.FromCity, city.FromInherited} {
		title := titles[from]
		for _, v := range env {
			if v.From != from {
				continue
			}
			if title != "" {
				a.Sayf("\n%s", title)
				title = ""
			}
			value := v.Value
			if v.Hidden {
				value = a.Paint(output.Dim, "(hidden)")
			} else {
				value = output.SafeLine(value)
			}
			a.Sayf("  %s=%s", output.SafeLine(v.Name), value)
		}
	}
}

// crashFacts writes how an agent ended when nobody asked for it, with its last lines.
func (a *app) crashFacts(all []city.Crash) {
	if len(all) == 0 {
		return
	}
	const lines = 3
	times := make([]time.Time, len(all))
	for i := range all {
		times[i] = all[i].At
	}
	stamp := a.Stamps(times)
	a.Sayf("\ncrashes, the newest first")
	for i := range all {
		c := &all[i]
		what := output.SafeLine(c.Why)
		if c.NoStart {
			what = "not started: " + what
		}
		a.Sayf("  %s  %s", stamp(c.At), a.Paint(output.Red, what))
		said := strings.Split(strings.TrimSpace(c.Output), "\n")
		for _, line := range said[max(0, len(said)-lines):] {
			if line = output.SafeLine(line); line != "" {
				a.Sayf("      %s", a.Paint(output.Dim, line))
			}
		}
		if c.File != "" {
			a.Sayf("      kept in %s", output.SafeLine(c.File))
		}
	}
}
