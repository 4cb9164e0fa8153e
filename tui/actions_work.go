package tui

import (
	"fmt"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// workActions returns the actions for the city's open work.
func workActions() []action {
	w := []keymap.Zone{keymap.InWork}
	by := func(n int) func(*model) []feed.Effect {
		return func(m *model) []feed.Effect { m.dialogs.work().move(n); return nil }
	}
	return []action{
		{ID: "work.show", Key: keymap.Bind("show open work by pool and assignee", "b"),
			In: []keymap.Zone{keymap.Everywhere}, Why: needCity,
			Run: showWork},
		{ID: "work.down", Key: keymap.Bind("down", "j", "down"), In: w, Run: by(1)},
		{ID: "work.up", Key: keymap.Bind("up", "k", "up"), In: w, Run: by(-1)},
		{ID: "work.page.down", Key: keymap.Bind("a page down", "pgdown", "ctrl+d"), In: w,
			Run: by(10)},
		{ID: "work.page.up", Key: keymap.Bind("a page up", "pgup", "ctrl+u"), In: w, Run: by(-10)},
		{ID: "work.first", Key: keymap.Bind("to the beginning", "g", "home"), In: w,
			Run: by(-widget.Far)},
		{ID: "work.last", Key: keymap.Bind("to the end", "G", "end"), In: w, Run: by(widget.Far)},
		{ID: "work.details", Key: keymap.Bind("show the whole bead", "enter", "d"), In: w,
			Why: needBead,
			Run: showBead},
		{ID: "work.create", Key: keymap.Bind("add work", "n"), In: w, Why: needWritable,
			Run: askCreate},
		{ID: "work.finish", Key: keymap.Bind("close it", "X"), In: w, Risk: keymap.Confirmed,
			Why: needBeadVerb, Run: askClose},
		{ID: "work.refresh", Key: keymap.Bind("refresh", "ctrl+r"), In: w,
			Run: refreshWork},
		{ID: "work.close", Key: keymap.Bind("close", "esc", "q", "b", "ctrl+c"), In: w,
			Run: func(m *model) []feed.Effect { m.dialogs.CloseIn(keymap.InWork); return nil }},
	}
}

func needBead(m *model) string {
	if m.dialogs.work() == nil || m.dialogs.work().under() == nil {
		return "no work is selected"
	}
	return ""
}

func needBeadVerb(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	return needBead(m)
}

func showWork(m *model) []feed.Effect {
	k := &work{}
	k.List = dialog.List[task]{In: keymap.InWork, Title: k.title, Move: k.move,
		Lines: func(w int) []string { return workSheet(m, w) }}
	m.dialogs.Open(k)
	askWork(m)
	return nil
}

// refreshWork requests the work again, once a request in progress has been answered.
func refreshWork(m *model) []feed.Effect {
	if m.dialogs.work().stale = true; m.dialogs.work().asked == 0 {
		askWork(m)
	}
	return nil
}

// askCreate asks for a title. The word pool:NAME in it sets the pool.
func askCreate(m *model) []feed.Effect {
	m.dialogs.Open(&prompt{
		Label: "new work", Hint: "pool:NAME assigns it to a pool  " +
			m.keys.Hint("  ", "prompt.done", "adds it", "prompt.cancel", "cancels"),
		Edit:   widget.NewEntry(""),
		Refuse: func(text string) string { _, why := newBead(m, text); return why },
		Done: func(text string) task {
			return func(m *model) []feed.Effect {
				b, why := newBead(m, text)
				if why != "" || b.Title == "" {
					return nil
				}
				return carry(m, "adding", widget.Plain(b.Title),
					[]city.Command{city.CreateBead{Bead: b}})
			}
		},
	})
	return nil
}

// newBead parses a piece of work, or says why the text is invalid. Empty text is not an error.
func newBead(m *model, text string) (b beads.Bead, why string) {
	var title []string
	for _, word := range strings.Fields(text) {
		name, ok := strings.CutPrefix(word, "pool:")
		switch {
		case !ok:
			title = append(title, word)
		case m.Pools.Find(name) == nil:
			return b, fmt.Sprintf("no pool is called %q", name)
		default:
			b.Labels = append(b.Labels, city.PoolLabel+name)
		}
	}
	b.Title = strings.Join(title, " ")
	switch {
	case len(b.Title) > beads.MaxTitle:
		return b, fmt.Sprintf("too long: at most %d bytes", beads.MaxTitle)
	case b.Title == "" && len(b.Labels) > 0:
		return b, "it needs a title"
	}
	return b, ""
}

func askClose(m *model) []feed.Effect {
	b := m.dialogs.work().under()
	if b == nil {
		return nil
	}
	id, shown := b.ID, widget.Plain(b.ID)
	body := []string{widget.Plain(b.Title)}
	parts := m.dialogs.work().partsBelow()
	switch {
	case parts == 1:
		body = append(body, "1 part of it is not closed and stays open.")
	case parts > 1:
		body = append(body, widget.Count(parts, "part")+" of it are not closed and stay open.")
	}
	ask(m, question{title: "Close " + shown + "?", body: body, verb: "close it", plan: parts > 0,
		do: func(m *model) []feed.Effect {
			return carry(m, "closing", shown, []city.Command{
				city.UpdateBead{ID: id, Patch: beads.Closing(), Force: parts > 0}})
		}})
	return nil
}

func showBead(m *model) []feed.Effect {
	b := m.dialogs.work().under()
	if b == nil {
		return nil
	}
	own, gate := b.Clone(), m.dialogs.work().rows[m.dialogs.work().at].gate
	m.read(&reader{Title: widget.Plain(own.ID),
		Lines: func(w int) []string {
			return widget.WrapAll(beadDetails(m, &own, gate),
				w)
		}})
	return nil
}
