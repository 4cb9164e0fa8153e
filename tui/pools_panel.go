package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// pools is the panel of the city's pools.
type pools struct {
	table[poolRow, *poolRow]
	agents *agents // the members are among them
}

func newPools(all *agents) *pools {
	p := &pools{agents: all}
	p.table = newTable(definition[poolRow, *poolRow]{
		about: about{id: panelPools, title: "Pools", hotkey: "2", noun: "pool",
			zone: keymap.InPools, kind: KindPool,
			opens: "pool.details", details: "pool.details", nouns: []string{"pool", "rig"},
			explains: true, share: 5, least: 2},
		rows:    p.made,
		orders:  poolWays,
		matches: func(f *widget.Filter, r *poolRow, now time.Time) bool { return r.passes(f, now) },
		needs:   (*poolRow).attention,
		columns: poolColumnsOf,
		ills:    func(e *env) (string, bool) { ills := p.ills(e.now); return ills, ills != "" },
		help:    poolHelp,
		rig:     func(r *poolRow) string { return r.rig },
		called:  func(r *poolRow) string { return "pool " + r.shown },
		copies: func(r *poolRow) []copied {
			return []copied{{"name", r.name}, {"check", r.check.Command},
				{"what the check printed", r.check.Output},
				{"where it is declared", r.source}}
		},
		strip: poolStrip,
	})
	return p
}

