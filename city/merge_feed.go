package city

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gcity/events"
	"gcity/internal/recovery"
)

type feed struct {
	name string
	// zero = at the end of the log
	startAt time.Time
	// a gap event stands for the events between this time and startAt
	began    time.Time
	next     chan struct{} // each value allows the feed to offer one more event
	end      context.CancelFunc
	position uint64 // seq of the last event offered, or of the start position; owned by the feed

	// the reader owns the fields below
	open bool   // has reported its start position
	last uint64 // newest seq when open was set

	beyond bool // the start position is beyond the end of the log

	nextEvent *events.Event
	headTime  time.Time // time of nextEvent
	// if set, nextEvent is not from the log
	fault error
	asked time.Time
	slow  bool // the stream no longer waits for this feed
}

type offer struct {
	feed        *feed
	event       *events.Event
	key         time.Time
	after, last uint64 // if event is nil: the start position, and the seq of the newest event
	over        bool
	fault       error
}

func (f *feed) before(g *feed) bool {
	if c := f.headTime.Compare(g.headTime); c != 0 {
		return c < 0
	}
	return f.name < g.name
}

func (f *feed) run(ctx context.Context, d Directory, after uint64, known bool,
	offers chan<- offer) {
	say := func(o offer) bool {
		o.feed = f
		select {
		case offers <- o:
		case <-ctx.Done():
			return false
		}
		if o.event == nil {
			return true
		}
		select {
		case <-f.next:
			return true
		case <-ctx.Done():
			return false
		}
	}
	// a panic must not affect other cities
	if fault := recovery.Catch(func() { f.read(ctx, d, after, known, say) }); fault != nil {
		say(offer{fault: fault, event: &events.Event{Seq: f.position, TS: time.Now(),
			Type: events.Gap, Actor: gapActor,
			Message: "cannot read the next events, will retry: " + fault.Error()}})
	}
	say(offer{over: true})
}

func (f *feed) read(ctx context.Context, d Directory, after uint64, known bool,
	say func(offer) bool) {
	f.position = after
	c, err := d.City(f.name)
	if err != nil {
		return
	}
	newest, err := c.History(ctx, events.Query{Limit: 1})
	if err != nil {
		return
	}
	var last uint64
	if len(newest) > 0 {
		last = newest[0].Seq
	}
	var past *events.Event
	if !known {
		if after, past, err = f.startPosition(ctx, c, last); err != nil {
			return
		}
	}
	beyond := after > last
	if !say(offer{after: after, last: last}) ||
		beyond && !say(offer{event: new(BeyondLog(fmt.Sprint(after), last))}) ||
		past != nil && !say(offer{event: past}) {
		return
	}
	after = min(after, last)
	f.position = after
	for e, err := range c.Events(ctx, after) {
		made := IsInsertedGap(&e)
		switch {
		case err != nil:
			return
		case e.Seq <= after && !made:
			continue
		case e.Seq > after+1 && !made:
			if !say(offer{event: gapEvent(after+1, e.Seq-1, e.TS), key: e.TS}) {
				return
			}
		}
		if !say(offer{event: &e, key: e.TS}) {
			return
		}
		after, f.position = e.Seq, e.Seq
	}
}

func (f *feed) startPosition(ctx context.Context, c Control, last uint64) (after uint64,
	past *events.Event, err error) {
	if f.startAt.IsZero() {
		return last, nil, nil
	}
	after = last
	for before := uint64(0); ; {
		found, err := c.History(ctx, events.Query{Since: f.startAt, Before: before})
		if err != nil {
			return after, nil, err
		}
		if len(found) == 0 {
			break
		}
		before = found[len(found)-1].Seq
		after = before - 1
	}
	if after == 0 || !f.began.Before(f.startAt) {
		return after, nil, nil
	}
	found, err := c.History(ctx, events.Query{Since: f.began, Before: after + 1, Limit: 1})
	if err == nil && len(found) > 0 {
		past = gapEvent(1, after, found[0].TS)
		past.Message = fmt.Sprintf("city %s was added; its log contains %d earlier "+
			"events, which are not in this stream", f.name, after)
	}
	return after, past, err
}

const gapActor = "api"

// IsInsertedGap reports whether a stream inserted this event in place of missing events.
func IsInsertedGap(e *events.Event) bool { return e.Type == events.Gap && e.Actor == gapActor }

// GapEvent returns a gap event that stands for events that are missing from a log.
func GapEvent(from, to uint64, at time.Time) events.Event { return *gapEvent(from, to, at) }

func gapEvent(from, to uint64, at time.Time) *events.Event {
	what := fmt.Sprintf("events %d to %d are missing from the log", from, to)
	if from == to {
		what = fmt.Sprintf("event %d is missing from the log", from)
	}
	payload, _ := json.Marshal(map[string]uint64{"from": from, "to": to}) // cannot fail
	return &events.Event{Seq: to, TS: at, Type: events.Gap, Actor: gapActor,
		Message: what + ": damaged or removed", Payload: payload}
}

// BeyondLog returns a gap event for a cursor that does not belong to a log. last is the newest seq.
func BeyondLog(asked string, last uint64) events.Event {
	// cannot fail
	payload, _ := json.Marshal(map[string]any{"asked": fmt.Sprintf("%.40s", asked), "newest": last})
	return events.Event{
		Seq: last, TS: time.Now(), Type: events.Gap, Actor: gapActor, Payload: payload,
		Message: "the cursor does not belong to this log, so events may be missing here; " +
			"the stream continues with new events",
	}
}
