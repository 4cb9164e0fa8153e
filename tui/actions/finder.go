package actions

import (
	"fmt"
	"slices"
	"strings"

	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/state"
)

func actionItem(m *state.Room, a *state.Action) state.Item {
	t := state.Item{Keys: a.Key.Keys(), Title: a.Title(), Words: a.ID, Line: a.ID, Run: a.Run,
		Why: func() string { return a.WhyUnavailable(m) }}
	t.Names = wordsOf(m, a)
	if len(a.In) == 1 && a.In[0] != keymap.Everywhere {
		t.Note = string(a.In[0])
	}
	if a.Risk != keymap.Harmless && t.Note != "" {
		t.Note += ", "
	}
	if a.Risk != keymap.Harmless {
		t.Note += a.Risk.Mark()
	}
	return t
}

func wordsOf(m *state.Room, a *state.Action) []string {
	noun, verb, _ := strings.Cut(a.ID, ".")
	switch {
	case a.ID == "city.switch":
		return []string{"city", "cities"}
	case a.ID == "agent.details":
		return []string{"why"}
	case a.ID == "automation.fire":
		return []string{"run"}
	case noun == "focus":
		if p := m.PanelOf(panel.ID(verb)).About(); string(p.ID) == verb && !p.Subset {
			return []string{verb, p.Noun}
		}
	case verb == "show" && m.Keys.ByID("focus."+noun) == nil:
		return []string{noun}
	}
	return nil
}

func openFinder(m *state.Room, verbs bool) {
	f := &state.Finder{Title: "Help", EmptyText: "No action matches."}
	var here, elsewhere []state.Item
	for i := range m.Keys.Actions {
		a := &m.Keys.Actions[i]
		if !a.Reachable() || Unseen(m, a) || verbs && m.Directory && a.ID == "city.switch" {
			continue // for city.switch, the verb "city NAME" does the same
		}
		list := &elsewhere
		if verbs && worksHere(m, a) {
			list = &here
		}
		*list = append(*list, actionItem(m, a))
	}
	f.All = append(here, elsewhere...)
	if !verbs {
		f.All = append(f.All, palette.Legend[state.Task](&m.Look, m.Keys.KeyText,
			m.Preferences.File)...)
		f.All = palette.Help("Works here: "+hereTitle(m), f.All, func(id string) (int, bool) {
			a, rank := m.Keys.ByID(id), 0
			if palette.SectionOf(id) == palette.SectionLook {
				rank = 10
			}
			return rank + RankHere(m, a), worksHere(m, a)
		})
	}
	if verbs {
		all := Table(m)
		f.Title, f.Reasons, f.All = "Palette", true, append(f.All, all.Commands()...)
		f.Palette = &dialog.Palette[state.Task]{History: m.History,
			Recent: all.Recents(m, m.History, f.All),
			Offer: func(text string) ([]state.Item, bool) {
				return all.Offer(m, text)
			},
			TakesMore: func(text string) bool { return all.TakesMore(m, text) },
			LongText: m.Keys.Hint("", "agent.send", "opens an input for longer text after you "+
				"close the palette")}
	}
	openFinderOf(m, f)
}

func worksHere(m *state.Room, a *state.Action) bool {
	if !a.Key.Enabled() || !KeyWorks(m, a) || Elsewhere(m, a) || a.WhyUnavailable(m) != "" {
		return false
	}
	section := palette.SectionOf(a.ID)
	return section != palette.SectionMove && (!slices.Contains(a.In, keymap.Everywhere) ||
		section == palette.SectionLook || section == "Agent")
}

func hereTitle(m *state.Room) string {
	if m.Focus == panel.IDPeek {
		return string(keymap.InPeek)
	}
	return m.Focused().About().Title
}

func openFinderOf(m *state.Room, f *state.Finder) { m.Dialogs.Open(dialog.NewFinder(f)) }

// Unseen reports whether an action is hidden. A read-only room hides all actions that would change something.
func Unseen(m *state.Room, a *state.Action) bool {
	return m.Mode == state.ReadOnly && a.WhyUnavailable(m) == state.NeedWritable(m)
}

// RunFound closes the finder and runs the row under the cursor. In the palette, a line that matches no row runs as
// typed.
func RunFound(m *state.Room) []feed.Effect {
	f := m.Dialogs.Finder()
	if f.Vanished {
		f.Vanished = false
		f.Problem = "the selected entry is gone; press enter again to run the one selected now"
		return nil
	}
	if t := f.Runnable(); t != nil {
		if t.Info {
			return nil
		}
		return runItem(m, f, *t)
	}
	line := strings.TrimSpace(f.Edit.String())
	todo, why := []feed.Effect(nil), fmt.Sprintf("no action matches %q", line)
	if f.Palette != nil {
		todo, why = Table(m).Run(m, line)
	}
	if why != "" {
		f.Problem = why
		if len(f.Found) > 0 {
			f.Problem += "; " + m.Keys.KeyText("finder.down") + " selects the closest match"
		}
		return nil
	}
	m.Dialogs.Close(f)
	noteUnconfirmed(m, f, todo)
	m.History = palette.AddToHistory(m.History, line)
	return todo
}

func runItem(m *state.Room, f *state.Finder, t state.Item) (todo []feed.Effect) {
	m.Dialogs.Close(f)
	if why := t.WhyUnavailable(); why != "" {
		if t.Verb == "" { // otherwise, the title is the name of an object
			why = state.Refusal(m, t.Title, why)
		}
		state.ShowFailure(m, why)
	} else {
		todo = t.Run(m)
	}
	noteUnconfirmed(m, f, todo)
	// a row that only reopened the palette is not remembered
	if f.Palette != nil && m.Dialogs.Finder() == nil {
		m.History = palette.AddToHistory(m.History, t.Line)
	}
	return todo
}

func openPaletteAt(m *state.Room, text string) []feed.Effect {
	openFinder(m, true)
	m.Dialogs.Finder().Type(text)
	return nil
}

func noteUnconfirmed(m *state.Room, f *state.Finder, todo []feed.Effect) {
	acts := func(e feed.Effect) bool { _, ok := e.(feed.SendCommands); return ok }
	if m.Dialogs.Top() == nil && !f.Copies &&
		(m.Status.Failed || m.Status.Note || slices.ContainsFunc(todo, acts)) {
		m.UnaskedAt = m.Now
	}
}