// made are the rows of a snapshot. A pool that has had too few members keeps the time since when.
func (p *pools) made(e *env) []poolRow {
	rows := make([]poolRow, 0, len(e.snap.Pools))
	for i := range e.snap.Pools {
		row := newPoolRow(&e.snap.Pools[i])
		if row.lacks() {
			row.lacking = e.now
			if old := p.Find(row.name); old != nil && old.lacks() {
				row.lacking = old.lacking
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// poolSign is the glyph and the token of a pool's state; the word stands beside it.
func poolSign(l *widget.Styles, s poolState) (string, themes.Token) {
	switch s {
	case poolFailing:
		return l.Glyphs.Failed, themes.Bad
	case poolShort:
		return l.Glyphs.Alert, themes.Warn
	case poolGrowing:
		return l.Glyphs.Starting, themes.Busy
	case poolShrinking:
		return l.Glyphs.Leaving, themes.Busy
	case poolSuspended:
		return l.Glyphs.Suspended, themes.Off
	}
	return l.Glyphs.Running, themes.Good
}

const poolStateWidth = 9 // "suspended"

// poolColumns are the widths of the Pools panel; 0 = dropped.
type poolColumns struct{ state, name, size, bounds, why, gap int }

func poolWidths(e *env, rows []*poolRow, w int) poolColumns {
	c := poolColumns{state: poolStateWidth + 2, name: 6, size: 4, bounds: 7, gap: 2}
	longest, need := 0, 0
	for _, r := range rows {
		why, _ := r.why(e.now)
		longest, need = max(longest, widget.Width(r.shown)), max(need,
			widget.Width(why)+3+widget.Width(r.leaving().Brief))
		c.name = max(c.name, widget.Width(r.shown))
		c.size, c.bounds = max(c.size, len(r.sizeText())), max(c.bounds, len(r.bounds()))
	}
	c.name = min(c.name, max(8, min(28, w/4)))
	if w < 60 {
		c.bounds = 0
	}
	if w < 50 {
		c.gap, c.name = 1, min(c.name, 9)
	}
	said := 20 // "check said 2, 8s ago"; more of it is worth less than a name in full
	if w < 70 {
		said = 14
	}
	need = min(need, said)
	rest := w - 4 - c.state - c.gap - c.name - c.gap - c.size - c.gap
	if w < 70 && rest-c.bounds-c.gap < need {
		c.bounds = 0
	}
	if c.bounds > 0 {
		rest -= c.bounds + c.gap
	}
	if w >= 50 {
		spare := max(0, min(longest-c.name, rest-need))
		c.name, rest = c.name+spare, rest-spare
	}
	c.why = max(0, rest)
	return c
}

// poolColumnsOf are the columns of the Pools panel that fit into w.
func poolColumnsOf(e *env, rows []*poolRow, w int) []column[*poolRow] {
	c, more := poolWidths(e, rows, w), e.look.Glyphs.More
	columns := []column[*poolRow]{
		{head: "state", w: c.state, cell: func(l *widget.Line, r *poolRow, _ widget.RowState) {
			state := r.state(e.now)
			sign, token := poolSign(e.look, state)
			l.Add(token, widget.Fit(sign+" "+string(state), c.state, more))
		}},
		{head: "name", w: c.name, gap: c.gap, cell: func(l *widget.Line, r *poolRow,
			s widget.RowState) {
			l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
		}},
		{head: "size", w: c.size, gap: c.gap, right: true, cell: func(l *widget.Line, r *poolRow,
			_ widget.RowState) {
			size := themes.Text
			if r.size != r.desired {
				_, size = poolSign(e.look, r.state(e.now))
			}
			l.Add(size, widget.FitRight(r.sizeText(), c.size, more))
		}},
	}
	if c.bounds > 0 {
		columns = append(columns, column[*poolRow]{head: "min-max", w: c.bounds, gap: c.gap,
			right: true,
			cell: func(l *widget.Line, r *poolRow, _ widget.RowState) {
				l.Add(themes.Dim, widget.FitRight(r.bounds(), c.bounds, more))
			}})
	}
	return append(columns, column[*poolRow]{head: "check", w: c.why, gap: c.gap,
		cell: func(l *widget.Line, r *poolRow, _ widget.RowState) {
			e.look.Reason(l,
				r.because(e.now, c.why), c.why)
		}})
}

// because is where a pool's size comes from, and who leaves, for a cell of w columns.
func (r *poolRow) because(now time.Time, w int) widget.Reason {
	b := widget.Reason{Tail: r.leaving(), TailToken: themes.Busy}
	b.Text, b.Token = r.why(now)
	if w < 16 { // the number is what counts
		for _, known := range []string{"check ", "counts open ", "set "} {
			b.Text = strings.TrimPrefix(b.Text, known)
		}
	}
	return b
}

// sizeText is how many members live, of how many.
func (r *poolRow) sizeText() string { return fmt.Sprintf("%d/%d", r.size, r.desired) }

func (r *poolRow) bounds() string { return fmt.Sprintf("%d-%d", r.min, r.max) }

// leaving says which members finish.
func (r *poolRow) leaving() widget.Phrase {
	switch len(r.draining) {
	case 0:
		return widget.Phrase{}
	case 1:
		return widget.Phrase{Full: r.draining[0] + " draining", Brief: "1 draining"}
	}
	return widget.Same(strconv.Itoa(len(r.draining)) + " draining")
}

// why says where a pool's size comes from: who set it, what its check said and when, or why that does not count.
func (r *poolRow) why(now time.Time) (string, themes.Token) {
	text := r.checkText(now)
	switch {
	case r.suspended != "":
		return r.suspended, themes.Dim
	case r.override != nil && r.check.Problem != "":
		return fmt.Sprintf("set by hand to %d; %s", *r.override, text), themes.Bad
	case r.override != nil && r.check.Good == nil:
		return fmt.Sprintf("set by hand to %d", *r.override), themes.Warn
	case r.override != nil:
		return fmt.Sprintf("set by hand to %d; %s", *r.override, text), themes.Warn
	case r.check.Problem != "":
		return text, themes.Bad
	}
	return text, themes.Text
}

// checkText is what the check said, and when.
func (r *poolRow) checkText(now time.Time) string {
	c := &r.check
	asking := ""
	if c.Running != nil && now.Sub(*c.Running) >= 2*time.Second {
		asking = "; asking for " + widget.Age(now.Sub(*c.Running))
	}
	switch {
	case c.Problem != "":
		kept := "; no good one yet"
		if c.Good != nil {
			kept = fmt.Sprintf("; it last said %d, %s ago", c.Value, widget.Age(now.Sub(*c.Good)))
		}
		when := ""
		if c.At != nil {
			when = " " + widget.Age(now.Sub(*c.At)) + " ago"
		}
		return "check failed" + when + ": " + c.Problem + kept + asking
	case c.Good != nil && c.Command == "":
		return fmt.Sprintf("counts open work: %d", c.Value) + r.bound() + asking
	case c.Good != nil:
		return fmt.Sprintf("check said %d, %s ago", c.Value,
			widget.Age(now.Sub(*c.Good))) + r.bound() + asking
	case c.Command == "":
		return "counts open work; not counted yet" + asking
	case c.Running != nil:
		return "first check under way for " + widget.Age(now.Sub(*c.Running))
	case r.reason != "":
		return r.reason
	}
	return "not checked yet"
}

// bound says which bound keeps the pool from what its check said, "" if none does.
func (r *poolRow) bound() string {
	switch {
	case r.override != nil:
		return ""
	case r.check.Value > r.max:
		return fmt.Sprintf("; at most %d", r.max)
	case r.check.Value < r.min:
		return fmt.Sprintf("; at least %d", r.min)
	}
	return ""
}

// poolHelp says what would fill the list.
func poolHelp(e *env, w int) []string {
	return e.look.Notes(w, "No pools. An agent with an [agents.pool] table is one.",
		"A check says how many members run. In "+
			widget.Plain(e.snap.Path)+"/city.toml:", "",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"    [agents.pool]", "    min = 1", "    max = 3",
		`    check = "cat wanted"    # prints how many are needed`)
}

// passes reports whether a pool's row passes.
func (r *poolRow) passes(f *widget.Filter, now time.Time) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state(now)), t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "pool", "name":
			hit = widget.HasNamePrefix(r.name, t.Word)
		case "":
			hit = t.In(r.shown)
			if !hit && !t.Fuzzy {
				why, _ := r.why(now)
				hit = t.In(string(r.state(now))) || t.In(why) || t.In(r.leaving().Full)
			}
		}
		return hit
	})
}

