package feed

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// changeOrder orders changes by severity: agents that stop come first.
var changeOrder = [...]string{"stop", "fail", "drain", "restart", "start", "wait", "none"}

func unchanged(c *Change) bool { return c.Kind == "none" }

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
func sortedChanges(p *Plan) []Change {
	all := slices.Clone(p.Changes)
	slices.SortStableFunc(all, func(a, b Change) int {
		if d := slices.Index(changeOrder[:], a.Kind) - slices.Index(changeOrder[:], b.Kind); d !=
			0 {
			return d
		}
		return city.CompareNames(a.Agent, b.Agent)
	})
	return all
}

// planRow is a change of one agent, or the same change of several members of a pool.
type planRow struct {
	Change
	members int // 0 = it is one agent
}

// planRows groups members of a pool that have the same change for the same reason, if there are enough of them.
func planRows(p *Plan) []planRow {
	const several = 3
	all := sortedChanges(p)
	alike := func(c *Change) Change {
		return Change{Pool: c.Pool, Kind: c.Kind, Why: c.Why}
	}
	n := map[Change]int{}
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
			n[kind] = -1 // the group is in rows now
		}
	}
	return rows
}

// Lines lists what a plan changes, and how many agents stay unchanged. With all set it lists each agent.
func (p *Plan) Lines(look *widget.Styles, all bool) []string {
	rows, still := planRows(p), 0
	if all {
		rows = rows[:0]
		for _, c := range sortedChanges(p) {
			rows = append(rows, planRow{Change: c})
		}
	}
	for i := range p.Changes {
		if unchanged(&p.Changes[i]) {
			still++
		}
	}
	room := 0
	for i := range rows {
		room = max(room, widget.Width(widget.Plain(rows[i].Kind)))
	}
	var lines []string
	for i := range rows {
		if all || !unchanged(&rows[i].Change) {
			lines = append(lines, planLine(look, &rows[i], room))
		}
	}
	switch {
	case len(p.Changes) == 0 && len(p.Notes) > 0: // the notes say why no changes are known
	case still == len(p.Changes):
		lines = append(lines, "The change affects no agent.")
	case still > 0 && !all:
		lines = append(lines, look.Paint(themes.Dim,
			widget.Count(still, "agent")+" unchanged"))
	}
	for _, note := range p.Notes {
		for _, part := range widget.PlainLines(note) {
			lines = append(lines, look.Paint(themes.Warn, look.Glyphs.Alert+" "+part))
		}
	}
	return lines
}

func planLine(look *widget.Styles, r *planRow, room int) string {
	who := widget.Plain(r.Agent)
	if r.members > 0 {
		who = fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"members)", widget.Plain(r.Pool),
			r.members)
	}
	what := widget.Plain(r.Kind)
	if what == "none" {
		what = "-"
	}
	text := look.Paint(changeToken(r.Kind), widget.Fit(what, room, "")) + "  " + who
	if why := strings.TrimSpace(widget.Plain(r.Why)); why != "" {
		text += ": " + why
	}
	return text
}
