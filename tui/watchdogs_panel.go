package tui

import (
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// watchdogs is the panel of the city's watchdogs, those that need a person first.
type watchdogs struct {
	table[watchdogRow, *watchdogRow]
	agents *agents // that they look after
}

func newWatchdogs(all *agents) *watchdogs {
	d := &watchdogs{agents: all}
	d.table = newTable(definition[watchdogRow, *watchdogRow]{
		about: about{id: panelWatchdogs, title: "Watchdogs", hotkey: "6", noun: "watchdog",
			zone: keymap.InWatchdogs, kind: KindWatchdog,
			opens: "watchdog.details", details: "watchdog.details", nouns: []string{"watchdog",
				"agent"},
			optional: true, unmarked: true, explains: true, share: 6, least: 3,
			follows: true, proxy: "the agent that is watched is not there"},
		rows: func(e *env) []watchdogRow {
			rows := make([]watchdogRow, len(e.snap.Watchdogs))
			for i := range rows {
				rows[i] = newWatchdogRow(&e.snap.Watchdogs[i], e.look.Glyphs.Dot)
			}
			return rows
		},
		orders: func(time.Time) []widget.Way[watchdogRow] {
			return []widget.Way[watchdogRow]{{Name: "need", Rank: watchdogRank}}
		},
		matches: func(f *widget.Filter, r *watchdogRow, _ time.Time) bool { return r.passes(f) },
		needs:   func(r *watchdogRow, _ time.Time) bool { return r.attention() },
		columns: d.columns,
		ills:    func(*env) (string, bool) { return d.ills() },
		help:    d.help,
		agent:   func(r *watchdogRow) string { return r.watches },
		rig:     func(r *watchdogRow) string { return d.agents.rigOf(r.watches) },
		copies: func(r *watchdogRow) []copied {
			return []copied{{"name", r.name}, {"the agent that it watches", r.watches},
				{"why it stands so", r.told},
				{"where it is declared", r.dog.Source}}
		},
		strip:   d.strip,
		actions: d.actions,
	})
	return d
}

// actions are about the watchdog under the cursor. Verbs of agents are about the agent that it watches.
func (d *watchdogs) actions() []panelAction {
	const details = "show the watchdog in detail: heartbeat, who judges, the last decisions and why"
	return []panelAction{
		{Action: panelKey{ID: "watchdog.details", Key: keymap.Bind(details, "enter"),
			Short: "details",
			Run:   d.show}},
		{writes: true, Action: panelKey{ID: "watchdog.beat",
			Key:   keymap.Bind("have the watchdog look now", "t"),
			Short: "beat",
			Why:   func(e *env) string { return d.Current().judgedNow(e.now) },
			Run:   func(*env) []request { return []request{lookNow(d.Current())} }}},
		{Action: panelKey{ID: "watchdog.agent", Key: keymap.Bind("go to the agent that it watches",
			"."),
			Short: "agent", Why: d.whyNoAgent,
			Run: func(*env) []request { return []request{{visit: d.Current().watches}} }}},
	}
}

func (d *watchdogs) whyNoAgent(*env) string {
	if r := d.Current(); d.agents.Find(r.watches) == nil {
		return widget.Plain(r.watches) + " is not there"
	}
	return ""
}

// judgedNow says that a beat is being judged, "" if none is.
func (r *watchdogRow) judgedNow(now time.Time) string {
	if r.dog.Triaged != nil {
		return r.beats(now).Full + " already"
	}
	return ""
}

// lookNow has a watchdog look now.
func lookNow(r *watchdogRow) request {
	return request{ask: "Have " + r.shown + " look now?", verb: "beat", doing: "beating",
		what:     r.shown,
		commands: []city.Command{city.Beat{Watchdog: r.name}}}
}

// show is a watchdog in detail, with what was decided lately.
func (d *watchdogs) show(*env) []request {
	r := d.Current()
	name := r.name
	return []request{{title: "watchdog " + r.shown, lines: func(e *env, w int) []string {
		lines := d.details(e, name)
		if r := d.Find(name); r != nil {
			lines = append(lines, judgements(e, r.dog)...)
		}
		return widget.WrapAll(lines, w)
	}}}
}

// watchdogColumns are the widths of the Watchdogs panel; 0 = dropped.
type watchdogColumns struct{ state, name, watches, heart, mode, why, gap int }

func watchdogWidths(e *env, rows []*watchdogRow, w int) watchdogColumns {
	const state, enough = 10, 30 // "very stale"; what why must have before others are shown
	c := watchdogColumns{state: state + 2, name: 6, watches: 7, heart: 9, mode: 4, gap: 2}
	full := 0
	for _, r := range rows {
		h := r.heart(e.now)
		c.name, c.watches = max(c.name, widget.Width(r.shown)), max(c.watches,
			widget.Width(widget.Plain(r.watches)))
		c.heart, full = max(c.heart, widget.Width(h.Brief)), max(full, widget.Width(h.Full))
		c.mode = max(c.mode, widget.Width(r.whoJudges()))
	}
	c.name, c.watches = min(c.name, max(8, min(24, w/5))), min(c.watches, max(8, min(24, w/5)))
	c.mode = min(c.mode, 20)
	if w < 50 {
		c.gap, c.name, c.heart = 1, min(c.name, 9), 4
	}
	rest := w - 4 - c.state - c.gap - c.name - c.gap
	take := func(n *int, least int) {
		if rest-*n-c.gap < least {
			*n = 0
			return
		}
		rest -= *n + c.gap
	}
	take(&c.heart, 8)
	take(&c.watches, 14)
	take(&c.mode, enough+20)
	if more := full - c.heart; c.heart > 0 && more > 0 && rest-more >= enough {
		c.heart, rest = full, rest-more
	}
	c.why = max(0, rest)
	return c
}

// columns are those of the Watchdogs panel that fit into w.
func (d *watchdogs) columns(e *env, rows []*watchdogRow, w int) []column[*watchdogRow] {
	c, more := watchdogWidths(e, rows, w), e.look.Glyphs.More
	return append([]column[*watchdogRow]{
		{head: "state", w: c.state, cell: func(l *widget.Line, r *watchdogRow, _ widget.RowState) {
			sign, token := watchdogSign(e.look, r.word)
			l.Add(token, widget.Fit(sign+" "+r.word, c.state, more))
		}},
		{head: "name", w: c.name, gap: c.gap, cell: func(l *widget.Line, r *watchdogRow,
			s widget.RowState) {
			l.Add(s.NameToken(), widget.FitName(r.shown, c.name, more))
		}},
	}, shown([]column[*watchdogRow]{
		{head: "watches", w: c.watches, gap: c.gap, cell: func(l *widget.Line, r *watchdogRow,
			_ widget.RowState) {
			l.Add(themes.Text, widget.FitName(widget.Plain(r.watches), c.watches, more))
		}},
		{head: "heartbeat", w: c.heart, gap: c.gap, cell: func(l *widget.Line, r *watchdogRow,
			_ widget.RowState) {
			_, token := watchdogSign(e.look, r.word)
			text := r.heart(e.now)
			if widget.Width(text.Full) > c.heart {
				text.Full = text.Brief
			}
			l.Add(token, widget.Fit(text.Full, c.heart, more))
		}},
		{head: "judge", w: c.mode, gap: c.gap, cell: func(l *widget.Line, r *watchdogRow,
			_ widget.RowState) {
			mode := themes.Dim
			if r.dog.Degraded != "" {
				mode = themes.Warn
			}
			l.Add(mode, widget.Fit(r.whoJudges(), c.mode, more))
		}},
		{head: "last decision", w: c.why, gap: c.gap, cell: func(l *widget.Line, r *watchdogRow,
			_ widget.RowState) {
			e.look.Reason(l, r.because(e.now), c.why)
		}},
	})...)
}

// because is why a watchdog stands so, and when it looks next.
func (r *watchdogRow) because(now time.Time) widget.Reason {
	b := widget.Reason{Text: r.why(now), Token: themes.Text, Tail: r.beats(now),
		TailToken: themes.Dim}
	switch {
	case r.dog.Calls():
		b.Token = themes.Bad
	case r.dog.Suspended:
		b.Token = themes.Dim
	case r.attention():
		b.Token = themes.Warn
	}
	if r.dog.Triaged != nil {
		b.TailToken = themes.Busy
	}
	return b
}

// help says what would fill the list.
func (d *watchdogs) help(e *env, w int) []string {
	return e.look.Notes(w, "No watchdogs: nobody looks whether an agent is at work. "+
		"Add one to "+widget.Plain(e.snap.Path)+"/city.toml:", "",
		"    [[watchdogs]]", `    name = "chain"`,
		`    watches = "AGENT"      # which says so with: gc heartbeat`)
}

// strip is a watchdog in a few lines, beside the lists.
func (d *watchdogs) strip(e *env, r *watchdogRow, w int) []string {
	lines := []string{e.look.Title(w, false, []widget.Tab{{Name: "watchdog " + r.shown,
		Active: true}}, widget.Plain(r.dog.Source))}
	for i, text := range d.details(e, r.name) {
		if i < 5 {
			l := widget.Line{Styles: e.look}
			l.Space(1)
			lines = append(lines, widget.Crop(l.String()+text, w))
		}
	}
	return lines
}

// passes reports whether a watchdog's row passes.
func (r *watchdogRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(r.word, t.Word)
		case "name":
			hit = widget.HasNamePrefix(r.name, t.Word) || widget.HasNamePrefix(r.watches, t.Word)
		case "":
			hit = t.In(r.shown) || !t.Fuzzy &&
				(t.In(r.word) || t.In(r.watches) || t.In(r.whoJudges()) || t.In(r.told))
		}
		return hit
	})
}

// Update takes the rows of a snapshot. The agents say for which of them a watchdog calls.
func (d *watchdogs) Update(e *env) {
	d.table.Update(e)
	for _, w := range d.calling() {
		if r := d.agents.Find(w.watches); r != nil {
			r.heed(w.dog)
		}
	}
}
