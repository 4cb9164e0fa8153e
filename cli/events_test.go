package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"testing"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/controller/controllertest"
	"gcity/events"
)

// busyLog is a city whose log grows by one event after each read.
type busyLog struct{ *fakeCity }

func (b busyLog) History(_ context.Context, q events.Query) ([]events.Event, error) {
	found := slices.DeleteFunc(slices.Clone(b.live), func(e events.Event) bool { return !q.Match(&e) })
	slices.Reverse(found)
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	n := uint64(len(b.live) + 1)
	b.live = append(b.live, events.Event{Seq: n, Type: "x.y", Subject: fmt.Sprint("number ", n), TS: noon})
	return found, nil
}

// Following the log prints each event once, also if events are appended between its reads.
func TestFollowEventsOfABusyLog(t *testing.T) {
	t.Parallel()
	b := busyLog{&fakeCity{live: []events.Event{{Seq: 1, Type: "x.y", Subject: "number 1", TS: noon}}}}
	var out bytes.Buffer
	e := &env.Env{Printer: output.Printer{Out: &out, JSON: true}}
	if err := followEvents(t.Context(), e, &env.Link{Control: city.Control(b), Live: true}, events.Query{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if got := bytes.Count(out.Bytes(), fmt.Appendf(nil, `"number %d"`, n+1)); got != 1 {
			t.Errorf("event %d was printed %d times:\n%s", n+1, got, out.String())
		}
	}
}

// If --after is beyond the newest event, the city has a new log. Following reports that and continues with new events.
func TestFollowEventsOfANewLog(t *testing.T) {
	t.Parallel()
	c := controllertest.Start(t, "[workspace]\nname = \"town\"\n")
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	e := &env.Env{Printer: output.Printer{Out: in, JSON: true}}
	ended := make(chan error, 1)
	go func() {
		ended <- followEvents(ctx, e, &env.Link{Control: c, Live: true}, events.Query{After: 1000, Forward: true, Limit: 10, Types: []string{"x.*"}})
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	for _, want := range []string{events.Gap, "x.y"} {
		var got events.Event
		if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil || got.Type != want || got.Seq > 1000 {
			t.Fatalf("got %q, want %s", lines.Text(), want)
		}
		if want == events.Gap {
			if _, err := c.Do(ctx, city.Emit{Event: events.Event{Type: "x.y", Actor: "me"}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// newLog is a city whose event stream reports gaps.
type newLog struct{ *fakeCity }

func (newLog) Events(context.Context, uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for _, e := range []events.Event{city.GapEvent(2, 3, noon), {Seq: 4, Type: "x.y"}, city.BeyondLog("4", 1), {Seq: 2, Type: "x.y"}, {Seq: 3, Type: "y.z"}} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Following prints the gaps that a stream reports, even if they do not match, and then the events of a new log.
func TestFollowEventsPrintsGaps(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := &env.Env{Printer: output.Printer{Out: &out, JSON: true}}
	n := newLog{&fakeCity{log: []events.Event{{Seq: 3, Type: "y.z"}}}}
	q := events.Query{Types: []string{"x.*"}, After: 3, Forward: true, Limit: 10}
	if err := followEvents(t.Context(), e, &env.Link{Control: city.Control(n), Live: true}, q); err != nil {
		t.Fatal(err)
	}
	var got []string
	for d := json.NewDecoder(&out); d.More(); {
		var e events.Event
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Seq, " ", e.Type))
	}
	if want := []string{"3 events.gap", "4 x.y", "1 events.gap", "2 x.y"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
