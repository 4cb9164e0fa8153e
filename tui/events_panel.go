package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/events"
	"gcity/themes"
	"gcity/tui/dialog"
	"gcity/tui/widget"
)

// kept bounds the events in the panel, digMost those in it while somebody looks at older ones.
const (
	kept    = 2000
	digMost = 10_000
)

// eventRow is an event made ready to be shown.
type eventRow struct {
	event   events.Event
	kind    string
	subject string
	message string // safe lines
}

func newEventRow(e events.Event) eventRow {
	r := eventRow{event: e, kind: widget.Plain(e.Type), subject: widget.Plain(e.Subject),
		message: severally(e.Message)}
	if e.Actor != "" && e.Actor != "controller" && e.Actor != e.Subject {
		r.message = strings.TrimSpace(r.message + " (by " + widget.Plain(e.Actor) + ")")
	}
	return r
}

// timeline is the Events panel: newest at the bottom, following until the person scrolls.
type timeline struct {
	filter  widget.Filter
	rows    []eventRow
	shown   []int // after the filter
	at      int   // cursor, an index into shown
	offset  int
	frozen  bool
	fresh   int // came in while frozen
	version uint64

	under eye // what the cursor is on while it follows

	now    time.Time // when the filter was applied last
	only   bool      // the selected agent's only
	who    string    // its name, "" = all
	asked  int       // the question for older ones under way, 0 = none
	begins bool      // there is none before the first
}

// add takes new events in, oldest first; those known already are skipped.
func (t *timeline) add(es []events.Event, f *widget.Filter) {
	t.version++
	var newest uint64
	if n := len(t.rows); n > 0 {
		newest = t.rows[n-1].event.Seq
	}
	for _, e := range es {
		if e.Seq <= newest {
			continue
		}
		newest = e.Seq
		t.rows = append(t.rows, newEventRow(e))
		if t.frozen {
			t.fresh++
		}
	}
	seq := t.cursorSeq()
	most := kept
	if t.frozen {
		most = digMost
	}
	if over := len(t.rows) - most; over > 0 {
		t.rows = append([]eventRow(nil), t.rows[over:]...)
		t.begins = false
	}
	t.refill(f, seq)
}

// older takes events in from before those that are known, oldest first.
func (t *timeline) older(es []events.Event, f *widget.Filter) {
	if len(t.rows) == 0 {
		return
	}
	t.version++
	first, seq := t.rows[0].event.Seq, t.cursorSeq()
	rows := make([]eventRow, 0, len(es)+len(t.rows))
	for _, e := range es {
		if e.Seq < first {
			rows = append(rows, newEventRow(e))
		}
	}
	t.rows = append(rows, t.rows...)
	t.refill(f, seq)
}

func (t *timeline) cursorSeq() uint64 {
	if t.at < len(t.shown) && t.shown[t.at] < len(t.rows) {
		return t.rows[t.shown[t.at]].event.Seq
	}
	return 0
}

// refill applies the filter; a frozen cursor stays on its event.
func (t *timeline) refill(f *widget.Filter, seq uint64) {
	before := t.at
	t.shown = t.shown[:0]
	at := 0
	for i := range t.rows {
		r := &t.rows[i]
		if t.who != "" && r.event.Subject != t.who && r.event.Actor != t.who || f.Active() && !r.passes(f, t.now) {
			continue
		}
		if r.event.Seq <= seq {
			at = len(t.shown)
		}
		t.shown = append(t.shown, i)
	}
	if !t.frozen {
		t.at = max(0, len(t.shown)-1)
		return
	}
	t.at = at
	t.offset = max(0, t.offset+at-before)
}

// eye is which event somebody has seen under a cursor that follows the newest: one that came in a moment ago is not what a
// key means that was on its way then.
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

// meant is where the event is that keys are about, an index into shown: the one under the cursor, or, while the newest come
// in, the one that stood there when it could be seen last.
func (t *timeline) meant() int {
	if t.frozen || t.under.seen == 0 {
		return t.at
	}
	for i := len(t.shown) - 1; i >= 0; i-- {
		switch seq := t.rows[t.shown[i]].event.Seq; {
		case seq == t.under.seen:
			return i
		case seq < t.under.seen:
			return t.at
		}
	}
	return t.at
}

// move puts the cursor n rows on; moving freezes, reaching the end follows again.
func (t *timeline) move(n int) {
	defer func() { t.under.put(t.cursorSeq()) }()
	t.at = t.meant()
	t.at = max(0, min(t.at+n, len(t.shown)-1))
	t.frozen = t.at < len(t.shown)-1
	if !t.frozen {
		t.fresh = 0
	}
}

// selected is the event that keys are about, nil if there is none.
func (t *timeline) selected() *eventRow {
	if at := t.meant(); at < len(t.shown) {
		return &t.rows[t.shown[at]]
	}
	return nil
}

