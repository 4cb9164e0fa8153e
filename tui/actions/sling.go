package actions

import (
	"fmt"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/mail"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func needRecipient(m *state.Room) string {
	if why := needAddressees(m); why != "" {
		return why
	}
	if all := addressees(m); len(all) != 1 {
		return "a bead has one recipient, but " + widget.Count(len(all), "row") + " are marked"
	}
	return ""
}

func askSling(m *state.Room) []feed.Effect {
	to := addressees(m)[0]
	f := &state.Finder{Title: "Work for " + widget.Plain(to), EmptyText: "loading " +
		m.Look.Glyphs.More,
		Verb: "slings it"}
	openFinderOf(m, f)
	m.Requests++
	m.Todo = append(m.Todo, feed.QueryBeads{ID: m.Requests, Unassigned: true, Query: beads.Query{
		Ready: true, NotType: city.NotWork(), Limit: panel.WorkPage}})
	f.About = &ReadyList{recipient: to, Asked: m.Requests}
	return nil
}

// ReadyList identifies the finder that offers ready work.
type ReadyList struct {
	recipient string
	Asked     int // ID of the request in progress; 0 = none
}

// TakeReady shows the list of ready work in the finder.
func TakeReady(m *state.Room, f *state.Finder, ready *ReadyList, a feed.FoundBeads) {
	ready.Asked, f.EmptyText = 0, "No bead is ready; "+m.Keys.KeyText("focus.work")+
		" shows all beads, and you can add one there."
	if a.Problem != "" {
		f.EmptyText = "Beads cannot be read: " + widget.Plain(a.Problem)
	}
	f.All = nil
	for _, b := range state.ReadyWork(a.Beads) {
		own := b.Clone()
		f.All = append(f.All, state.Item{Title: widget.Plain(b.ID) + " " + b.Priority.String() +
			" " +
			widget.Plain(b.Title), Line: b.ID, Words: b.Description, Note: state.OwnerOf(&own),
			Run: func(m *state.Room) []feed.Effect { return slingTo(m, own, ready.recipient) }})
	}
	f.Search()
}

func askRecipientOf(m *state.Room) []feed.Effect {
	var all []beads.Bead
	for _, r := range m.Work.Targets() {
		all = append(all, r.Bead.Clone())
	}
	f := &state.Finder{Title: "Sling " + m.Work.Called() + " to",
		EmptyText: "No agent or pool matches.", Verb: "chooses it"}
	for _, w := range recipients(m) {
		f.All = append(f.All, state.Item{Title: widget.Plain(w.Word), Line: w.Word,
			Note: widget.Plain(w.Note), Run: func(m *state.Room) []feed.Effect {
				return slingAll(m, all, w.Word)
			}})
	}
	openFinderOf(m, f)
	return nil
}

func recipients(m *state.Room) []state.Word {
	var all, rest []state.Word
	for _, w := range poolNames(m) {
		all = append(all, state.Word{Word: mail.PoolPrefix + w.Word, Note: w.Note})
	}
	for _, w := range agentNames(m, nil) {
		if r := m.Agents.Find(w.Word); r != nil && r.Running {
			all = append(all, w)
		} else {
			rest = append(rest, w)
		}
	}
	return append(all, rest...)
}

func slingTo(m *state.Room, b beads.Bead, to string) []feed.Effect {
	return askLiveIfWanted(m, slingQuestion(m, b, to))
}

func slingQuestion(m *state.Room, b beads.Bead, to string) builder {
	listed := m.Work.Find(b.ID) != nil
	return func(m *state.Room) question {
		row, b := m.Work.Find(b.ID), b
		if row != nil && !row.Bead.UpdatedAt.Before(b.UpdatedAt) {
			b = row.Bead
		}
		id, recipient := widget.Plain(b.ID), widget.Plain(to)
		switch {
		case listed && row == nil:
			return nothingDone(state.NotListed([]string{id}))
		case b.Status == beads.StatusClosed:
			return nothingDone(id + " is already closed")
		case m.Agents.Find(to) == nil &&
			m.Pools.Find(strings.TrimPrefix(to, mail.PoolPrefix)) == nil:
			return nothingDone(state.NoLonger([]string{recipient}))
		}
		r := city.SlingRequest{Target: to, Bead: b.ID, Nudge: true}
		what := id + " to " + recipient
		q := question{title: "Sling " + what + "?", body: []string{widget.Plain(b.Title)},
			verb: "sling it"}
		if b.Assignee != "" && b.Assignee != to {
			r.Force, q.harms = true, true
			q.verb, q.body = "reassign it", append(q.body,
				fmt.Sprintf("It is assigned to %s (%s).", widget.Plain(b.Assignee),
					strings.ReplaceAll(widget.Plain(string(b.Status)), "_", " ")))
		}
		q.do = func(m *state.Room) []feed.Effect {
			return state.RunTasks(m, "slinging", what, feed.Sling{Request: r})
		}
		return q
	}
}

func slingAll(m *state.Room, all []beads.Bead, to string) (todo []feed.Effect) {
	m.Work.Marks = map[string]bool{}
	for _, b := range all {
		todo = append(todo, slingTo(m, b, to)...)
	}
	return todo
}

func slingLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if m.Snap == nil {
		return nil, needCity(m)
	}
	if len(args) != 2 {
		return nil, "sling needs AGENT|POOL and the ID of the bead"
	}
	return state.RunTasks(m, "slinging", widget.Plain(args[1])+" to "+widget.Plain(args[0]),
		feed.Sling{Request: city.SlingRequest{Target: args[0], Bead: args[1], Nudge: true}}), ""
}
