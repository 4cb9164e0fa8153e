package feed

import (
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

var changeOrder = [...]string{"stop", "fail", "drain", "restart", "start", "wait", "none"}

func unchanged(c *Change) bool { return c.Kind == "none" }

func changeToken(kind string) themes.Token {
	switch kind {
	case "stop", "fail":
		return themes.Bad
	case "drain", "restart":
		return themes.Warn
	case "start":
		return themes.Good
	}
	return themes.Dim
}

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

type planRow struct {
	Change
	members int // 0 = a single agent
}

func planRows(p *Plan) []planRow {
	const several = 3
	all := sortedChanges(p)
	groupKey := func(c *Change) Change {
		return Change{Pool: c.Pool, Kind: c.Kind, Why: c.Why}
	}
	n := map[Change]int{}
	for i := range all {
		n[groupKey(&all[i])]++
	}
	var rows []planRow
	for i := range all {
		kind := groupKey(&all[i])
		switch members := n[kind]; {
		case all[i].Pool == "" || members > 0 && members < several:
			rows = append(rows, planRow{Change: all[i]})
		case members > 0:
			rows = append(rows, planRow{Change: kind, members: members})
			n[kind] = -1 // the group has its own row now
		}
	}
	return rows
}

// Lines returns the changes in a plan, with similar changes of a pool's members on one line. If includeUnchanged is
// set, it returns a line for every agent.
func (p *Plan) Lines(styles *widget.Styles, includeUnchanged bool) []string {
	rows, unchangedCount := planRows(p), 0
	if includeUnchanged {
		rows = rows[:0]
		for _, c := range sortedChanges(p) {
			rows = append(rows, planRow{Change: c})
		}
	}
	for i := range p.Changes {
		if unchanged(&p.Changes[i]) {
			unchangedCount++
		}
	}
	kindWidth := 0
	for i := range rows {
		kindWidth = max(kindWidth, widget.Width(widget.Plain(rows[i].Kind)))
	}
	var lines []string
	for i := range rows {
		if includeUnchanged || !unchanged(&rows[i].Change) {
			lines = append(lines, planLine(styles, &rows[i], kindWidth))
		}
	}
	switch {
	case len(p.Changes) == 0 && len(p.Notes) > 0: // the notes explain why the changes are unknown
	case unchangedCount == len(p.Changes) && len(p.Settings) > 0:
		lines = append(lines, "The change does not start, stop or restart any agent now.")
	case unchangedCount == len(p.Changes):
		lines = append(lines, "The change does not affect any agent.")
	case unchangedCount > 0 && !includeUnchanged:
		lines = append(lines, styles.Paint(themes.Dim,
			widget.Count(unchangedCount, "agent")+" unchanged"))
	}
	for _, s := range p.Settings {
		lines = append(lines, widget.Plain(s))
	}
	for _, note := range p.Notes {
		for _, part := range widget.PlainLines(note) {
			lines = append(lines, styles.Paint(themes.Warn, styles.Glyphs.Alert+" "+part))
		}
	}
	return lines
}

func planLine(styles *widget.Styles, r *planRow, kindWidth int) string {
	subject := widget.Plain(r.Agent)
	if r.members > 0 {
		subject = fmt.Sprintf("%s"+widget.NBSP+"(%d"+widget.NBSP+"members)", widget.Plain(r.Pool),
			r.members)
	}
	what := widget.Plain(r.Kind)
	if what == "none" {
		what = "-"
	}
	text := styles.Paint(changeToken(r.Kind), widget.Fit(what, kindWidth, "")) + "  " + subject
	if why := strings.TrimSpace(widget.Plain(r.Why)); why != "" {
		text += ": " + why
	}
	return text
}
