package tui

import (
	"fmt"
	"strings"
	"testing"

	"gcity/city"
)

// builderTold is what is known of an agent with a prompt.
func builderTold() *city.Inspection {
	in := scoutSaid()
	in.Agent, in.Drift, in.Crashes, in.Env = "builder", nil, nil, nil
	in.PromptFile, in.PromptMode = "/srv/bright-lights/prompts/builder.md.tmpl", "typed"
	in.Prompt = "You are builder, in /srv/bright-lights.\n\nLook for work with `gc hook`, and close what is done.\n"
	for i := range 20 {
		in.Prompt += fmt.Sprintf("Rule %d: \x1b[31mno paint\x1b[m on the floor.\n", i+1)
	}
	return in
}

// The details of an agent have the beginning of its prompt, and one key more has all of it; nothing in it paints the screen.
func TestPromptOfAnAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.choose("builder")
	s.press("d")
	s.hear(news{inspected: []inspected{{id: s.asked().id, about: builderTold()}}})
	all := strings.Join(s.m.reader.lines(s.m, 100), "\n")
	if !strings.Contains(all, "You are builder") || !strings.Contains(all, "more lines; p reads all of it") || strings.Contains(all, "Rule 20") || strings.Contains(all, "\x1b[31mno") {
		t.Errorf("the details have\n%s", all)
	}
	s.press("p")
	s.shows("prompt of builder", "Rule 20: no paint", "prompts/builder.md.tmpl", "typed once it is ready")
	s.press("esc")
	s.line("prompt", "enter")
	s.shows("prompt of builder", "asking")
	bare := builderTold()
	bare.Prompt = ""
	s.hear(news{inspected: []inspected{{id: s.m.seeks, about: bare}}})
	s.shows("It is told nothing at its start.")
	s.change(func(n *city.Snapshot) { n.Config.Revision = "ffffffffffff" })
	s.hear(news{inspected: []inspected{{id: s.m.seeks, problem: "the city did not say"}}})
	s.shows("Its prompt cannot be had: the city did not say")
	s.change(func(n *city.Snapshot) { n.Agents = n.Agents[1:] })
	s.shows("This agent is no longer part of the city.")
}
