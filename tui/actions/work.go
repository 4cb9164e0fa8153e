package actions

import (
	"cmp"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func workActions() []state.Action {
	return in([]state.Action{
		{ID: "work.details", Key: keymap.Bind("show the whole bead", "enter"), Short: "details",
			Why: needBead, Run: showBead},
		{ID: "work.create", Key: keymap.Bind("add a bead", "n"), Short: "new",
			Why: state.NeedWritable, Run: askCreate},
		{ID: "work.sling", Short: "sling", Why: needOpenBead, Run: askRecipientOf,
			Key: keymap.Bind("sling the bead to an agent or a pool, and notify it", "B")},
		{ID: "work.finish", Key: keymap.Bind("close the bead", "X"), Short: "close",
			Risk: keymap.Confirmed, Why: needOpenBead, Run: askClose},
		{ID: "work.agent", Key: keymap.Bind("go to the assigned agent", "."),
			Why: needAssignee, Run: func(m *state.Room) []feed.Effect {
				return runRequest(m, panel.Request{Select: m.Work.Agent()})
			}},
		{ID: "work.refresh", Key: keymap.Bind("refresh", "ctrl+r"), Run: noEffects(refreshWork)},
	}, keymap.InWork)
}

func bead(m *state.Room) *panel.WorkRow {
	if m.Focus != panel.IDWork {
		return nil
	}
	return m.Work.Row()
}

func needBead(m *state.Room) string {
	if bead(m) == nil {
		return state.NothingSelected(m, m.Work)
	}
	return ""
}

func needOpenBead(m *state.Room) string {
	if why := cmp.Or(state.NeedWritable(m), needBead(m)); why != "" {
		return why
	}
	for _, r := range m.Work.Targets() {
		if r.Bead.Status == beads.StatusClosed {
			return widget.Plain(r.Bead.ID) + " is already closed"
		}
	}
	return ""
}

func needAssignee(m *state.Room) string {
	why := needBead(m)
	if why == "" && m.Work.Agent() == "" {
		return "the bead is not assigned to an agent"
	}
	return why
}

func refreshWork(m *state.Room) {
	m.Work.Outdated()
}

func askCreate(m *state.Room) []feed.Effect {
	hints := []string{"prompt.done", "adds it", "prompt.cancel", "cancels"}
	if len(m.Pools.Rows) > 0 {
		hints = append([]string{"prompt.next", "chooses a pool"}, hints...)
	}
	m.Dialogs.Open(&state.Prompt{
		Label: "new bead", Hint: m.Keys.Hint("  ", hints...), Edit: widget.NewEntry(""),
		Next:     func(text string) string { return state.WithNextPool(m, text) },
		Validate: func(text string) string { _, why := state.ParseBead(m, text); return why },
		Done: func(text string) state.Task {
			return func(m *state.Room) []feed.Effect {
				b, why := state.ParseBead(m, text)
				if why != "" || b.Title == "" {
					return nil
				}
				title := widget.Plain(b.Title)
				return askIfWanted(m, question{title: "Add the bead " + title + "?",
					verb: "add it", no: "do not add it",
					do: sending("adding", title, city.CreateBead{Bead: b})})
			}
		},
	})
	return nil
}

func askClose(m *state.Room) []feed.Effect {
	return askLive(m, aboutListed(m, m.Work.Targets(), m.Work.Find, closeQuestion))
}

func closeQuestion(m *state.Room, rows []*panel.WorkRow) question {
	open := slices.DeleteFunc(slices.Clone(rows), func(r *panel.WorkRow) bool {
		return r.Bead.Status == beads.StatusClosed
	})
	if len(open) == 0 {
		is := " is"
		if len(rows) > 1 {
			is = " are"
		}
		return nothingDone(m.Work.Names(rows) + is + " already closed")
	}
	parts := 0
	commands := make([]city.Command, len(open))
	var titles []string
	for i, r := range open {
		parts += r.Parts
		commands[i] = city.UpdateBead{ID: r.Bead.ID, Patch: beads.Closing(), Force: r.Parts > 0}
		titles = append(titles, r.Shown)
	}
	what := m.Work.Names(open)
	body := []string{strings.Join(titles, "; ")}
	switch {
	case parts == 1:
		body = append(body, "1 part is still open and will stay open.")
	case parts > 1:
		body = append(body, widget.Count(parts, "part")+" are still open and will stay open.")
	}
	if len(open) == 1 {
		body = append(body, details.ClosingNotes(m.Work, open[0])...)
	}
	if n := len(rows) - len(open); n > 0 {
		body = append(body, "Dropped, because closed in the meantime: "+
			widget.Count(n, "bead")+".")
	}
	body = append(body, "This cannot be undone.")
	return question{title: "Close " + what + "?", body: body, verb: "close it", plan: parts > 0,
		count: len(open), of: "beads", do: func(m *state.Room) []feed.Effect {
			m.Work.Marks = nil
			return state.SendCommands(m, "closing", what, commands...)
		}}
}

func showBead(m *state.Room) []feed.Effect {
	r := *bead(m)
	openReader(m, &state.Reader{Title: widget.Plain(r.Bead.ID), Lines: func(w int) []string {
		if now := m.Work.Find(r.Bead.ID); now != nil {
			r = *now
		}
		return r.Details(m.Env())
	}})
	return nil
}
