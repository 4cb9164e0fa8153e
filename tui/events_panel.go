package tui

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/events"
	"gcity/themes"
	"gcity/tui/dialog"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// kept bounds the events in the panel, digMost those in it while somebody looks at older ones.
const (
	kept    = 2000
	digMost = 10_000
)

// eventRow is an event made ready to be shown.
type eventRow struct {
	id      string // of the sequence number
	event   events.Event
	kind    string
	subject string
	message string // safe lines
}

func newEventRow(e events.Event) eventRow {
	r := eventRow{id: strconv.FormatUint(e.Seq, 10), event: e, kind: widget.Plain(e.Type),
		subject: widget.Plain(e.Subject), message: severally(e.Message)}
	if e.Actor != "" && e.Actor != "controller" && e.Actor != e.Subject {
		r.message = strings.TrimSpace(r.message + " (by " + widget.Plain(e.Actor) + ")")
	}
	return r
}

func (r *eventRow) Key() string { return r.id }

// timeline is the Events panel: newest at the bottom, following until the person scrolls.
type timeline struct {
	table[eventRow, *eventRow]
	agents *agents // that the events are about

	frozen bool
	fresh  int // came in while frozen

	seen eye // what the cursor is on while it follows

	now    time.Time // when the filter was applied last
	only   bool      // the selected agent's only
	who    string    // its name, "" = all
	asked  int       // the question for older ones under way, 0 = none
	begins bool      // there is none before the first
}

func newTimeline(all *agents) *timeline {
	t := &timeline{agents: all}
	t.table = newTable(definition[eventRow, *eventRow]{
		about: about{id: panelEvents, title: "Events", hotkey: "5", noun: "event",
			zone: keymap.InEvents, kind: KindEvent,
			opens: "view.event", nouns: []string{"event", "agent", "rig"}, plain: true,
			unmarked: true, always: true,
			proxy: "the event under the cursor is about no agent that is there"},
		matches: func(f *widget.Filter, r *eventRow, now time.Time) bool {
			return r.passes(f, now)
		},
		columns: t.columns,
		cursor: func(at int, _ *eventRow, focus bool) bool {
			return at == t.List.Cursor && (focus || t.frozen)
		},
		current: t.selected,
		count:   t.countFresh,
		empty:   t.nothing,
		search:  func(*env) string { return t.searched() },
		note:    t.noteAtEnd,
		agent:   func(r *eventRow) string { return r.event.Subject },
		rig:     func(r *eventRow) string { return all.rigOf(r.event.Subject) },
		called:  func(r *eventRow) string { return r.kind },
		copies:  eventCopies,
	})
	return t
}

// reset forgets all events; the filter stays.
func (t *timeline) reset() {
	old := *t
	*t = *newTimeline(old.agents)
	t.Filter = old.Filter
}

// Refill applies what the timeline leaves out; a frozen cursor stays on its event.
func (t *timeline) Refill(e *env, _ func(id string) bool) {
	seq := t.cursorSeq()
	t.aim(e.now)
	t.Version++
	t.refill(seq)
}

// aim tells the timeline what its filters are about: which agent, and what time it is.
func (t *timeline) aim(now time.Time) {
	t.now, t.who = now, ""
	if t.only {
		t.who = t.agents.Chosen
	}
}

// Has reports that no event is called by a name.
func (t *timeline) Has(string) bool { return false }

// Hidden returns nothing: most of the timeline always is hidden.
func (t *timeline) Hidden(*env, int, int) (above, below int) { return 0, 0 }

// countFresh counts what came in since the timeline was frozen.
func (t *timeline) countFresh(*env) string {
	if t.frozen && t.fresh > 0 {
		return "+" + widget.Number(t.fresh)
	}
	return ""
}

// nothing says why the list is empty.
func (t *timeline) nothing(e *env, w int) []string {
	text := "Nothing has happened yet. Starts, ends, crashes and every change appear here."
	switch {
	case t.Filter.Active():
		text = fmt.Sprintf("No event matches %q. %s", t.Filter.Text, e.clears())
	case t.who != "":
		text = "Nothing is known to have happened to " + widget.Plain(t.who) + ". " +
			e.keyOf("event.only") + " shows the events of all."
	case e.snap == nil:
		text = "Waiting for the city."
	}
	return []string{e.look.Note(text, w)}
}

