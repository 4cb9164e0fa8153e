package tui

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

// changeOrder orders changes by severity: agents that stop come first.
var changeOrder = [...]string{"stop", "fail", "drain", "restart", "start", "wait", "none"}

func idle(c *feed.Change) bool { return c.What == "none" }

func changeToken(what string) themes.Token {
	switch what {
	case "stop", "fail":
		return themes.Bad
	case "drain", "restart":
		return themes.Warn
	case "start":
		return themes.Good
	}
	return themes.Dim
}

// sortedChanges returns the plan's changes, the most severe first.
func sortedChanges(p *feed.Plan) []feed.Change {
	all := slices.Clone(p.Changes)
	slices.SortStableFunc(all, func(a, b feed.Change) int {
		if d := slices.Index(changeOrder[:], a.What) - slices.Index(changeOrder[:], b.What); d !=
			0 {
			return d
		}
		return city.CompareNames(a.Agent, b.Agent)
	})
	return all
}

// planRow is a change of one agent, or the same change of several members of a pool.
type planRow struct {
	feed.Change
	members int // 0 = it is one agent
}

// planRows groups members of a pool that change for the same reason, if there are several.
func planRows(p *feed.Plan) []planRow {
	const several = 3
	all := sortedChanges(p)
	alike := func(c *feed.Change) feed.Change {
		return feed.Change{Pool: c.Pool, What: c.What, Why: c.Why}
	}
	n := map[feed.Change]int{}
	for i := range all {
		n[alike(&all[i])]++
	}
	var rows []planRow
	for i := range all {
		kind := alike(&all[i])
		switch members := n[kind]; {
		case all[i].Pool == "" || members > 0 && members < several:
			rows = append(rows, planRow{Change: all[i]})
		case members > 0:
			rows = append(rows, planRow{Change: kind, members: members})
			n[kind] = -1 // listed
		}
	}
	return rows
}

// planLines lists what a plan changes, and how many agents stay unchanged. With all set it lists each agent.
func planLines(m *model, p *feed.Plan, all bool) []string {
	rows, still := planRows(p), 0
	if all {
		rows = rows[:0]
		for _, c := range sortedChanges(p) {
			rows = append(rows, planRow{Change: c})
		}
	}
	for i := range p.Changes {
		if idle(&p.Changes[i]) {
			still++
		}
	}
	room := 0
	for i := range rows {
		room = max(room, widget.Width(widget.Plain(rows[i].What)))
	}
	var lines []string
	for i := range rows {
		if all || !idle(&rows[i].Change) {
			lines = append(lines, planLine(m, &rows[i], room))
		}
	}
	switch {
	case len(p.Changes) == 0 && len(p.Notes) > 0: // the notes say why no changes are known
	case still == len(p.Changes):
		lines = append(lines, "It changes no agent.")
	case still > 0 && !all:
		lines = append(lines, m.look.Paint(themes.Dim,
			widget.Count(still, "agent")+" unchanged"))
	}
	for _, note := range p.Notes {
		for _, part := range widget.PlainLines(note) {
			lines = append(lines, m.look.Paint(themes.Warn, m.look.Glyphs.Alert+" "+part))
		}
	}
	return lines
}

func planLine(m *model, r *planRow, room int) string {
	who := widget.Plain(r.Agent)
	if r.members > 0 {
		who = fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"members)", widget.Plain(r.Pool),
			r.members)
	}
	what := widget.Plain(r.What)
	if what == "none" {
		what = "-"
	}
	text := m.look.Paint(changeToken(r.What), widget.Fit(what, room, "")) + "  " + who
	if why := strings.TrimSpace(widget.Plain(r.Why)); why != "" {
		text += ": " + why
	}
	return text
}

// askEnforce asks whether to apply an edit, and shows its plan.
func askEnforce(m *model, e feed.Edited, again, drop answer) {
	yes := answer{Key: "y", Title: "yes, apply it", Do: func(m *model) []feed.Effect {
		m.draft = nil
		return []feed.Effect{feed.ApplyDraft{ID: begin(m, "applying the configuration "+
			m.look.Glyphs.More), Draft: e.Draft, Data: e.Data}}
	}}
	answers := []answer{yes, again, drop}
	if len(e.Plan.Changes) > 0 {
		read := answer{Key: "d", Title: "show what happens to each agent", Safe: true,
			Do: func(m *model) []feed.Effect {
				m.judged = &e // the question is open again after the text
				m.read(&reader{Title: "What the edited configuration changes",
					Lines: func(w int) []string {
						return widget.WrapAll(planLines(m, &e.Plan, true), w)
					}})
				return nil
			}}
		answers = []answer{yes, read, again, drop}
	}
	m.dialogs.Open(&choice{Title: "Apply the edited " + draftName(e.Draft) + "?",
		Body: planLines(m, &e.Plan, false), Since: m.now, At: len(answers) - 1, Answers: answers})
}
