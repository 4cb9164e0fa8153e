package tui

import (
	"fmt"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/feed"
)

func builderInspection() *city.Inspection {
	in := scoutInspection()
	in.Agent, in.Drift, in.Crashes, in.Env = "builder", nil, nil, nil
	in.PromptFile, in.PromptMode = "/srv/bright-lights/prompts/builder.md.tmpl", "typed"
	in.Prompt = "You are builder, in /srv/bright-lights.\n\nLook for work with `gc hook`, and close what is done.\n"
	for i := range 20 {
		in.Prompt += fmt.Sprintf("Rule %d: \x1b[31mno paint\x1b[m on the floor.\n", i+1)
	}
	return in
}

// The details show the beginning of an agent's prompt, and p shows the whole prompt.
func TestPromptOfAnAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("d")
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: builderInspection()}}})
	all := strings.Join(s.m.Dialogs.Reader().Lines(100), "\n")
	if !strings.Contains(all, "You are builder") || !strings.Contains(all, "more lines; p shows the whole prompt") || strings.Contains(all, "Rule 20") || strings.Contains(all, "\x1b[31mno") {
		t.Errorf("the details are\n%s", all)
	}
	s.press("p")
	s.shows("prompt of builder", "Rule 20: no paint", "prompts/builder.md.tmpl", "typed when the agent is ready")
	s.press("esc", "esc")
	s.line("prompt", "enter")
	s.shows("prompt of builder", "loading")
	bare := builderInspection()
	bare.Prompt = ""
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.m.Requests, Inspection: bare}}})
	s.shows("This agent starts without a prompt.")
	s.change(func(n *city.Snapshot) { n.Config.Revision = "ffffffffffff" })
	s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.m.Requests, Problem: "the city did not respond"}}})
	s.shows("The prompt is not available: the city did not respond")
	s.change(func(n *city.Snapshot) { n.Agents = n.Agents[1:] })
	s.shows("This agent is no longer part of the city.")
}

// At 80x24, the details show how an agent starts.
func TestStartOfAnAgent(t *testing.T) {
	for _, c := range []struct {
		edit func(*city.Inspection)
		want []string
	}{
		{func(in *city.Inspection) {}, []string{"prompt      none"}},
		{func(in *city.Inspection) {
			in.Spec.Program, in.Spec.Found, in.PromptMode = "claude", true, "arg"
			in.PromptFile = "/srv/bright-lights/prompts/scout.md.tmpl"
			in.Spec.Overlay, in.Spec.Hooks = "/srv/bright-lights/overlays/scout", []string{"claude", "gemini"}
		}, []string{"program     claude, the first one found on this host", "prompt      prompts/scout.md.tmpl, as the last argument",
			"overlay     files from overlays/scout, copied to the agent's folder", "hooks       files for claude, gemini, copied to the agent's folder"}},
		{func(in *city.Inspection) {
			in.Spec.Program, in.PromptFile, in.PromptMode, in.PromptFlag = "codex", "/opt/prompts/scout.md", "flag", "--say"
		}, []string{"program     codex", "prompt      /opt/prompts/scout.md, as the argument of the flag --say"}},
		{func(in *city.Inspection) { in.PromptFile, in.PromptMode = "/opt/p.md", "none" }, []string{"prompt      /opt/p.md, not passed; the agent can request it with `gc prime`"}},
	} {
		s := demo(t, 80, 24)
		s.choose("scout")
		s.press("d")
		in := scoutInspection()
		c.edit(in)
		s.hear(feed.News{Inspected: []feed.Inspected{{ID: s.asked().ID, Inspection: in}}})
		seen := s.text()
		for range 8 {
			s.press("ctrl+d")
			seen += s.text()
		}
		for _, want := range c.want {
			if !strings.Contains(seen, want) {
				t.Errorf("%q is not in\n%s", want, seen)
			}
		}
	}
}
