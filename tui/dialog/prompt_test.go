package dialog

import (
	"strings"
	"testing"

	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

// A label that is too long first loses whole parts at its end. Only then is it cut.
func TestLongLabels(t *testing.T) {
	for _, c := range []struct {
		label string
		w     int
		want  string
	}{
		{`mail to builder, "hi"`, 21, `mail to builder, "hi"`}, {`mail to builder, "hi"`, 20, "mail to builder"},
		{"send to 2 agents: builder, idle", 20, "send to 2 agents"}, {"scale worker to (1-5, or auto)", 29, "scale worker to"},
		{"scale worker to (1-5, or auto)", 10, "scale wor~"},
	} {
		if got := fitLabel(c.label, c.w, "~"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.label, c.w, got, c.want)
		}
	}
}

// A prompt that refuses its text stays open and shows the reason.
func TestPromptRefuses(t *testing.T) {
	var changes []string
	p := &Prompt[string]{
		Edit: widget.NewEntry("4"),
		Validate: func(text string) string {
			if text != "5" {
				return "it must be 5"
			}
			return ""
		},
		Change: func(text string) { changes = append(changes, text) },
		Done:   func(text string) string { return "set " + text },
	}
	closed := 0
	leave := func() { closed++ }
	if got := p.Submit(leave); got != nil || closed != 0 || p.problem == "" {
		t.Errorf("4 is accepted: %v, closed %d times, problem %q", got, closed, p.problem)
	}
	p.Key(tuitest.KeyPress("backspace"), leave)
	p.Paste("5\n")
	if p.problem != "" || len(changes) != 2 || changes[1] != "5" {
		t.Errorf("problem %q, changes %q", p.problem, changes)
	}
	p.Paste(strings.Repeat("5", widget.MaxTyped))
	if p.problem == "" || len(changes) != 2 || p.Edit.String() != "5" {
		t.Errorf("a paste that is too long: problem %q, text %q", p.problem, p.Edit.String())
	}
	if got := p.Submit(leave); len(got) != 1 || got[0] != "set 5" || closed != 1 {
		t.Errorf("5: %v, closed %d times", got, closed)
	}
}

// Leaving a prompt closes it and then calls Cancel.
func TestPromptLeaves(t *testing.T) {
	var order string
	p := &Prompt[string]{Edit: widget.NewEntry(""), Cancel: func() { order += "cancelled" }}
	if p.Leave(func() { order += "closed " }); order != "closed cancelled" {
		t.Error(order)
	}
	if got := p.Submit(func() {}); got != nil {
		t.Errorf("without a task: %v", got)
	}
}

// The up key shows earlier texts instead of the draft, and down returns to the draft.
func TestComposerRecallsSentTexts(t *testing.T) {
	c := NewComposer(&Composer[int]{Sent: []string{"first", "second"}}, Unsent{Text: "mine"})
	c.Fit(80, 24)
	c.Up()
	c.Up()
	if got := c.Text(); got != "first" {
		t.Errorf("two up: %q", got)
	}
	if got := c.DraftToKeep(); got.Text != "mine" {
		t.Errorf("after an earlier text was shown, the draft is %q", got.Text)
	}
	c.Key(tuitest.KeyPress("x"), nil)
	if got := c.DraftToKeep(); got.Text != "firstx" {
		t.Errorf("after an earlier text was edited, the draft is %q", got.Text)
	}
	c.Key(tuitest.KeyPress("backspace"), nil)
	c.Down()
	c.Down()
	if got := c.Text(); got != "mine" {
		t.Errorf("two down: %q", got)
	}
}

// A long text takes the place of the hint.
func TestTheTextIsMoreImportantThanTheHint(t *testing.T) {
	p := &Prompt[string]{Label: "new bead", Hint: "enter creates it  esc cancels", Edit: widget.NewEntry("short")}
	c := Canvas{W: 80, Styles: &widget.Styles{}}
	if line := p.Draw(c).Lines[0]; !strings.Contains(line, "esc cancels") {
		t.Errorf("%q", line)
	}
	long := strings.Repeat("0123456789", 6)
	p.Edit = widget.NewEntry(long)
	if line := p.Draw(c).Lines[0]; !strings.Contains(line, long) {
		t.Errorf("%q", line)
	}
}
