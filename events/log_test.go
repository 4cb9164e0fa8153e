package events

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
)

func open(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	l, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendN(t testing.TB, l *Log, n int) (last uint64) {
	t.Helper()
	for i := range n {
		var err error
		if last, err = l.Append(Event{Type: "test.ping", Actor: "t", Subject: fmt.Sprint("s", i%7), Message: fmt.Sprint("event ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	return last
}

func all(t testing.TB, dir string) []Event {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	var found []Event
	for after := uint64(0); ; {
		page, err := r.Find(context.Background(), Query{After: after, Forward: true, Limit: MaxLimit})
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return found
		}
		found = append(found, page...)
		after = page[len(page)-1].Seq
	}
}

// gapless fails the test unless the seqs are consecutive (L9).
func gapless(t testing.TB, got []Event, first uint64) {
	t.Helper()
	for i, e := range got {
		if e.Seq != first+uint64(i) {
			t.Fatalf("event %d has seq %d, want %d", i, e.Seq, first+uint64(i))
		}
	}
}

// An event that Append has acknowledged is in the log, and seqs have no gaps (L9).
func TestAppendFind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".gc")
	l := open(t, dir, Options{})
	last, err := l.Append(
		Event{Type: "deploy.done", Actor: "ann", Subject: "a/b", Message: "line\n\x1b[31mred\u009b \"q\"", Payload: json.RawMessage(`{"x": [1, 2]}`)},
		Event{Type: AgentStarted, Actor: "controller", Subject: "w-1"},
		Event{Type: AgentCrashed, Actor: "controller", Subject: "w-1"},
	)
	if err != nil || last != 3 || l.Last() != 3 {
		t.Fatalf("Append = %d, %v; Last = %d", last, err, l.Last())
	}
	got := all(t, dir)
	gapless(t, got, 1)
	if len(got) != 3 || got[0].Message != "line\n\x1b[31mred\u009b \"q\"" || string(got[0].Payload) != `{"x":[1,2]}` || got[0].TS.IsZero() {
		t.Fatalf("read back %+v", got)
	}
	raw, err := os.ReadFile(filepath.Join(dir, activeName))
	if err != nil || strings.ContainsAny(string(raw), "\x1b\u009b") {
		t.Fatalf("control characters in the file (L12), %v: got %q", err, raw)
	}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{}, "[3 2 1]"},
		{Query{Limit: 1}, "[3]"},
		{Query{Before: 3}, "[2 1]"},
		{Query{Before: 3, Limit: 1}, "[2]"},
		{Query{Forward: true}, "[1 2 3]"},
		{Query{After: 1}, "[2 3]"},
		{Query{After: 1, Before: 3}, "[2]"},
		{Query{After: 9}, "[]"},
		{Query{Types: []string{"agent.*"}}, "[3 2]"},
		{Query{Types: []string{"agent.crashed", "deploy.*"}}, "[3 1]"},
		{Query{Types: []string{"agent"}}, "[]"},
		{Query{Actor: "ann"}, "[1]"},
		{Query{Subject: "w-1", Types: []string{"agent.started"}}, "[2]"},
		{Query{Since: time.Now().Add(-time.Minute)}, "[3 2 1]"},
		{Query{Since: time.Now().Add(time.Minute)}, "[]"},
	} {
		found, err := l.Find(t.Context(), c.q)
		seqs := []uint64{}
		for _, e := range found {
			seqs = append(seqs, e.Seq)
		}
		if err != nil || fmt.Sprint(seqs) != c.want {
			t.Errorf("Find(%+v) = %v, %v; want %s", c.q, seqs, err, c.want)
		}
	}
}

func TestFollowHistoryThenLive(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, Options{})
	appendN(t, l, 10)
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	want := uint64(4)
	for e, err := range l.Follow(ctx, 3) {
		if err != nil || e.Seq != want {
			t.Fatalf("got %d, %v, want %d", e.Seq, err, want)
		}
		if want == 20 {
			break
		}
		if want++; want > 10 {
			appendN(t, l, 1)
		}
	}
	if ctx.Err() != nil {
		t.Fatal("Follow ended before event 20")
	}
}

