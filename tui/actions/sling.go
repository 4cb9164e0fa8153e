package actions

import (
	"fmt"
	"slices"
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
			Run: func(m *state.Room) []feed.Effect {
				return slingTo(m, []beads.Bead{own}, ready.recipient)
			}})
	}
	f.Search()
}

func askRecipientOf(m *state.Room) []feed.Effect {
	var all []beads.Bead
	for _, r := range m.Work.Targets() {
		all = append(all, r.Bead.Clone())
	}
	openFinderOf(m, &state.Finder{Title: "Sling " + m.Work.Called() + " to",
		EmptyText: "No agent or pool matches.", Verb: "chooses it",
		All: nameItems(recipients(m), func(m *state.Room, name string) []feed.Effect {
			return slingTo(m, all, name)
		})})
	return nil
}

func recipients(m *state.Room) []state.Word {
	var all, rest []state.Word
	for _, w := range poolNames(m) {
		all = append(all, state.Word{Word: mail.PoolPrefix + w.Word, Note: w.Note})
	}
	for _, w := range agentNames(m) {
		if r := m.Agents.Find(w.Word); r != nil && r.Running {
			all = append(all, w)
		} else {
			rest = append(rest, w)
		}
	}
	return append(all, rest...)
}

func slingTo(m *state.Room, all []beads.Bead, to string) []feed.Effect {
	listed := map[string]bool{}
	for _, b := range all {
		listed[b.ID] = m.Work.Find(b.ID) != nil
	}
	return askLiveIfWanted(m, func(m *state.Room) question {
		if m.Agents.Find(to) == nil &&
			m.Pools.Find(strings.TrimPrefix(to, mail.PoolPrefix)) == nil {
			return nothingDone(state.NoLonger([]string{widget.Plain(to)}))
		}
		left, dropped := slingable(m, all, listed)
		if len(left) == 0 {
			return nothingDone(strings.Join(dropped, "; "))
		}
		return slingQuestion(left, dropped, to)
	})
}

func slingQuestion(left []beads.Bead, dropped []string, to string) question {
	what, body, it := widget.Plain(left[0].ID), []string{widget.Plain(left[0].Title)}, "it"
	if len(left) > 1 {
		what, body, it = widget.Count(len(left), "bead"), []string{beadIDs(left)}, "them"
	}
	verb, harms := "sling "+it, len(left) >= manyTargets || len(dropped) > 0
	var tasks []feed.Task
	for _, b := range left {
		r := city.SlingRequest{Target: to, Bead: b.ID, Nudge: true}
		if b.Assignee != "" && b.Assignee != to {
			subject := widget.Plain(b.ID)
			if len(left) == 1 {
				subject, verb = "It", "reassign it"
			}
			r.Force, harms = true, true
			body = append(body, fmt.Sprintf("%s is assigned to %s (%s).", subject,
				widget.Plain(b.Assignee),
				strings.ReplaceAll(widget.Plain(string(b.Status)), "_", " ")))
		}
		tasks = append(tasks, feed.Sling{Request: r})
	}
	if len(dropped) > 0 {
		body = append(body, "Dropped: "+strings.Join(dropped, "; ")+".")
	}
	what += " to " + widget.Plain(to)
	return question{title: "Sling " + what + "?", body: body, verb: verb, harms: harms,
		count: len(left), of: "beads", do: func(m *state.Room) []feed.Effect {
			marked := func(b beads.Bead) bool { return m.Work.Marks[b.ID] }
			if slices.ContainsFunc(left, marked) {
				m.Work.Marks = nil
			}
			return state.RunTasks(m, "slinging", what, tasks...)
		}}
}

// slingable returns the current versions of the beads that can be slung, and the reasons why the others cannot. A bead
// that was listed when the user chose it must still be listed.
func slingable(m *state.Room, all []beads.Bead, listed map[string]bool) (left []beads.Bead,
	dropped []string) {
	for _, b := range all {
		row := m.Work.Find(b.ID)
		if row == nil && listed[b.ID] {
			dropped = append(dropped, state.NotListed([]string{widget.Plain(b.ID)}))
			continue
		}
		if row != nil && !row.Bead.UpdatedAt.Before(b.UpdatedAt) {
			b = row.Bead
		}
		if b.Status == beads.StatusClosed {
			dropped = append(dropped, widget.Plain(b.ID)+" is already closed")
			continue
		}
		left = append(left, b)
	}
	return left, dropped
}

func beadIDs(all []beads.Bead) string {
	ids := make([]string, len(all))
	for i, b := range all {
		ids[i] = widget.Plain(b.ID)
	}
	return strings.Join(ids, ", ")
}

func slingLine(m *state.Room, args []string) ([]feed.Effect, string) {
	if m.Snap == nil {
		return nil, needCity(m)
	}
	if len(args) != 2 {
		return nil, "sling needs AGENT|POOL and the ID of the bead"
	}
	what := widget.Plain(args[1]) + " to " + widget.Plain(args[0])
	return askIfWanted(m, question{title: "Sling " + what + "?", verb: "sling it",
		do: func(m *state.Room) []feed.Effect {
			return state.RunTasks(m, "slinging", what, feed.Sling{Request: city.SlingRequest{
				Target: args[0], Bead: args[1], Nudge: true}})
		}}), ""
}
