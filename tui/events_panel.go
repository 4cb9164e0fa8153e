package tui

import (
	"fmt"
	"strings"
	"time"

	"gcity/events"
	"gcity/themes"
)

// kept bounds the events in the panel.
const kept = 2000

// eventRow is an event made ready to be shown.
type eventRow struct {
	event   events.Event
	kind    string
	subject string
	message string // safe lines
}

func newEventRow(e events.Event) eventRow {
	r := eventRow{event: e, kind: plain(e.Type), subject: plain(e.Subject), message: severally(e.Message)}
	if e.Actor != "" && e.Actor != "controller" && e.Actor != e.Subject {
		r.message = strings.TrimSpace(r.message + " (by " + plain(e.Actor) + ")")
	}
	return r
}

// timeline is the Events panel: newest at the bottom, following until the person scrolls.
type timeline struct {
	rows    []eventRow
	shown   []int // after the filter
	at      int   // cursor, an index into shown
	offset  int
	frozen  bool
	fresh   int // came in while frozen
	version uint64
}

// add takes new events in, oldest first; those known already are skipped.
func (t *timeline) add(es []events.Event, f *filter) {
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
	if over := len(t.rows) - kept; over > 0 {
		t.rows = append([]eventRow(nil), t.rows[over:]...)
	}
	t.refill(f, seq)
}

func (t *timeline) cursorSeq() uint64 {
	if t.at < len(t.shown) && t.shown[t.at] < len(t.rows) {
		return t.rows[t.shown[t.at]].event.Seq
	}
	return 0
}

// refill applies the filter; a frozen cursor stays on its event.
func (t *timeline) refill(f *filter, seq uint64) {
	before := t.at
	t.shown = t.shown[:0]
	at := 0
	for i := range t.rows {
		r := &t.rows[i]
		if f.active() && !f.line(r.kind+" "+r.subject+" "+r.message) {
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

// move puts the cursor n rows on; moving freezes, reaching the end follows again.
func (t *timeline) move(n int) {
	t.at = max(0, min(t.at+n, len(t.shown)-1))
	t.frozen = t.at < len(t.shown)-1
	if !t.frozen {
		t.fresh = 0
	}
}

func (t *timeline) selected() *eventRow {
	if t.at < len(t.shown) {
		return &t.rows[t.shown[t.at]]
	}
	return nil
}

// tone is how much an event matters.
func tone(kind string) themes.Token {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed, events.ConfigRejected, events.PoolCheckFailed, events.AutomationFailed, events.Gap:
		return themes.Bad
	case events.ConfigHeld:
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

func (m *model) eventsPanel(w, h int, focus bool, tabs []tab) []string {
	day := m.now.Unix() / 3600
	key := panelKey{w: w, h: h, focus: focus, data: m.events.version, ui: m.ui, second: day}
	return m.cache[panelEvents].lines(key, func() []string { return m.drawEvents(w, h, focus, tabs) })
}

func (m *model) drawEvents(w, h int, focus bool, tabs []tab) []string {
	t := &m.events
	lines := append(make([]string, 0, h), m.rule(w, focus, tabs, m.eventsNote(tabs)))
	if len(t.shown) == 0 {
		text := "Nothing has happened yet. Starts, ends, crashes and every change appear here."
		if m.eventFilter.active() {
			text = fmt.Sprintf("No event matches %q. esc clears the filter.", m.eventFilter.text)
		}
		return fillRows(append(lines, m.note(text, w)), w, h)
	}
	room := h - 1
	t.offset = scrollTo(t.at, t.offset, room, len(t.shown))
	for i := t.offset; i < min(len(t.shown), t.offset+room); i++ {
		s := rowState{cursor: i == t.at && (focus || t.frozen), focus: focus}
		lines = append(lines, m.eventLine(&t.rows[t.shown[i]], w, s))
	}
	return fillRows(lines, w, h)
}

func (m *model) eventsNote(tabs []tab) string {
	note := ""
	if m.eventFilter.active() && !titled(tabs) {
		note = fmt.Sprintf("/%s  %d of %d", m.eventFilter.text, len(m.events.shown), len(m.events.rows))
	}
	if m.events.frozen {
		if note != "" {
			note += "  "
		}
		note += behind(uint64(m.events.fresh))
	}
	return note
}

// behind says how much came in since a view was frozen, and how to see it.
func behind(n uint64) string {
	if n == 0 {
		return "frozen, G follows"
	}
	return fmt.Sprintf("+%d new, G follows", n)
}

func (m *model) eventLine(r *eventRow, w int, s rowState) string {
	more := m.look.glyph.More
	l := m.start(s)
	at := clock(r.event.TS, m.now)
	l.add(themes.Dim, fit(at, 8, ""))
	if len(at) > 8 { // another day: the day matters more than the second
		l = m.start(s)
		l.add(themes.Dim, fit(r.event.TS.In(m.now.Location()).Format("Jan 02"), 8, ""))
	}
	l.space(2)
	kind := r.kind
	room := 26
	if w < 100 {
		room = 15
		if _, verb, ok := strings.Cut(kind, "."); ok {
			kind = verb
		}
	}
	l.add(tone(r.event.Type), fit(kind, room, more))
	l.space(2)
	l.add(themes.Text, fitName(r.subject, min(20, max(8, w/6)), more))
	l.space(2)
	l.add(themes.Text, cutLead(r.message, w-l.used-1, more))
	return crop(l.close(w), w)
}

// eventDetail is all there is to know of one event.
func (m *model) eventDetail(r *eventRow) []string {
	e := &r.event
	lines := []string{
		m.field("when", e.TS.In(m.now.Location()).Format(time.RFC3339Nano)),
		m.field("what", r.kind),
		m.field("about", r.subject),
		m.field("by", plain(e.Actor)),
	}
	label := "message"
	for _, text := range plainLines(e.Message) {
		lines = append(lines, m.field(label, text))
		label = ""
	}
	lines = append(lines, m.field("seq", fmt.Sprint(e.Seq)))
	if len(e.Payload) > 0 {
		lines = append(lines, "", m.look.paint(themes.Dim, "payload"))
		for _, p := range strings.Split(pretty(e.Payload), "\n") {
			lines = append(lines, "  "+plain(p))
		}
	}
	return lines
}
