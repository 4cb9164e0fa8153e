package panel

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/events"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// MaxEvents is the maximum number of events in the panel. While the user views older events, the maximum is MaxPages.
const (
	MaxEvents = 2000
	MaxPages  = 10_000
)

// EventRow is an event ready to be drawn.
type EventRow struct {
	id      string
	Event   events.Event
	Kind    string
	Subject string
	message string
}

func NewEventRow(e events.Event) *EventRow {
	r := &EventRow{id: strconv.FormatUint(e.Seq, 10), Event: e, Kind: widget.Plain(e.Type),
		Subject: widget.Plain(e.Subject), message: widget.PlainText(e.Message)}
	if e.Actor != "" && e.Actor != "controller" && e.Actor != e.Subject &&
		!strings.HasSuffix(e.Message, "by "+e.Actor) {
		r.message = strings.TrimSpace(r.message + " (by " + widget.Plain(e.Actor) + ")")
	}
	return r
}

func (r *EventRow) Key() string { return r.id }

func (r *EventRow) verb() string {
	if r.Event.Type == events.AgentIdleKilled {
		return "idle timeout" // not "killed", because the agent might stop without being killed
	}
	_, verb, ok := strings.Cut(r.Kind, ".")
	if !ok {
		return r.Kind
	}
	return strings.ReplaceAll(verb, "_", " ")
}

// Events is the Events panel. It follows new events until the user scrolls up.
type Events struct {
	Table[*EventRow]
	agents *Agents

	Frozen bool
	unseen int // events received while frozen

	Seen shownEvent // the event under the cursor while the view follows new events

	now      time.Time
	Only     bool
	agent    string // "" = show all events
	Asked    int    // ID of the current request for older events; 0 = none
	AtOldest bool
}

func NewEvents(all *Agents) *Events {
	t := &Events{agents: all}
	t.Table = NewTable(Definition[*EventRow]{
		About: About{ID: IDEvents, Title: "Events", Hotkey: "5", Noun: "event",
			Zone: keymap.InEvents, Kind: KindEvent,
			Opens: "view.event", Nouns: []string{"event", "agent", "rig"}, NoHeads: true,
			NoMarks: true, Always: true, Follows: true,
			NoAgent: "the event under the cursor does not belong to an agent that exists"},
		Matches: (*EventRow).Matches,
		Columns: t.Columns,
		Cursor: func(at int, _ *EventRow, focus bool) bool {
			return at == t.List.Cursor && (focus || t.Frozen)
		},
		Current: t.Selected,
		Count:   t.countNew,
		Empty:   t.empty,
		Search:  func(*Env) string { return t.limits() },
		Note:    t.noteAtEnd,
		Agent:   func(r *EventRow) string { return r.Event.Subject },
		Rig:     func(r *EventRow) string { return all.rigOf(r.Event.Subject) },
		Called:  func(r *EventRow) string { return r.Kind },
		Copies:  eventCopies,
	})
	return t
}

// Reset removes all events. The filter stays.
func (t *Events) Reset() {
	old := *t
	*t = *NewEvents(old.agents)
	t.Filter = old.Filter
}

// Refill applies the filter. In a frozen view, the cursor stays on its event.
func (t *Events) Refill(e *Env, _ func(id string) bool) {
	seq := t.CursorSeq()
	t.Sync(e.Now)
	t.Version++
	t.refill(seq)
}

// Sync updates what the filter uses: the time and, if Only is set, the selected agent.
func (t *Events) Sync(now time.Time) {
	t.now, t.agent = now, ""
	if t.Only {
		t.agent = t.agents.SelectedKey
	}
}

// Has returns false, because events are not found by name.
func (t *Events) Has(string) bool { return false }

// Hidden returns zeros, because the title does not count hidden events.
func (t *Events) Hidden(*Env, int, int) (above, below int) { return 0, 0 }

func (t *Events) countNew(*Env) string {
	if t.Frozen && t.unseen > 0 {
		return "+" + widget.Number(t.unseen)
	}
	return ""
}

func (t *Events) empty(e *Env, w int) []string {
	text := "No events yet. Starts, exits, crashes and changes are listed here."
	switch {
	case t.Filter.Active():
		text = t.noMatch(e)
	case t.agent != "":
		text = "No events are known for " + widget.Plain(t.agent) + ". " +
			e.KeyOf("event.only") + " shows the events of all agents."
	case e.Snap == nil:
		text = "Waiting for the city."
	}
	return []string{e.Look.Note(text, w)}
}

