package panel

import (
	"slices"
	"time"

	"gcity/describe"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Automations is the panel that lists the city's automations.
type Automations struct {
	Table[*AutomationRow]
	moved bool
}

func newAutomations() *Automations {
	a := &Automations{}
	a.Table = NewTable(Definition[*AutomationRow]{
		About: About{ID: IDAutomations, Title: "Automations", Hotkey: "4", Noun: "automation",
			Zone: keymap.InAutomations, Kind: KindAutomation,
			Opens: "automation.details", Details: "automation.details",
			Nouns:    []string{"automation", "rig"},
			Explains: true, Share: 6, MinHeight: 3},
		Rows: func(e *Env) []*AutomationRow {
			rows := make([]AutomationRow, len(e.Snap.Automations))
			for i := range rows {
				rows[i] = NewAutomationRow(&e.Snap.Automations[i])
				rows[i].fireKey = e.KeyOf("automation.fire")
			}
			return widget.Pointers(rows)
		},
		Orders:  automationSorts,
		Matches: (*AutomationRow).matches,
		Needs:   func(r *AutomationRow, _ time.Time) bool { return r.Attention() },
		Columns: automationColumns,
		Issues:  a.issues,
		Help:    automationHelp,
		Brief: func(e *Env) string {
			return "No automations. " + e.KeyOf("focus.automations") + " shows how to add one."
		},
		Rig:     func(r *AutomationRow) string { return r.Rig },
		Copies:  automationCopies,
		Summary: automationSummary,
	})
	return a
}

// Move moves the cursor by n rows. After that, Refill no longer moves it.
func (a *Automations) Move(n int) {
	a.moved = true
	a.Table.Move(n)
}

// Select moves the cursor to an automation. After that, Refill no longer moves it.
func (a *Automations) Select(id string) bool {
	a.moved = true
	return a.Table.Select(id)
}

// Entered ends the automatic movement of the cursor by Refill.
func (a *Automations) Entered() { a.moved = true }

// Refill moves the cursor to the first automation that needs attention, until the user enters the panel.
func (a *Automations) Refill(e *Env, holds func(id string) bool) {
	a.Table.Refill(e, holds)
	if a.moved {
		return
	}
	a.List.Cursor = max(0, slices.IndexFunc(a.List.Shown, func(i int) bool {
		return a.Rows[i].Attention()
	}))
	a.SelectCurrent()
}

// AutomationSign returns the symbol and the color for an automation's state.
func AutomationSign(l *widget.Styles, s AutomationState) (string, themes.Token) {
	switch s {
	case AutomationBroken:
		return l.Glyphs.Alert, themes.Bad
	case AutomationRunning:
		return l.Glyphs.Starting, themes.Busy
	case AutomationDue:
		return l.Glyphs.Waiting, themes.Busy
	case AutomationIdle:
		return l.Glyphs.Running, themes.Good
	case AutomationManual:
		return l.Glyphs.Manual, themes.Text
	case AutomationOff:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Failed, themes.Bad
}

func automationColumns(e *Env, rows []*AutomationRow, w int) []Column[*AutomationRow] {
	const enough, usual, most = 32, 21, 26 // minimum width of "gate"; the two widths of "last run"
	// the longest state is "failing"; a sign and a space precede it
	state, name, last, gap := len(AutomationFailing)+2, 6, usual, 2
	for _, r := range rows {
		name = max(name, widget.Width(r.Shown))
		if widget.Width(r.LastRunText(e.Now)) > usual {
			last = most // one of two widths, so that the width rarely changes
		}
	}
	name = min(name, max(8, min(28, w/4)))
	if w < 50 {
		gap, name = 1, min(name, 9)
	}
	why := w - 4 - state - gap - name - gap
	if why-last-gap < enough {
		last = 0
	} else {
		why -= last + gap
	}
	return Spaced(gap,
		Column[*AutomationRow]{Head: "state", W: state,
			Text: func(r *AutomationRow) (string, themes.Token) {
				sign, token := AutomationSign(e.Look, r.State)
				return sign + " " + string(r.State), token
			}},
		nameColumn(name, func(r *AutomationRow) string { return r.Shown }),
		reasonColumn("gate", why, func(r *AutomationRow) widget.Reason {
			b := r.reason(e)
			// the column "last run" shows the duration
			if r.State == AutomationRunning && last > 0 {
				b.Next = widget.Phrase{}
			}
			return b
		}),
		Column[*AutomationRow]{Head: "last run", W: last,
			Text: func(r *AutomationRow) (string, themes.Token) {
				if r.fails() && r.State != AutomationRunning {
					return r.LastRunText(e.Now), themes.Bad
				}
				return r.LastRunText(e.Now), themes.Dim
			}})
}

func (r *AutomationRow) reason(e *Env) widget.Reason {
	b := widget.Reason{Text: r.Why(e.Now, e.Look.Glyphs.Dot), Token: themes.Text,
		Next: r.DueText(e.Now), NextToken: themes.Dim}
	switch {
	case r.Attention():
		b.Token = themes.Bad
	case r.State == AutomationOff:
		b.Token = themes.Dim
	}
	return b
}

func automationHelp(e *Env, w int) []string {
	return e.Look.Notes(w, "No automations yet. Each automation has its "+
		"own file below "+widget.Plain(e.Snap.Path)+":",
		".gc/formulas/automations/NAME/automation.toml, or below [formulas] dir.", "",
		"    [automation]", `    gate = "cooldown"    # or cron, condition, event, manual`,
		`    interval = "5m"`,
		`    exec = "df -h ."     # or formula = "NAME"`)
}

func (r *AutomationRow) matches(t *widget.Term, now time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(string(r.State))
	case "rig":
		return t.Begins(r.Rig)
	case "pool":
		return t.BeginsName(r.Pool)
	case "name":
		return t.Begins(r.Name)
	case "":
		return t.In(r.Shown) || !t.Fuzzy && (t.In(string(r.State)) || t.In(r.Why(now, "")))
	}
	return false
}

func automationSummary(e *Env, r *AutomationRow, w int) []string {
	dot := e.Look.Between()
	s := newSummary(e, w, "automation "+r.Shown, r.Source)
	sign, token := AutomationSign(e.Look, r.State)
	head := sign + " " + string(r.State)
	if soon := describe.NextRun(r.DueText(e.Now).Full); soon != "" {
		head += dot + soon
	}
	s.add(token, head)
	s.add(themes.Text, r.Why(e.Now, e.Look.Glyphs.Dot))
	action := widget.Plain(r.Exec)
	if r.Formula != "" {
		action = "formula " + widget.Plain(r.Formula)
		if r.Pool != "" {
			action += " for pool " + widget.Plain(r.Pool)
		}
	}
	s.add(themes.Text, action)
	if r.State != AutomationRunning { // the first line already shows the progress
		s.add(themes.Dim, r.LastRunText(e.Now))
	}
	if r.Last != nil {
		if out := lastLine(r.Last.Output); out != "" {
			s.add(themes.Dim, "output: "+out)
		}
	}
	return s.lines
}

func automationCopies(r *AutomationRow) []Copied {
	all := []Copied{{"name", r.Name}, {"file", r.Source}, {"gate state", r.Reason}}
	if r.Last != nil {
		all = append(all, Copied{"last run ID", r.Last.ID},
			Copied{"last run output", r.Last.Output})
	}
	return all
}