// tone is how much an event matters.
func tone(kind string) themes.Token {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed, events.ConfigRejected, events.PoolCheckFailed, events.AutomationFailed, events.CityCrashed, events.Gap:
		return themes.Bad
	case events.ConfigHeld, events.PoolWorkReturned:
		return themes.Warn
	case events.AgentStarted, events.AgentReleased, events.AgentUndrained, events.AgentResumed, events.CityResumed, events.RigResumed, events.ControllerStarted,
		events.AutomationCompleted, events.BeadClosed:
		return themes.Good
	case events.AgentStopped, events.AgentDraining, events.AgentIdleKilled, events.PoolScaled, events.AutomationFired, events.BeadCreated, events.Repaired:
		return themes.Busy
	case events.AgentSuspended, events.CitySuspended, events.RigSuspended, events.AutomationSkipped, events.ControllerStopped:
		return themes.Off
	}
	return themes.Text
}

func (m *model) eventsPanel(w, h int, focus bool, tabs []widget.Tab) []string {
	day := m.now.Unix() / 3600
	key := widget.CacheKey{W: w, H: h, Focus: focus, Data: m.events.version, UI: m.ui, Second: day}
	if m.snap != nil {
		key.Rows = 1 // the city is heard
	}
	return m.cache[panelEvents].Lines(key, func() []string { return m.drawEvents(w, h, focus, tabs) })
}

func (m *model) drawEvents(w, h int, focus bool, tabs []widget.Tab) []string {
	t := &m.events
	lines := append(make([]string, 0, h), m.look.Title(w, focus, tabs, m.eventsNote(tabs)))
	if len(t.shown) == 0 {
		text := "Nothing has happened yet. Starts, ends, crashes and every change appear here."
		if m.snap == nil {
			text = "Waiting for the city."
		}
		switch {
		case m.events.filter.Active():
			text = fmt.Sprintf("No event matches %q. %s", m.events.filter.Text, m.clears())
		case m.events.who != "":
			text = "Nothing is known to have happened to " + widget.Plain(m.events.who) + ". " +
				m.keys.KeyOf("event.only") + " shows the events of all."
		}
		return widget.FillRows(append(lines, m.look.Note(text, w)), w, h)
	}
	room := h - 1
	t.offset = widget.ScrollTo(t.at, t.offset, room, len(t.shown))
	for i := t.offset; i < min(len(t.shown), t.offset+room); i++ {
		s := widget.RowState{Cursor: i == t.at && (focus || t.frozen), Focus: focus}
		lines = append(lines, m.eventLine(&t.rows[t.shown[i]], w, s))
	}
	return widget.FillRows(lines, w, h)
}

// eventSearch is what makes the timeline show only a part, "" if it shows all.
func (m *model) eventSearch() string {
	var parts []string
	if m.events.who != "" {
		parts = append(parts, "only "+widget.Plain(m.events.who))
	}
	if m.events.filter.Active() {
		parts = append(parts, "/"+m.events.filter.Text)
	}
	return strings.Join(parts, " ")
}

func (m *model) eventsNote(tabs []widget.Tab) string {
	note := m.eventSearch()
	if note != "" {
		note += fmt.Sprintf("  %d of %d", len(m.events.shown), len(m.events.rows))
	}
	if widget.Searched(tabs) {
		note = ""
	}
	if m.events.asked != 0 {
		note = strings.TrimLeft(note+"  asking for older", " ")
	}
	if m.events.frozen {
		if note != "" {
			note += "  "
		}
		note += m.behind(uint64(m.events.fresh))
	}
	return note
}

// behind says how much came in since a view was frozen, and how to see it.
func (m *model) behind(n uint64) string {
	follows := m.keys.KeyOf("move.last") + " follows"
	if n == 0 {
		return "frozen, " + follows
	}
	return fmt.Sprintf("+%d new, %s", n, follows)
}

func (m *model) eventLine(r *eventRow, w int, s widget.RowState) string {
	more := m.look.Glyphs.More
	l := m.look.RowStart(s)
	at := widget.Clock(r.event.TS, m.now)
	l.Add(themes.Dim, widget.Fit(at, 8, ""))
	if len(at) > 8 { // another day: the day matters more than the second
		l = m.look.RowStart(s)
		l.Add(themes.Dim, widget.Fit(r.event.TS.In(m.now.Location()).Format("Jan 02"), 8, ""))
	}
	l.Space(2)
	kind := r.kind
	room := 26
	if w < 100 {
		room = 15
		if _, verb, ok := strings.Cut(kind, "."); ok {
			kind = verb
		}
	}
	l.Add(tone(r.event.Type), widget.Fit(kind, room, more))
	l.Space(2)
	l.Add(themes.Text, widget.FitName(r.subject, min(20, max(8, w/6)), more))
	l.Space(2)
	l.Add(themes.Text, widget.CutLead(r.message, w-l.Width-1, more))
	return widget.Crop(l.Fill(w), w)
}

// eventDetail is all there is to know of one event.
func (m *model) eventDetail(r *eventRow) []string {
	e := &r.event
	lines := []string{
		m.field("when", e.TS.In(m.now.Location()).Format(time.RFC3339Nano)+", "+
			widget.Age(m.now.Sub(e.TS))+" ago"),
		m.field("about", r.subject),
		m.field("by", widget.Plain(e.Actor)),
	}
	label := "message"
	for _, text := range widget.PlainLines(e.Message) {
		lines = append(lines, m.field(label, text))
		label = ""
	}
	lines = append(lines, m.field("seq", fmt.Sprint(e.Seq)))
	return append(lines, m.payloadLines(e.Payload)...)
}
