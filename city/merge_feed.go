package city

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gcity/events"
	"gcity/internal/recovery"
)

// feed is the events of one city, on their way into a merged stream.
type feed struct {
	name  string
	since time.Time     // of a city that came later: its events from then on; zero = from its end
	began time.Time     // the stream; what the city did from then to since is only told of
	more  chan struct{} // it may offer one event more
	end   context.CancelFunc
	at    uint64 // the newest that it has offered, or where it begins; its own

	// of the reader
	open bool   // it has said where it begins
	last uint64 // the newest event when it did

	beyond bool // that is before where it was to begin, which it is about to say

	head  *events.Event // that waits to be yielded
	key   time.Time     // of head, in the order of the clock
	fault error         // that head tells of, which is no step on the way
	asked time.Time     // since when there is none
	slow  bool          // nobody waits for it any more
}

// offer is something that a feed says.
type offer struct {
	feed        *feed
	event       *events.Event
	key         time.Time
	after, last uint64 // without an event: where it begins, and the newest event
	over        bool   // there is nothing more
	fault       error  // which the event tells of
}

func (f *feed) before(g *feed) bool {
	if c := f.key.Compare(g.key); c != 0 {
		return c < 0
	}
	return f.name < g.name
}

// run reads until ctx ends, or the city does.
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
		case <-f.more:
			return true
		case <-ctx.Done():
			return false
		}
	}
	// no other city's
	if fault := recovery.Catch(func() { f.read(ctx, d, after, known, say) }); fault != nil {
		say(offer{fault: fault, event: &events.Event{Seq: f.at, TS: time.Now(), Type: events.Gap,
			Actor: gapActor,
			Message: "the events that follow cannot be read, and are asked " +
				"for again: " + fault.Error()}})
	}
	say(offer{over: true})
}

func (f *feed) read(ctx context.Context, d Directory, after uint64, known bool,
	say func(offer) bool) {
	f.at = after
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
		if after, past, err = f.begins(ctx, c, last); err != nil {
			return
		}
	}
	beyond := after > last
	if !say(offer{after: after, last: last}) ||
		beyond && !say(offer{event: beyondLog(after, last)}) ||
		past != nil && !say(offer{event: past}) {
		return
	}
	after = min(after, last)
	f.at = after
	for e, err := range c.Events(ctx, after) {
		made := MadeGap(&e) // by whoever brings it
		switch {
		case err != nil:
			return
		case e.Seq <= after && !made:
			continue
		case e.Seq > after+1 && !made:
			if !say(offer{event: hole(after+1, e.Seq-1, e.TS), key: e.TS}) {
				return
			}
		}
		if !say(offer{event: &e, key: e.TS}) {
			return
		}
		after, f.at = e.Seq, e.Seq
	}
}

// begins finds where a city that is in no cursor is read from, and says what it did before while the stream was open.
func (f *feed) begins(ctx context.Context, c Control, last uint64) (after uint64,
	past *events.Event, err error) {
	if f.since.IsZero() {
		return last, nil, nil
	}
	after = last
	for before := uint64(0); ; {
		found, err := c.History(ctx, events.Query{Since: f.since, Before: before})
		if err != nil {
			return after, nil, err
		}
		if len(found) == 0 {
			break
		}
		before = found[len(found)-1].Seq
		after = before - 1
	}
	if after == 0 || !f.began.Before(f.since) {
		return after, nil, nil
	}
	found, err := c.History(ctx, events.Query{Since: f.began, Before: after + 1, Limit: 1})
	if err == nil && len(found) > 0 {
		past = hole(1, after, found[0].TS)
		past.Message = fmt.Sprintf("%s has joined, and goes on from here: its log has the %d "+
			"events before", f.name, after)
	}
	return after, past, err
}

// gapActor has made the events events.Gap that are in no log.
const gapActor = "api"

// MadeGap tells whether an event is in no log, and says what a stream does not have.
func MadeGap(e *events.Event) bool { return e.Type == events.Gap && e.Actor == gapActor }

// Hole stands for events that a log does not have any more, in a stream of its events.
func Hole(from, to uint64, at time.Time) events.Event { return *hole(from, to, at) }

func hole(from, to uint64, at time.Time) *events.Event {
	what := fmt.Sprintf("the events %d to %d are missing from the log", from, to)
	if from == to {
		what = fmt.Sprintf("the event %d is missing from the log", from)
	}
	payload, _ := json.Marshal(map[string]uint64{"from": from, "to": to}) // cannot fail
	return &events.Event{Seq: to, TS: at, Type: events.Gap, Actor: gapActor,
		Message: what + ": damaged, or taken away", Payload: payload}
}

// BeyondLog says that a cursor fits nothing in a log, whose newest event it is given.
func BeyondLog(asked string, last uint64) events.Event {
	// cannot fail
	payload, _ := json.Marshal(map[string]any{"asked": fmt.Sprintf("%.40s", asked), "newest": last})
	return events.Event{
		Seq: last, TS: time.Now(), Type: events.Gap, Actor: gapActor, Payload: payload,
		Message: "the cursor is not from this log: what lies between is not known, the stream " +
			"goes on with what is new",
	}
}

func beyondLog(asked, last uint64) *events.Event {
	e := BeyondLog(fmt.Sprint(asked), last)
	return &e
}
