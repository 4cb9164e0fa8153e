package tui

import (
	"fmt"
	"strings"

	"gcity/tui/dialog"
	"gcity/tui/keymap"
)

// actionItem offers an action.
func actionItem(m *model, a *action) item {
	t := item{Keys: a.Key.Keys(), Title: a.Title(), Words: a.ID, Line: a.ID, Run: a.Run,
		Why: func() string { return a.Refused(m) }}
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

func (m *model) openFinder(palette bool) {
	f := &finder{Title: "Help", None: "No action is called that."}
	for i := range m.keys.Actions {
		if a := &m.keys.Actions[i]; a.Reachable() && !m.unseen(a) {
			f.All = append(f.All, actionItem(m, a))
		}
	}
	if !palette {
		f.All = append(f.All, m.legend()...)
	}
	if palette {
		f.Title = "Palette"
		f.Palette = &dialog.Palette[task]{History: m.history, Offer: m.palettes,
			GoesOn: m.takesMore}
		f.All = append(f.All, m.commandItems()...)
	}
	m.open(f)
}

// open shows a finder with all that it has.
func (m *model) open(f *finder) { m.dialogs.Open(dialog.NewFinder(f)) }

// unseen reports whether an action is not even shown: in a room that only looks, all that would change something.
func (m *model) unseen(a *action) bool {
	return m.mode == ReadOnly && a.Refused(m) == needWritable(m)
}

// runFound closes the finder and runs what is under the cursor; in the palette a line that names nothing that is
// offered is tried as it stands.
func (m *model) runFound() []effect {
	f := m.dialogs.finder()
	if t := f.Current(); t != nil && (f.Pointed || !t.Near) {
		if t.Info {
			return nil
		}
		return m.runItem(f, *t)
	}
	line := strings.TrimSpace(f.Edit.String())
	if f.Palette == nil && len(f.Found) == 0 {
		m.dialogs.Close(f)
		return nil
	}
	todo, why := []effect(nil), fmt.Sprintf("nothing is called %q", line)
	if f.Palette != nil {
		todo, why = m.runLine(line)
	}
	if why != "" {
		f.Problem = why
		if len(f.Found) > 0 {
			f.Problem += "; " + m.keys.KeyOf("finder.down") + " goes to what is like it"
		}
		return nil
	}
	m.dialogs.Close(f)
	m.remember(line)
	return todo
}

// runItem closes a finder and runs an item of it, or says why it cannot be run.
func (m *model) runItem(f *finder, t item) (todo []effect) {
	m.dialogs.Close(f)
	if why := t.Refused(); why != "" {
		what, _, _ := strings.Cut(t.Title, ":")
		m.complain("cannot " + what + ": " + why)
	} else {
		todo = t.Run(m)
	}
	// not what only opened it again, to be completed
	if f.Palette != nil && m.dialogs.finder() == nil {
		m.remember(t.Line)
	}
	return todo
}
