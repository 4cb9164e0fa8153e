package panel

import (
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Watchdogs is the panel that lists the city's watchdogs.
type Watchdogs struct {
	Table[*WatchdogRow]
	agents *Agents
}

func newWatchdogs(all *Agents) *Watchdogs {
	d := &Watchdogs{agents: all}
	d.Table = NewTable(Definition[*WatchdogRow]{
		About: About{ID: IDWatchdogs, Title: "Watchdogs", Hotkey: "6", Noun: "watchdog",
			Zone: keymap.InWatchdogs, Kind: KindWatchdog,
			Opens: "watchdog.details", Details: "watchdog.details", Nouns: []string{"watchdog",
				"agent"},
			Optional: true, NoMarks: true, Explains: true, Share: 6, MinHeight: 3,
			Follows: true, Described: true, NoAgent: "the watched agent does not exist"},
		Rows: func(e *Env) []*WatchdogRow {
			rows := make([]WatchdogRow, len(e.Snap.Watchdogs))
			for i := range rows {
				rows[i] = newWatchdogRow(&e.Snap.Watchdogs[i], e.Look.Glyphs.Dot)
			}
			return widget.Pointers(rows)
		},
		Orders: func(time.Time) []widget.SortKey[*WatchdogRow] {
			return []widget.SortKey[*WatchdogRow]{{Name: "state", Desc: true,
				Cmp: widget.GreatestFirst((*WatchdogRow).urgency)}}
		},
		Matches: (*WatchdogRow).matches,
		Needs:   func(r *WatchdogRow, _ time.Time) bool { return r.Attention() },
		Columns: d.Columns,
		Issues:  d.issues,
		Help:    d.help,
		Agent:   func(r *WatchdogRow) string { return r.watches },
		Rig:     func(r *WatchdogRow) string { return d.agents.rigOf(r.watches) },
		Copies: func(r *WatchdogRow) []Copied {
			return []Copied{{"name", r.Name}, {"watched agent", r.watches},
				{"state reason", r.fixedReason},
				{"where it is declared", r.Info.Source}}
		},
		Summary: d.summary,
		Actions: d.actions,
	})
	return d
}

// in this panel, agent verbs act on the watched agent
func (d *Watchdogs) actions() []Action {
	const details = "show details of the watchdog: heartbeat, checks and reasons"
	return []Action{
		{Action: Key{ID: "watchdog.details", Key: keymap.Bind(details, "enter"),
			Short: "details",
			Run:   d.show}},
		{Writes: true, Action: Key{ID: "watchdog.check",
			Key:   keymap.Bind("run the watchdog's check now", "t"),
			Short: "check",
			Why:   func(e *Env) string { return d.Current().CheckedNow(e.Now) },
			Run:   func(*Env) []Request { return []Request{CheckNow(d.Current())} }}},
		{Action: Key{ID: "watchdog.agent", Key: keymap.Bind("go to the watched agent",
			"."),
			Short: "agent", Why: d.whyNoAgent,
			Run: func(*Env) []Request { return []Request{{Select: d.Current().watches}} }}},
	}
}

func (d *Watchdogs) whyNoAgent(*Env) string {
	if r := d.Current(); d.agents.Find(r.watches) == nil {
		return widget.Plain(r.watches) + " does not exist"
	}
	return ""
}

// CheckedNow describes the check in progress, or returns "".
func (r *WatchdogRow) CheckedNow(now time.Time) string {
	if r.Info.Triaged != nil {
		return r.nextCheck(now).Full
	}
	return ""
}

// CheckNow returns the request to run a watchdog's check now.
func CheckNow(r *WatchdogRow) Request {
	return Request{Prompt: "Check watchdog " + r.Shown + " now?", Yes: "check", Doing: "checking",
		What:     r.Shown,
		Commands: []city.Command{city.Beat{Watchdog: r.Name}}}
}

func (d *Watchdogs) show(*Env) []Request {
	r := d.Current()
	name := r.Name
	return []Request{{Title: "watchdog " + r.Shown, Lines: func(e *Env, w int) []string {
		lines := d.details(e, name)
		if r := d.Find(name); r != nil {
			lines = append(lines, judgements(e, r.Info)...)
		}
		return lines
	}}}
}

// column widths; 0 = hidden
type watchdogColumns struct{ state, name, watches, heart, mode, why, gap int }

func watchdogWidths(e *Env, rows []*WatchdogRow, w int) watchdogColumns {
	// width of "very stale", and minimum width of the reason next to other columns
	const state, enough = 10, 30
	c := watchdogColumns{state: state + 2, name: 6, watches: 7, heart: 9, mode: 7, gap: 2}
	full := 0
	for _, r := range rows {
		h := r.BeatAge(e.Now)
		c.name, c.watches = max(c.name, widget.Width(r.Shown)), max(c.watches,
			widget.Width(widget.Plain(r.watches)))
		c.heart, full = max(c.heart, widget.Width(h.Brief)), max(full, widget.Width(h.Full))
		c.mode = max(c.mode, widget.Width(r.decider()))
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

// Columns returns the columns of the Watchdogs panel that fit into w.
func (d *Watchdogs) Columns(e *Env, rows []*WatchdogRow, w int) []Column[*WatchdogRow] {
	c := watchdogWidths(e, rows, w)
	return Spaced(c.gap,
		Column[*WatchdogRow]{Head: "state", W: c.state,
			Text: func(r *WatchdogRow) (string, themes.Token) {
				sign, token := watchdogSign(e.Look, r.Status)
				return sign + " " + r.Status, token
			}},
		nameColumn(c.name, func(r *WatchdogRow) string { return r.Shown }),
		textColumn("watches", c.watches, themes.Text, func(r *WatchdogRow) string {
			return widget.Plain(r.watches)
		}).keepingEnds(),
		Column[*WatchdogRow]{Head: "heartbeat", W: c.heart,
			Text: func(r *WatchdogRow) (string, themes.Token) {
				_, token := watchdogSign(e.Look, r.Status)
				text := r.BeatAge(e.Now)
				if widget.Width(text.Full) > c.heart {
					return text.Brief, token
				}
				return text.Full, token
			}},
		Column[*WatchdogRow]{Head: "decides", W: c.mode,
			Text: func(r *WatchdogRow) (string, themes.Token) {
				if r.Info.Degraded != "" {
					return r.decider(), themes.Warn
				}
				return r.decider(), themes.Dim
			}},
		reasonColumn("last decision", c.why, func(r *WatchdogRow) widget.Reason {
			return r.reason(e.Now)
		}))
}

func (r *WatchdogRow) reason(now time.Time) widget.Reason {
	b := widget.Reason{Text: r.Why(now), Token: themes.Text, Next: r.nextCheck(now),
		NextToken: themes.Dim}
	switch {
	case r.Info.IsEscalated():
		b.Token = themes.Bad
	case r.Info.Suspended:
		b.Token = themes.Dim
	case r.Attention():
		b.Token = themes.Warn
	}
	if r.Info.Triaged != nil {
		b.NextToken = themes.Busy
	}
	return b
}

func (d *Watchdogs) help(e *Env, w int) []string {
	return e.Look.Notes(w, "No watchdogs: no agent's heartbeat is monitored. "+
		"Add one to "+widget.Plain(e.Snap.Path)+"/city.toml:", "",
		"    [[watchdogs]]", `    name = "chain"`,
		`    watches = "AGENT"      # AGENT must run gc heartbeat`)
}

func (d *Watchdogs) summary(e *Env, r *WatchdogRow, w int) []string {
	return description(e, w, "watchdog "+r.Shown, r.Info.Source, d.details(e, r.Name))
}

func (r *WatchdogRow) matches(t *widget.Term, _ time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(r.Status)
	case "name":
		return t.BeginsName(r.Name) || t.BeginsName(r.watches)
	case "":
		return t.In(r.Shown) || !t.Fuzzy &&
			(t.In(r.Status) || t.In(r.watches) || t.In(r.decider()) || t.In(r.fixedReason))
	}
	return false
}

// Update builds the rows, and adds the watchdogs' calls to the rows of agents.
func (d *Watchdogs) Update(e *Env) {
	d.Table.Update(e)
	for _, w := range d.Calling() {
		if r := d.agents.Find(w.watches); r != nil {
			r.AddCall(w.Info)
		}
	}
}
