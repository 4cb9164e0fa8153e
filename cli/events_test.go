package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// A list can be longer than a page of the log.
func TestListManyEvents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(dir+"/city.toml", []byte(tinyCity), 0o600), os.Mkdir(dir+"/.gc", 0o700)); err != nil {
		t.Fatal(err)
	}
	const total = events.MaxLimit + 5
	log, err := events.Open(filepath.Join(dir, ".gc"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]events.Event, total)
	for i := range all {
		all[i] = events.Event{Type: "x.y", Actor: "me"}
	}
	if _, err := log.Append(all...); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args        string
		first, last uint64
		total       any
	}{
		{"-n 100000", 1, total, total},
		{"--after 2 -n 100000", 3, total, total - 2},
		{"-n 10002", 4, total, nil},
		{"--after 0 -n 10003", 1, total - 2, nil},
		{"--after 10004", total, total, 1},
	} {
		args := append([]string{"events"}, strings.Fields(c.args)...)
		_, text, _ := runAt(t, dir, nil, args...)
		if lines := strings.Count(text, "\n"); lines != int(c.last-c.first)+1 {
			t.Errorf("%s: %d lines", c.args, lines)
		}
		_, text, errs := runAt(t, dir, nil, append(args, "--json")...)
		var list struct {
			Items []events.Event
			Total any
		}
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err, errs)
		}
		found := output.OldestFirst(list.Items)
		if len(found) != int(c.last-c.first)+1 || found[0].Seq != c.first || found[len(found)-1].Seq != c.last ||
			fmt.Sprint(list.Total) != fmt.Sprint(c.total) {
			t.Errorf("%s: %d events, total %v", c.args, len(found), list.Total)
		}
	}
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
