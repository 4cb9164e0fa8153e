package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/widget"
)

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

func (m *model) poolColumns(w int) poolColumns {
	c := poolColumns{state: poolStateWidth + 2, name: 6, size: 4, bounds: 7, gap: 2}
	longest, need := 0, 0
	for _, i := range m.pools.List.Shown {
		r := &m.pools.Rows[i]
		why, _ := r.why(m.now)
		longest, need = max(longest, widget.Width(r.shown)),
			max(need, widget.Width(why)+3+widget.Width(r.leaving().Brief))
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

// sizeText is how many members live, of how many.
func (r *poolRow) sizeText() string { return fmt.Sprintf("%d/%d", r.size, r.desired) }

func (r *poolRow) bounds() string { return fmt.Sprintf("%d-%d", r.min, r.max) }

// poolsPanel draws the list; with tabs it shares its place.
func (m *model) poolsPanel(w, h int, focus bool, tabs []widget.Tab) []string {
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.pools.Version, UI: m.ui,
		Second: m.now.Unix()}
	return m.cache[panelPools].Lines(key, func() []string { return m.drawPools(w, h, focus, tabs) })
}

func (m *model) drawPools(w, h int, focus bool, tabs []widget.Tab) []string {
	l := &m.pools.List
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs,
		m.ordered(m.ruleNote(tabs, l, &m.pools.Filter), m.pools.Order,
			widget.WayNames(poolWays(m.now)), len(m.pools.Rows), focus)))
	if len(l.Shown) == 0 {
		return widget.FillRows(append(lines, m.noPools(w)...), w, h)
	}
	c := m.poolColumns(w)
	room := h - 1
	if m.headed(w, h) {
		lines = append(lines, m.poolHeads(c, w))
		room--
	}
	from, to := l.Window(room)
	for _, i := range l.Shown[from:to] {
		lines = append(lines, m.poolLine(&m.pools.Rows[i], c, w, focus))
	}
	return widget.FillRows(lines, w, h)
}

func (m *model) poolHeads(c poolColumns, w int) string {
	l := widget.Line{Styles: &m.look}
	l.Add(themes.Dim, "   "+widget.Fit("state", c.state+c.gap, "")+
		widget.Fit("name", c.name+c.gap, "")+widget.FitRight("size", c.size, ""))
	if c.bounds > 0 {
		l.Add(themes.Dim, "  "+widget.FitRight("min-max", c.bounds, ""))
	}
	l.Add(themes.Dim, "  "+widget.Fit("check", c.why, ""))
	return l.Fill(w)
}

func (m *model) poolLine(r *poolRow, c poolColumns, w int, focus bool) string {
	more := m.look.Glyphs.More
	s := widget.RowState{Cursor: r.name == m.pools.Chosen, Marked: m.pools.Marks[r.name],
		Focus: focus, Stray: m.pools.List.Strays[r.name]}
	l := m.look.RowStart(s)
	state := r.state(m.now)
	sign, token := poolSign(&m.look, state)
	l.Add(token, widget.Fit(sign+" "+string(state), c.state, more))
	l.Space(c.gap)
	size := themes.Text
	l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
	l.Space(c.gap)
	if r.size != r.desired {
		size = token
	}
	l.Add(size, widget.FitRight(r.sizeText(), c.size, more))
	if c.bounds > 0 {
		l.Space(c.gap)
		l.Add(themes.Dim, widget.FitRight(r.bounds(), c.bounds, more))
	}
	l.Space(c.gap)
	b := widget.Reason{Tail: r.leaving(), TailToken: themes.Busy}
	b.Text, b.Token = r.why(m.now)
	if c.why < 16 { // the number is what counts
		for _, known := range []string{"check ", "counts open ", "set "} {
			b.Text = strings.TrimPrefix(b.Text, known)
		}
	}
	m.look.Reason(&l, b, c.why)
	return widget.Crop(l.Fill(w), w)
}

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
		return fmt.Sprintf("check said %d, %s ago", c.Value, widget.Age(now.Sub(*c.Good))) +
			r.bound() + asking
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

// noPools says why the list is empty and what would fill it.
func (m *model) noPools(w int) []string {
	note := func(texts ...string) []string { return m.look.Notes(w, texts...) }
	n := len(m.pools.Rows)
	switch {
	case m.snap == nil:
		return note("Waiting for the city.")
	case n > 0 && m.attention && !m.pools.Filter.Active():
		return note("No pool needs attention.", fmt.Sprintf("%s shows all %d again.", m.keys.KeyOf("view.attention"), n))
	case n > 0:
		return note(fmt.Sprintf("None of %s matches %q.", widget.Count(n, "pool"),
			m.pools.Filter.Text), m.clears())
	}
	return note("No pools. An agent with an [agents.pool] table is one.", "A check says how many members run. In "+
		widget.Plain(m.snap.Path)+"/city.toml:", "",
		"    [[agents]]", `    name = "worker"`, `    start_command = "bash -i"`, "",
		"    [agents.pool]", "    min = 1", "    max = 3", `    check = "cat wanted"    # prints how many are needed`)
}
