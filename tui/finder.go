package tui

import (
	"fmt"
	"slices"
	"strings"

	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
)

func actionItem(m *model, a *action) item {
	t := item{Keys: a.Key.Keys(), Title: a.Title(), Words: a.ID, Line: a.ID, Run: a.Run,
		Why: func() string { return a.Refused(m) }}
	t.Names = nounsOf(m, a)
	if len(a.In) == 1 && a.In[0] != keymap.Everywhere {
		t.Tail = string(a.In[0])
	}
	if a.Risk != keymap.Harmless && t.Tail != "" {
		t.Tail += ", "
	}
	if a.Risk != keymap.Harmless {
		t.Tail += a.Risk.String()
	}
	return t
}

// nounsOf returns the nouns that lead to a panel, to a list in a dialog, or to the cities.
func nounsOf(m *model, a *action) []string {
	noun, verb, _ := strings.Cut(a.ID, ".")
	switch {
	case a.ID == "city.switch":
		return []string{"cities"}
	case noun == "focus":
		if p := m.panelOf(panel.ID(verb)).About(); string(p.ID) == verb && !p.Part {
			return []string{verb, p.Noun}
		}
	case verb == "show" && m.keys.ByID("focus."+noun) == nil:
		return []string{noun}
	}
	return nil
}

func openFinder(m *model, verbs bool) {
	f := &finder{Title: "Help", None: "No action has this name."}
	for i := range m.keys.Actions {
		if a := &m.keys.Actions[i]; a.Reachable() && !unseen(m, a) {
			f.All = append(f.All, actionItem(m, a))
		}
	}
	if !verbs {
		f.All = append(f.All, palette.Legend[task](&m.look, m.keys.KeyOf, m.person.File)...)
		f.All = palette.Help("Works here: "+hereTitle(m), f.All, func(id string) (int, bool) {
			a, rank := m.keys.ByID(id), 0
			if palette.SectionOf(id) == palette.SectionLook { // after the verbs
				rank = 10
			}
			return rank + rankHere(m, a), worksHere(m, a)
		})
	}
	if verbs {
		f.Title, f.Reasons = "Palette", true
		all := table(m)
		f.All = append(f.All, all.Commands()...)
		f.Palette = &dialog.Palette[task]{History: m.history,
			Recent: all.Recents(m, m.history, f.All),
			Offer: func(text string) ([]item, bool) {
				return all.Offer(m, text)
			},
			GoesOn: func(text string) bool { return all.TakesMore(m, text) }}
	}
	openFinderOf(m, f)
}

// worksHere reports whether the help lists an action first, because its key currently acts on the focused panel.
func worksHere(m *model, a *action) bool {
	if !a.Key.Enabled() || !keyWorks(m, a) || elsewhere(m, a) || a.Refused(m) != "" {
		return false
	}
	section := palette.SectionOf(a.ID)
	return section != palette.SectionMove && (!slices.Contains(a.In, keymap.Everywhere) ||
		section == palette.SectionLook || section == "Agent")
}

// hereTitle returns the title of the focused panel.
func hereTitle(m *model) string {
	if m.focus == panel.IDPeek {
		return string(keymap.InPeek)
	}
	return m.focused().About().Title
}

func openFinderOf(m *model, f *finder) { m.dialogs.Open(dialog.NewFinder(f)) }

// unseen reports whether an action is hidden. A read-only room hides all actions that would change something.
func unseen(m *model, a *action) bool {
	return m.mode == ReadOnly && a.Refused(m) == needWritable(m)
}

// runFound closes the finder and runs the row under the cursor. In the palette, a line that matches no row is run
// as typed.
func runFound(m *model) []feed.Effect {
	f := m.dialogs.finder()
	if t := f.Marked(); t != nil {
		if t.Info {
			return nil
		}
		return runItem(m, f, *t)
	}
	line := strings.TrimSpace(f.Edit.String())
	todo, why := []feed.Effect(nil), fmt.Sprintf("nothing is called %q", line)
	if f.Palette != nil {
		todo, why = table(m).Run(m, line)
	}
	if why != "" {
		f.Problem = why
		if len(f.Found) > 0 {
			f.Problem += "; " + m.keys.KeyOf("finder.down") + " selects the closest match"
		}
		return nil
	}
	m.dialogs.Close(f)
	noteUnasked(m, f, todo)
	m.history = palette.Remember(m.history, line)
	return todo
}

// runItem closes a finder and runs one of its rows, or reports why it cannot.
func runItem(m *model, f *finder, t item) (todo []feed.Effect) {
	m.dialogs.Close(f)
	if why := t.Refused(); why != "" {
		complain(m, "cannot "+keymap.Verb(t.Title)+": "+why)
	} else {
		todo = t.Run(m)
	}
	noteUnasked(m, f, todo)
	// a row that only reopened the palette for completion is not remembered
	if f.Palette != nil && m.dialogs.finder() == nil {
		m.history = palette.Remember(m.history, t.Line)
	}
	return todo
}

// openPaletteAt opens the palette with the beginning of a line.
func openPaletteAt(m *model, text string) []feed.Effect {
	openFinder(m, true)
	m.dialogs.finder().Type(text)
	return nil
}

// noteUnasked notes that a line of the palette acted without a question, or was refused.
func noteUnasked(m *model, f *finder, todo []feed.Effect) {
	acts := func(e feed.Effect) bool { _, ok := e.(feed.Perform); return ok }
	if m.dialogs.Top() == nil && f.Palette != nil &&
		(m.status.failed || slices.ContainsFunc(todo, acts)) {
		m.unasked = m.now
	}
}