// A payload that is too long for a line keeps its depth, which ends chains of automation runs.
func TestShortenedPayloadKeepsItsDepth(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for raw, want := range map[string]int{
		`{"text":"` + long + `","depth":3}`:           3,
		`{"depth":3,"text":"` + long + `"}`:           3,
		`{"text":"` + long + `"}`:                     0,
		`{"text":"` + long + `","depth":"3"}`:         0,
		`{"text":"` + long + `","inner":{"depth":3}}`: 0,
		`["` + long + `"]`:                            0,
	} {
		e, err := prepare(Event{Type: "x.y", Payload: json.RawMessage(raw)}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Truncated bool
			Bytes     int
			Depth     int
			Head      string
		}
		if err := json.Unmarshal(e.event.Payload, &got); err != nil || !got.Truncated ||
			got.Bytes != len(raw) || got.Depth != want || !strings.HasPrefix(raw, got.Head[:100]) {
			t.Errorf("%.30s…%s: %.200s, %v", raw, raw[len(raw)-20:], e.event.Payload, err)
		}
	}
}

func TestKeepsPayload(t *testing.T) {
	for length, want := range map[int]bool{0: true, 60 << 10: true, 64<<10 - 200: false} {
		e := Event{Type: "big.e", Payload: json.RawMessage(`"` + strings.Repeat("x", length) + `"`)}
		if got := KeepsPayload(e); got != want {
			t.Errorf("%d bytes: got %t, want %t", length, got, want)
		}
	}
}

// A page that ends because of its size is full, also if its lines are much longer than the decoded events.
func TestFullPageOfEscapes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, Options{})
	all := make([]Event, 1200)
	for i := range all {
		all[i] = Event{Type: "test.binary", Actor: "t", Message: strings.Repeat("\x7f", 2700)}
	}
	if _, err := l.Append(all...); err != nil {
		t.Fatal(err)
	}
	for _, forward := range []bool{true, false} {
		page, err := l.Find(t.Context(), Query{Forward: forward, Limit: 2 * len(all)})
		if err != nil || len(page) >= len(all) || !Full(page) {
			t.Errorf("forward %t: %d events, full: %t, %v", forward, len(page), Full(page), err)
		}
	}
}

// A search that skips blocks finds the same events as a search that reads all lines.
func TestFindSkipsBlocks(t *testing.T) {
	t.Parallel()
	l := open(t, t.TempDir(), Options{SegmentSize: 3 * window})
	began := time.Now().Add(-time.Hour)
	all := make([]Event, 2*oldInARow)
	for i := range all {
		all[i] = Event{Type: "x.y", Actor: "me", Subject: "crowd", TS: began.Add(time.Duration(i) * time.Second / 4),
			Message: strings.Repeat("m", 250)}
		if i%1500 == 7 {
			all[i].Subject, all[i].Type = "rare", "rare.type"
		}
	}
	for part := range slices.Chunk(all, 500) {
		if _, err := l.Append(part...); err != nil {
			t.Fatal(err)
		}
	}
	everything, err := l.Find(t.Context(), Query{Limit: MaxLimit})
	if err != nil || len(everything) != len(all) {
		t.Fatal(len(everything), err)
	}
	for _, q := range []Query{{Subject: "rare"}, {Types: []string{"rare.*", "no.such"}}, {Subject: "none"},
		{Subject: "rare", Actor: "me", Limit: 2}, {Subject: "rare", Before: 4000}, {Subject: "crowd", Types: []string{"rare.type"}},
		{Subject: "rare", Since: all[5000].TS}, {Subject: "rare", Since: all[len(all)-1].TS}} {
		found, err := l.Find(t.Context(), q)
		want := slices.DeleteFunc(slices.Clone(everything), func(e Event) bool { return !q.Match(&e) })
		if q.Limit > 0 {
			want = want[:q.Limit]
		}
		if fmt.Sprint(seqsOf(found)) != fmt.Sprint(seqsOf(want)) || err != nil {
			t.Errorf("%+v: got %v, want %v (%v)", q, seqsOf(found), seqsOf(want), err)
		}
	}
}
