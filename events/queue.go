package events

import (
	"fmt"
	"time"
)

type queue struct {
	notes   []entry // events about the log itself; they are written before entries
	entries []entry
	bytes   int

	dropped  uint64
	from, to time.Time
}

func (q *queue) len() int { return len(q.entries) }

func (q *queue) add(entries []entry) {
	q.entries = append(q.entries, entries...)
	for _, e := range entries {
		q.bytes += len(e.body)
	}
}

// clear does not count the events as dropped, because the caller of AppendNow gets an error.
func (q *queue) clear() { q.entries, q.bytes = nil, 0 }

func (q *queue) trim(limit int) {
	drop := 0
	for len(q.entries)-drop > limit || q.bytes > queueBytes {
		e := q.entries[drop]
		if q.dropped == 0 {
			q.from = e.event.TS
		}
		q.to = e.event.TS
		q.dropped++
		q.bytes -= len(e.body)
		drop++
	}
	if drop > 0 {
		q.entries = append([]entry(nil), q.entries[drop:]...)
	}
}

const maxNotes = 16

func (q *queue) note(message string, payload []byte, now time.Time) {
	if len(q.notes) == maxNotes {
		return
	}
	e, err := prepare(Event{Type: Repaired, Actor: "log", Message: message, Payload: payload}, now)
	if err == nil { // prepare fails only for an invalid type
		q.notes = append(q.notes, e)
	}
}

func (q *queue) pending(cause error, now time.Time) []entry {
	if len(q.notes) == 0 && q.dropped == 0 {
		return q.entries
	}
	out := append([]entry(nil), q.notes...)
	if q.dropped > 0 {
		const layout = time.RFC3339Nano
		e, err := prepare(Event{Type: Gap, Actor: "log",
			Message: fmt.Sprintf("%d events were lost because they could not be written: %v",
				q.dropped, cause),
			Payload: fmt.Appendf(nil, `{"count":%d,"from":%q,"to":%q}`, q.dropped,
				q.from.Format(layout), q.to.Format(layout)),
		}, now)
		if err == nil {
			out = append(out, e)
		}
	}
	return append(out, q.entries...)
}

func (q *queue) wrote(n int) {
	notes := min(n, len(q.notes))
	q.notes = q.notes[notes:]
	n -= notes
	if n > 0 && q.dropped > 0 {
		q.dropped = 0
		n--
	}
	for _, e := range q.entries[:n] {
		q.bytes -= len(e.body)
	}
	if q.entries = q.entries[n:]; len(q.entries) == 0 {
		q.entries = nil
	}
}