func (t *Events) noMatch(e *Env) string {
	if t.startsLog() {
		return fmt.Sprintf("No event matches %q. %s", t.Filter.Text, e.Clears())
	}
	text := fmt.Sprintf("None of the %d loaded events matches %q. ", len(t.Rows), t.Filter.Text)
	if t.HasOlder() {
		text += e.KeyOf("move.page.up") + " loads older events. "
	}
	return text + e.Clears()
}

// HasOlder reports whether the panel can load events that are older than its first one.
func (t *Events) HasOlder() bool { return !t.startsLog() && len(t.Rows) < MaxPages }

// startsLog reports whether the panel contains the first event of the log.
func (t *Events) startsLog() bool {
	return len(t.Rows) == 0 || t.AtOldest || t.Rows[0].Event.Seq <= 1
}

func (t *Events) limits() string {
	var parts []string
	if t.agent != "" {
		parts = append(parts, "only "+widget.Plain(t.agent))
	}
	if t.Filter.Active() {
		parts = append(parts, "/"+t.Filter.Text)
	}
	return strings.Join(parts, " ")
}

func (t *Events) noteAtEnd(e *Env, at Box) string {
	note := ""
	if at.Focus && at.W >= 60 && !t.Frozen && len(t.List.Shown) > 0 {
		note = "following"
	}
	if text, found := t.Search(e); text != "" && !widget.HasSearch(at.Tabs) {
		note = strings.TrimSpace(note + "  " + text + "  " + found)
	}
	if t.Asked != 0 {
		note = strings.TrimLeft(note+"  loading older events", " ")
	}
	if t.Frozen {
		if note != "" {
			note += "  "
		}
		note += e.NewText(uint64(t.unseen), "")
	}
	return note
}

// NewText says how many events or lines have arrived since a view was frozen, and which keys make it follow again. The
// parameter before names the keys that must first move the focus there; "" = none.
func (e *Env) NewText(n uint64, before string) string {
	follows := before + e.KeyOf("move.last") + " follows"
	if n == 0 {
		return "frozen, " + follows
	}
	return fmt.Sprintf("+%d new, %s", n, follows)
}

// Add appends new events, oldest first.
func (t *Events) Add(es []events.Event) {
	t.Version++
	var newest uint64
	if n := len(t.Rows); n > 0 {
		newest = t.Rows[n-1].Event.Seq
	}
	for _, e := range es {
		if e.Seq <= newest {
			continue
		}
		newest = e.Seq
		t.Rows = append(t.Rows, NewEventRow(e))
		if t.Frozen {
			t.unseen++
		}
	}
	seq := t.CursorSeq()
	most := MaxEvents
	if t.Frozen {
		most = MaxPages
	}
	if over := len(t.Rows) - most; over > 0 {
		t.Rows = slices.Clone(t.Rows[over:])
		t.AtOldest = false
	}
	t.refill(seq)
}

// Older inserts older events, oldest first.
func (t *Events) Older(es []events.Event) {
	if len(t.Rows) == 0 {
		return
	}
	t.Version++
	first, seq := t.Rows[0].Event.Seq, t.CursorSeq()
	rows := make([]*EventRow, 0, len(es)+len(t.Rows))
	for _, e := range es {
		if e.Seq < first {
			rows = append(rows, NewEventRow(e))
		}
	}
	t.Rows = append(rows, t.Rows...)
	t.refill(seq)
}

func (t *Events) CursorSeq() uint64 {
	if t.List.Cursor < len(t.List.Shown) && t.List.Shown[t.List.Cursor] < len(t.Rows) {
		return t.Rows[t.List.Shown[t.List.Cursor]].Event.Seq
	}
	return 0
}

// refill applies the filter. In a frozen view, the cursor stays on the event with the number seq, or on the last shown
// one before it.
func (t *Events) refill(seq uint64) {
	before := t.List.Cursor
	t.List.Shown = t.List.Shown[:0]
	at := 0
	for i, r := range t.Rows {
		if t.agent != "" && r.Event.Subject != t.agent && r.Event.Actor != t.agent ||
			t.Filter.Active() && !t.Shows(&Env{Now: t.now}, r) {
			continue
		}
		if r.Event.Seq <= seq {
			at = len(t.List.Shown)
		}
		t.List.Shown = append(t.List.Shown, i)
	}
	if !t.Frozen {
		t.List.Cursor = max(0, len(t.List.Shown)-1)
		return
	}
	t.List.Cursor = at
	t.List.Offset = max(0, t.List.Offset+at-before)
}

// shownEvent remembers the latest event that the user has had time to see, because a key pressed just after a new event
// has arrived is meant for the previous one.
type shownEvent struct {
	seq   uint64
	since time.Time
	seen  uint64 // the latest event that a user had time to see
}

