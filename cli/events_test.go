package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
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
	if err := followEvents(t.Context(), e, &env.Link{Control: city.Control(b)}, events.Query{Limit: 10}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if got := bytes.Count(out.Bytes(), fmt.Appendf(nil, `"number %d"`, n+1)); got != 1 {
			t.Errorf("event %d was printed %d times:\n%s", n+1, got, out.String())
		}
	}
}
