package tui

import (
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// automations is the panel of the city's automations.
type automations struct {
	table[automationRow, *automationRow]
	been bool // a hand has put the cursor somewhere
}

func newAutomations() *automations {
	a := &automations{}
	a.table = newTable(definition[automationRow, *automationRow]{
		about: about{id: panelAutomations, title: "Automations", hotkey: "4", noun: "automation",
			zone: keymap.InAutomations, kind: KindAutomation,
			opens: "automation.details", details: "automation.details",
			nouns:    []string{"automation", "rig"},
			explains: true, share: 6, least: 3},
		rows: func(e *env) []automationRow {
			rows := make([]automationRow, len(e.snap.Automations))
			for i := range rows {
				rows[i] = newAutomationRow(&e.snap.Automations[i])
				rows[i].hand = e.keyOf("automation.fire")
			}
			return rows
		},
		orders:  func(time.Time) []widget.Way[automationRow] { return automationWays() },
		matches: func(f *widget.Filter, r *automationRow, _ time.Time) bool { return r.passes(f) },
		needs:   func(r *automationRow, _ time.Time) bool { return r.attention() },
		columns: automationColumnsOf,
		ills:    func(*env) (string, bool) { return a.ills() },
		help:    automationHelp,
		brief: func(e *env) string {
			return "No automations. " + e.keyOf("focus.automations") + " shows how to add one."
		},
		rig:    func(r *automationRow) string { return r.rig },
		copies: automationCopies,
		strip:  automationStrip,
	})
	return a
}

// Move puts the cursor n rows on. From then on it stays where the user has put it.
func (a *automations) Move(n int) {
	a.been = true
	a.table.Move(n)
}

// Select puts the cursor on an automation, as Move does.
func (a *automations) Select(id string) bool {
	a.been = true
	return a.table.Select(id)
}

// Entered puts the cursor on the first automation that needs attention, unless the user has put it elsewhere: the
// header has sent the user here.
func (a *automations) Entered() {
	for at, i := range a.List.Shown {
		if a.Rows[i].attention() && !a.been {
			a.List.Cursor = at
			a.Choose()
			return
		}
	}
}

// automationSign is the glyph and the token of an automation's state; the word stands beside it.
func automationSign(l *widget.Styles, s automationState) (string, themes.Token) {
	switch s {
	case automationBroken:
		return l.Glyphs.Alert, themes.Bad
	case automationRunning:
		return l.Glyphs.Starting, themes.Busy
	case automationDue:
		return l.Glyphs.Waiting, themes.Busy
	case automationIdle:
		return l.Glyphs.Running, themes.Good
	case automationManual:
		return l.Glyphs.Suspended, themes.Text
	case automationOff:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Failed, themes.Bad
}

const automationStateWidth = 7 // "running", "failing"

// automationColumns are the widths of the Automations panel; 0 = dropped.
type automationColumns struct{ state, name, why, last, gap int }

func automationWidths(e *env, rows []*automationRow, w int) automationColumns {
	const enough, most = 32, 26 // for why before last is shown; for last
	c := automationColumns{state: automationStateWidth + 2, name: 6, gap: 2}
	for _, r := range rows {
		c.name, c.last = max(c.name, widget.Width(r.shown)), max(c.last, widget.Width(r.ago(e.now)))
	}
	c.name, c.last = min(c.name, max(8, min(28, w/4))), min(c.last, most)
	if w < 50 {
		c.gap, c.name = 1, min(c.name, 9)
	}
	rest := w - 4 - c.state - c.gap - c.name - c.gap
	if rest-c.last-c.gap < enough {
		c.last = 0
	}
	if c.last > 0 {
		rest -= c.last + c.gap
	}
	c.why = max(0, rest)
	return c
}

// automationColumnsOf are the columns of the Automations panel that fit into w.
func automationColumnsOf(e *env, rows []*automationRow, w int) []column[*automationRow] {
	c, more := automationWidths(e, rows, w), e.look.Glyphs.More
	columns := []column[*automationRow]{
		{head: "state", w: c.state, cell: func(l *widget.Line, r *automationRow,
			_ widget.RowState) {
			sign, token := automationSign(e.look, r.state)
			l.Add(token, widget.Fit(sign+" "+string(r.state), c.state, more))
		}},
		{head: "name", w: c.name, gap: c.gap,
			cell: func(l *widget.Line, r *automationRow, s widget.RowState) {
				l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
			}},
		{head: "gate", w: c.why, gap: c.gap, cell: func(l *widget.Line, r *automationRow,
			_ widget.RowState) {
			b := r.because(e)
			if r.state == automationRunning && c.last > 0 { // it stands there
				b.Tail = widget.Phrase{}
			}
			e.look.Reason(l, b, c.why)
		}},
	}
	if c.last == 0 {
		return columns
	}
	return append(columns, column[*automationRow]{head: "last run", w: c.last, gap: 2,
		cell: func(l *widget.Line, r *automationRow, _ widget.RowState) {
			last := themes.Dim
			if r.fails() && r.state != automationRunning {
				last = themes.Bad
			}
			l.Add(last, widget.Fit(r.ago(e.now), c.last, more))
		}})
}

// because is the gate and what it says, and when it opens.
func (r *automationRow) because(e *env) widget.Reason {
	b := widget.Reason{Text: r.why(e.look.Glyphs.Dot), Token: themes.Text, Tail: r.soon(e.now),
		TailToken: themes.Dim}
	switch {
	case r.attention():
		b.Token = themes.Bad
	case r.state == automationOff:
		b.Token = themes.Dim
	}
	return b
}

// automationHelp says what would fill the list.
func automationHelp(e *env, w int) []string {
	return e.look.Notes(w, "No automations. Each is a file of its "+
		"own, below "+widget.Plain(e.snap.Path)+":",
		".gc/formulas/automations/NAME/automation.toml, or below what [formulas] dir names.", "",
		"    [automation]", `    gate = "cooldown"    # or cron, condition, event, manual`,
		`    interval = "5m"`,
		`    exec = "df -h ."     # or formula = "NAME"`)
}

// passes reports whether an automation's row passes.
func (r *automationRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "pool":
			hit = r.pool != "" && widget.HasNamePrefix(r.pool, t.Word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.Word)
		case "":
			hit = t.In(r.shown) || !t.Fuzzy && (t.In(string(r.state)) || t.In(r.why("")))
		}
		return hit
	})
}