// Record records the event under the cursor.
func (e *shownEvent) Record(seq uint64, now time.Time) {
	if now.Sub(e.since) >= keymap.DialogGuard {
		e.seen = e.seq
	}
	if seq != e.seq {
		e.seq, e.since = seq, now
	}
}

func (e *shownEvent) set(seq uint64) { e.seq, e.seen = seq, seq }

func (t *Events) target() int {
	if t.Frozen || t.Seen.seen == 0 {
		return t.List.Cursor
	}
	for i := len(t.List.Shown) - 1; i >= 0; i-- {
		switch seq := t.Rows[t.List.Shown[i]].Event.Seq; {
		case seq == t.Seen.seen:
			return i
		case seq < t.Seen.seen:
			return t.List.Cursor
		}
	}
	return t.List.Cursor
}

// Move moves the cursor by n rows. It freezes the view unless the cursor reaches the newest event.
func (t *Events) Move(n int) {
	defer func() { t.Seen.set(t.CursorSeq()) }()
	t.List.Cursor = t.target()
	t.List.Move(n)
	t.Frozen = t.List.Cursor < len(t.List.Shown)-1
	if !t.Frozen {
		t.unseen = 0
	}
}

// Selected returns the event that keys apply to, or nil.
func (t *Events) Selected() *EventRow {
	if at := t.target(); at < len(t.List.Shown) {
		return t.Rows[t.List.Shown[at]]
	}
	return nil
}

// EventToken returns the color for an event type, by severity.
func EventToken(kind string) themes.Token {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed,
		events.ConfigRejected, events.PoolCheckFailed, events.AutomationFailed, events.CityCrashed,
		events.Gap:
		return themes.Bad
	case events.ConfigHeld, events.PoolWorkReturned:
		return themes.Warn
	case events.AgentReleased, events.AgentUndrained, events.AgentResumed, events.CityResumed,
		events.RigResumed:
		return themes.Good
	case events.AgentSuspended, events.CitySuspended, events.RigSuspended, events.AutomationSkipped,
		events.ControllerStopped:
		return themes.Off
	}
	return themes.Text
}

// Columns returns the columns of the Events panel.
func (t *Events) Columns(e *Env, _ []*EventRow, w int) []Column[*EventRow] {
	kinds, subject := 26, min(20, max(8, w/6))
	if w < 100 {
		kinds = 15
	}
	return []Column[*EventRow]{
		{W: 8, Text: styled(themes.Dim, func(r *EventRow) string {
			at := widget.Clock(r.Event.TS, e.Now)
			if len(at) > 8 { // on other days, the date is more important than the time
				at = r.Event.TS.In(e.Now.Location()).Format("Jan 02")
			}
			return at
		})},
		{W: kinds, Gap: 2, Text: func(r *EventRow) (string, themes.Token) {
			if w < 100 {
				return r.verb(), EventToken(r.Event.Type)
			}
			return r.Kind, EventToken(r.Event.Type)
		}},
		{W: subject, Gap: 2, Names: true, Text: styled(themes.Text, func(r *EventRow) string {
			name := r.Subject
			if name == "" && w < 100 { // the type column then shows only the verb
				name, _, _ = strings.Cut(r.Kind, ".")
			}
			return name
		})},
		{Gap: 2, Cell: func(l *widget.Line, r *EventRow, _ widget.RowState) {
			l.Add(themes.Text, widget.CutFirstItem(r.message, w-l.Width-1, e.Look.Glyphs.More))
		}},
	}
}

// Matches reports whether an event matches a term of the filter.
func (r *EventRow) Matches(t *widget.Term, now time.Time) bool {
	switch t.Field {
	case "type":
		_, verb, _ := strings.Cut(r.Kind, ".")
		return t.Begins(r.Kind) || t.Begins(verb) || t.Begins(r.verb())
	case "subject", "name":
		return t.BeginsName(r.Subject)
	case "by":
		return t.BeginsName(r.Event.Actor)
	case "since":
		ago, err := time.ParseDuration(t.Word)
		if err != nil {
			return !t.Not
		}
		return now.Sub(r.Event.TS) <= ago
	}
	return t.In(r.Kind + " " + r.verb() + " " + r.Subject + " " + r.message)
}

func eventCopies(r *EventRow) []Copied {
	all := []Copied{{"message", r.Event.Message}, {"subject", r.Event.Subject}}
	// cannot fail, because the payload is valid JSON
	if raw, err := json.Marshal(r.Event); err == nil {
		all = append(all, Copied{"event as JSON", string(raw)})
	}
	return append(all, Copied{"type", r.Event.Type})
}