// poolStrip is a pool in a few lines, beside the lists.
func poolStrip(e *env, r *poolRow, w int) []string {
	dot := " " + e.look.Glyphs.Dot + " "
	lines := []string{e.look.Title(w, false, []widget.Tab{{Name: "pool " + r.shown, Active: true}},
		r.source)}
	row := func(k themes.Token, text string) {
		l := widget.Line{Styles: e.look}
		l.Space(1)
		l.Add(k, widget.Cut(text, w-2, e.look.Glyphs.More))
		lines = append(lines, widget.Crop(l.Fill(w), w))
	}
	state := r.state(e.now)
	sign, token := poolSign(e.look, state)
	head := sign + " " + string(state) + dot + r.sizes() + dot + r.bounds()
	p, ok := e.snap.Pool(r.name)
	if !ok {
		return lines
	}
	if next := nextText(p.Next, e.now); next != "" {
		head += dot + next
	}
	row(token, head)
	why, color := r.why(e.now)
	row(color, why)
	if out := lastLine(p.Check.Output); out != "" {
		row(themes.Dim, "it printed: "+out)
	}
	if len(r.draining) > 0 {
		row(themes.Text, "draining: "+strings.Join(r.draining, ", "))
	}
	if n := len(p.Decisions); n > 0 {
		d := &p.Decisions[n-1]
		row(themes.Dim, "last decision: "+widget.Plain(d.What)+", "+widget.Plain(d.Why))
	}
	return lines
}

// lastLine is the last line of a text that says anything.
func lastLine(text string) string {
	lines := strings.Split(text, "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(widget.Plain(lines[i])); s != "" {
			return s
		}
	}
	return ""
}

// sizes says how many members live, and how many are wanted.
func (r *poolRow) sizes() string { return fmt.Sprintf("%d of %d wanted", r.size, r.desired) }