// searched is what makes the timeline show only a part, "" if it shows all.
func (t *timeline) searched() string {
	var parts []string
	if t.who != "" {
		parts = append(parts, "only "+widget.Plain(t.who))
	}
	if t.Filter.Active() {
		parts = append(parts, "/"+t.Filter.Text)
	}
	return strings.Join(parts, " ")
}

func (t *timeline) noteAtEnd(e *env, tabs []widget.Tab) string {
	note := ""
	if text, found := t.Search(e); text != "" && !widget.Searched(tabs) {
		note = text + "  " + found
	}
	if t.asked != 0 {
		note = strings.TrimLeft(note+"  asking for older", " ")
	}
	if t.frozen {
		if note != "" {
			note += "  "
		}
		note += e.behind(uint64(t.fresh))
	}
	return note
}

// behind says how much came in since a view was frozen, and how to see it.
func (e *env) behind(n uint64) string {
	follows := e.keyOf("move.last") + " follows"
	if n == 0 {
		return "frozen, " + follows
	}
	return fmt.Sprintf("+%d new, %s", n, follows)
}

// add takes new events in, oldest first; those known already are skipped.
func (t *timeline) add(es []events.Event) {
	t.Version++
	var newest uint64
	if n := len(t.Rows); n > 0 {
		newest = t.Rows[n-1].event.Seq
	}
	for _, e := range es {
		if e.Seq <= newest {
			continue
		}
		newest = e.Seq
		t.Rows = append(t.Rows, newEventRow(e))
		if t.frozen {
			t.fresh++
		}
	}
	seq := t.cursorSeq()
	most := kept
	if t.frozen {
		most = digMost
	}
	if over := len(t.Rows) - most; over > 0 {
		t.Rows = append([]eventRow(nil), t.Rows[over:]...)
		t.begins = false
	}
	t.refill(seq)
}

// older takes events in from before those that are known, oldest first.
func (t *timeline) older(es []events.Event) {
	if len(t.Rows) == 0 {
		return
	}
	t.Version++
	first, seq := t.Rows[0].event.Seq, t.cursorSeq()
	rows := make([]eventRow, 0, len(es)+len(t.Rows))
	for _, e := range es {
		if e.Seq < first {
			rows = append(rows, newEventRow(e))
		}
	}
	t.Rows = append(rows, t.Rows...)
	t.refill(seq)
}

func (t *timeline) cursorSeq() uint64 {
	if t.List.Cursor < len(t.List.Shown) && t.List.Shown[t.List.Cursor] < len(t.Rows) {
		return t.Rows[t.List.Shown[t.List.Cursor]].event.Seq
	}
	return 0
}

// refill applies the filter; a frozen cursor stays on its event.
func (t *timeline) refill(seq uint64) {
	before := t.List.Cursor
	t.List.Shown = t.List.Shown[:0]
	at := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		if t.who != "" && r.event.Subject != t.who && r.event.Actor != t.who ||
			t.Filter.Active() && !t.passes(&env{now: t.now}, r) {
			continue
		}
		if r.event.Seq <= seq {
			at = len(t.List.Shown)
		}
		t.List.Shown = append(t.List.Shown, i)
	}
	if !t.frozen {
		t.List.Cursor = max(0, len(t.List.Shown)-1)
		return
	}
	t.List.Cursor = at
	t.List.Offset = max(0, t.List.Offset+at-before)
}

// eye is which event somebody has seen under a cursor that follows the newest: one that came in a moment ago is not
// what a key means that was on its way then.
type eye struct {
	seq   uint64 // under the cursor
	since time.Time
	seen  uint64 // the last one that stood there long enough to be seen
}

// look takes in what is under the cursor now.
func (e *eye) look(seq uint64, now time.Time) {
	if now.Sub(e.since) >= dialog.Guard {
		e.seen = e.seq
	}
	if seq != e.seq {
		e.seq, e.since = seq, now
	}
}

// put puts the cursor on an event by hand: that is seen.
func (e *eye) put(seq uint64) { e.seq, e.seen = seq, seq }

// meant is where the event is that keys are about, an index into shown: the one under the cursor, or, while the
// newest come in, the one that stood there when it could be seen last.
func (t *timeline) meant() int {
	if t.frozen || t.seen.seen == 0 {
		return t.List.Cursor
	}
	for i := len(t.List.Shown) - 1; i >= 0; i-- {
		switch seq := t.Rows[t.List.Shown[i]].event.Seq; {
		case seq == t.seen.seen:
			return i
		case seq < t.seen.seen:
			return t.List.Cursor
		}
	}
	return t.List.Cursor
}