// automationStrip is an automation in a few lines, beside the lists.
func automationStrip(e *env, r *automationRow, w int) []string {
	dot := " " + e.look.Glyphs.Dot + " "
	lines := []string{e.look.Title(w, false,
		[]widget.Tab{{Name: "automation " + r.shown, Active: true}}, r.source)}
	row := func(k themes.Token, text string) {
		l := widget.Line{Styles: e.look}
		l.Space(1)
		l.Add(k, widget.Cut(text, w-2, e.look.Glyphs.More))
		lines = append(lines, widget.Crop(l.Fill(w), w))
	}
	a, ok := e.snap.Automation(r.name)
	if !ok {
		return lines
	}
	sign, token := automationSign(e.look, r.state)
	head := sign + " " + string(r.state)
	if soon := r.soon(e.now).Full; soon != "" {
		head += dot + soon
	}
	row(token, head)
	row(themes.Text, r.why(e.look.Glyphs.Dot))
	action := widget.Plain(a.Exec)
	if a.Formula != "" {
		action = "formula " + widget.Plain(a.Formula)
		if a.Pool != "" {
			action += " for pool " + widget.Plain(a.Pool)
		}
	}
	row(themes.Text, action)
	if r.state != automationRunning { // else it stands above
		row(themes.Dim, r.ago(e.now))
	}
	if a.Last != nil {
		if out := lastLine(a.Last.Output); out != "" {
			row(themes.Dim, "it printed: "+out)
		}
	}
	return lines
}

func automationCopies(r *automationRow) []copied {
	all := []copied{{"name", r.name}, {"file", r.source}, {"what its gate says", r.reason}}
	if r.last != nil {
		all = append(all, copied{"last run's id", r.last.ID},
			copied{"what the last run printed", r.last.Output})
	}
	return all
}
