package dialog

import (
	"slices"
	"strings"
	"testing"

	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

func lines(f *Finder[int]) []string {
	var all []string
	for _, t := range f.Found {
		all = append(all, t.Line)
	}
	return all
}

// Matches at the beginning of a name come first.
func TestFinderSearches(t *testing.T) {
	f := NewFinder(&Finder[int]{All: []Item[int]{
		{Title: "go to Pools", Line: "focus.pools"},
		{Title: "restart the agent", Line: "agent.restart", Words: "start anew"},
		{Title: "start the pool", Line: "pool.start"},
	}})
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"focus.pools", "agent.restart", "pool.start"}},
		{"start", []string{"pool.start", "agent.restart"}},
		{"anew", []string{"agent.restart"}},
		{"fcspls", []string{"focus.pools"}},
		{"zzz", nil},
	} {
		if f.Type(c.text); !slices.Equal(lines(f), c.want) {
			t.Errorf("%q: %q, want %q", c.text, lines(f), c.want)
		}
	}
	f.Type("anew")
	if !f.Current().Similar {
		t.Error("an entry that only mentions the text is not marked as similar")
	}
}

// An entry that is only similar to the text does not run until it is selected.
func TestASimilarEntryIsNotMarked(t *testing.T) {
	f := NewFinder(&Finder[int]{All: []Item[int]{
		{Title: "restart the agent", Line: "agent.restart", Words: "start anew"},
		{Title: "resume the agent", Line: "agent.resume", Words: "anew"},
	}})
	f.Type("anew")
	if f.Runnable() != nil {
		t.Errorf("%q is marked", f.Runnable().Line)
	}
	for _, want := range []string{"agent.restart", "agent.resume"} {
		if f.Down(); f.Runnable() == nil || f.Runnable().Line != want {
			t.Errorf("down does not select %q", want)
		}
	}
}

func TestFinderRefill(t *testing.T) {
	f := NewFinder(&Finder[int]{All: []Item[int]{{Line: "a"}, {Line: "b"}}})
	f.Step(1)
	f.Refill([]Item[int]{{Line: "x"}, {Line: "y"}, {Line: "b"}})
	if f.Current().Line != "b" || !f.CursorMoved {
		t.Errorf("the cursor is on %q", f.Current().Line)
	}
}

// In the palette, up in the first row goes to the history.
func TestPalette(t *testing.T) {
	f := NewFinder(&Finder[int]{
		All: []Item[int]{{Title: "restart the agent", Line: "agent.restart"},
			{Title: "resume it", Line: "agent.resume"}},
		Palette: &Palette[int]{
			History:   []string{"old", "new"},
			Offer:     func(string) ([]Item[int], bool) { return nil, false },
			TakesMore: func(line string) bool { return line == "agent.restart" },
		},
	})
	var seen []string
	for _, move := range []func(){f.Up, f.Up, f.Up, f.Down, f.Down} {
		move()
		seen = append(seen, f.Edit.String())
	}
	if want := []string{"new", "old", "old", "new", ""}; !slices.Equal(seen, want) {
		t.Errorf("the history gives %q, want %q", seen, want)
	}
	f.Type("")
	f.Key(tuitest.KeyPress("a"), nil)
	f.Complete()
	if got := f.Edit.String(); got != "agent.res" {
		t.Errorf("completed to %q", got)
	}
	f.Key(tuitest.KeyPress("t"), nil)
	f.Complete()
	if got := f.Edit.String(); got != "agent.restart " {
		t.Errorf("completed to %q", got)
	}
}

func TestSpreadLettersMatchNothing(t *testing.T) {
	f := NewFinder(&Finder[int]{All: []Item[int]{
		{Title: "show the agent's crashes with its last output", Line: "agent.crashes"},
	}})
	if f.Type("ascii"); len(f.Found) > 0 {
		t.Errorf("ascii finds %q", lines(f))
	}
}

// If no key opens an input for longer text, the palette names none.
func TestPaletteRejectsALongPaste(t *testing.T) {
	for _, longer := range []string{"", "i opens an input"} {
		f := NewFinder(&Finder[int]{Palette: &Palette[int]{LongText: longer,
			Offer: func(string) ([]Item[int], bool) { return nil, false }}})
		f.Paste(strings.Repeat("x", widget.MaxTyped+1))
		want := pasteTooLong()
		if longer != "" {
			want += "; " + longer
		}
		if f.Problem != want || f.Edit.String() != "" {
			t.Errorf("problem %q, want %q", f.Problem, want)
		}
	}
}