// Move puts the cursor n rows on; moving freezes, reaching the end follows again.
func (t *timeline) Move(n int) {
	defer func() { t.seen.put(t.cursorSeq()) }()
	t.List.Cursor = t.meant()
	t.List.Move(n)
	t.frozen = t.List.Cursor < len(t.List.Shown)-1
	if !t.frozen {
		t.fresh = 0
	}
}

// selected is the event that keys are about, nil if there is none.
func (t *timeline) selected() *eventRow {
	if at := t.meant(); at < len(t.List.Shown) {
		return &t.Rows[t.List.Shown[at]]
	}
	return nil
}

// tone is how much an event matters.
func tone(kind string) themes.Token {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed,
		events.ConfigRejected, events.PoolCheckFailed, events.AutomationFailed, events.CityCrashed,
		events.Gap:
		return themes.Bad
	case events.ConfigHeld, events.PoolWorkReturned:
		return themes.Warn
	case events.AgentStarted, events.AgentReleased, events.AgentUndrained, events.AgentResumed,
		events.CityResumed, events.RigResumed, events.ControllerStarted,
		events.AutomationCompleted, events.BeadClosed:
		return themes.Good
	case events.AgentStopped, events.AgentDraining, events.AgentIdleKilled, events.PoolScaled,
		events.AutomationFired, events.BeadCreated, events.Repaired:
		return themes.Busy
	case events.AgentSuspended, events.CitySuspended, events.RigSuspended, events.AutomationSkipped,
		events.ControllerStopped:
		return themes.Off
	}
	return themes.Text
}

// columns are those of the Events panel: when, what, about whom, and what it says.
func (t *timeline) columns(e *env, _ []*eventRow, w int) []column[*eventRow] {
	more, kinds, subject := e.look.Glyphs.More, 26, min(20, max(8, w/6))
	if w < 100 {
		kinds = 15
	}
	return []column[*eventRow]{
		{w: 8, cell: func(l *widget.Line, r *eventRow, _ widget.RowState) {
			at := widget.Clock(r.event.TS, e.now)
			if len(at) > 8 { // another day: the day matters more than the second
				at = r.event.TS.In(e.now.Location()).Format("Jan 02")
			}
			l.Add(themes.Dim, widget.Fit(at, 8, ""))
		}},
		{w: kinds, gap: 2, cell: func(l *widget.Line, r *eventRow, _ widget.RowState) {
			kind := r.kind
			if _, verb, ok := strings.Cut(kind, "."); ok && w < 100 {
				kind = verb
			}
			l.Add(tone(r.event.Type), widget.Fit(kind, kinds, more))
		}},
		{w: subject, gap: 2, cell: func(l *widget.Line, r *eventRow, _ widget.RowState) {
			l.Add(themes.Text, widget.FitName(r.subject, subject, more))
		}},
		{gap: 2, cell: func(l *widget.Line, r *eventRow, _ widget.RowState) {
			l.Add(themes.Text, widget.CutLead(r.message, w-l.Width-1, more))
		}},
	}
}

// passes reports whether an event's row passes: "type:" and "subject:" by their beginning or that of a part behind
// a dot or a slash, "by:" who caused it, "since:10m" how long ago at most; what is no duration yet leaves nothing
// out.
func (r *eventRow) passes(f *widget.Filter, now time.Time) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "type":
			_, verb, _ := strings.Cut(strings.ToLower(r.kind), ".")
			hit = strings.HasPrefix(strings.ToLower(r.kind), t.Word) ||
				strings.HasPrefix(verb, t.Word)
		case "subject", "name":
			hit = widget.HasNamePrefix(r.subject, t.Word)
		case "by":
			hit = widget.HasNamePrefix(r.event.Actor, t.Word)
		case "since":
			ago, err := time.ParseDuration(t.Word)
			if err != nil {
				return !t.Not
			}
			hit = now.Sub(r.event.TS) <= ago
		default:
			hit = t.In(r.kind + " " + r.subject + " " + r.message)
		}
		return hit
	})
}

func eventCopies(r *eventRow) []copied {
	all := []copied{{"message", r.event.Message}, {"who it is about", r.event.Subject}}
	// a payload that is no JSON cannot be in an event's
	if raw, err := json.Marshal(r.event); err == nil {
		all = append(all, copied{"event as JSON", string(raw)})
	}
	return append(all, copied{"type", r.event.Type})
}
