package city_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
	"gcity/internal/recovery"
)

func record(f *citytest.Fake, n int) {
	for range n {
		time.Sleep(time.Millisecond) // events in the synctest bubble get different times
		f.Record(events.Event{Type: "a.b"})
	}
}

type reader struct {
	next func() (city.Tagged, error, bool)
	end  func()
}

func merged(ctx context.Context, d city.Directory, from city.Cursor) reader {
	next, stop := iter.Pull2(city.Merged(ctx, d, from))
	return reader{next, stop}
}

func (r reader) read(t *testing.T, n int) string {
	t.Helper()
	var got []string
	for range n {
		e, err, ok := r.next()
		if err != nil || !ok {
			t.Fatalf("after %v: got %v, %v", got, err, ok)
		}
		what := fmt.Sprintf("%s:%d", e.City, e.Seq)
		if e.Type == events.Gap {
			what += " gap"
		}
		got = append(got, what)
	}
	return strings.Join(got, ", ")
}

func wantRead(t *testing.T, r reader, want string) {
	t.Helper()
	if got := r.read(t, 1+strings.Count(want, ", ")); got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}

// Earlier events are sorted by time and followed by new ones.
func TestMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, b := citytest.NewFake("a"), citytest.NewFake("b")
		m := citytest.NewDirectory(a, b)
		record(a, 2)
		record(b, 3)
		record(a, 1)
		r := merged(ctx, m, city.Cursor{"a": 1, "b": 0})
		defer r.end()
		wantRead(t, r, "a:2, b:1, b:2, b:3, a:3")
		record(b, 1)
		wantRead(t, r, "b:4")

		c := citytest.NewFake("c")
		record(c, 1) // an event from before c is added
		m.Add("c", "/c", c)
		wantRead(t, r, "c:1")
		record(c, 1)
		wantRead(t, r, "c:2")

		m.SetCondition("b", city.CityCrashed, "a bug")
		record(a, 1)
		wantRead(t, r, "a:4")
		record(b, 2) // the cleanup after the crash
		m.SetCondition("b", city.CityRunning, "")
		wantRead(t, r, "b:5, b:6")

		m.Remove("a")
		synctest.Wait()
		record(a, 1)
		record(c, 1)
		wantRead(t, r, "c:3")
		m.Add("a", "/a", a)
		wantRead(t, r, "a:5")
	})
}

// Cities that the cursor does not contain are read from the end of their logs.
func TestMergedFromTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, b := citytest.NewFake("a"), citytest.NewFake("b")
		m := citytest.NewDirectory(a, b)
		m.SetCondition("b", city.CityStopped, "")
		record(a, 3)
		record(b, 5)
		time.Sleep(time.Millisecond)
		next, stop := iter.Pull2(city.MergedSteps(ctx, m, nil))
		defer stop()
		s, err, ok := next()
		if err != nil || !ok || s.Event != nil || s.At.String() != "a:3,b:0" {
			t.Fatalf("%+v, %v, %v", s, err, ok)
		}
		record(b, 1)
		m.SetCondition("b", city.CityRunning, "")
		if s, err, ok = next(); err != nil || !ok || s.Event != nil || s.At.String() != "a:3,b:5" {
			t.Fatalf("%+v, %v, %v", s, err, ok)
		}
		if s, err, ok = next(); err != nil || !ok || s.Event == nil || s.Event.City != "b" || s.At.String() != "a:3,b:6" {
			t.Fatalf("%+v, %v, %v", s, err, ok)
		}
	})
}

// A city that is added later contributes one gap event for its earlier events.
func TestMergedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, c := citytest.NewFake("a"), citytest.NewFake("c")
		m := citytest.NewDirectory(a)
		record(a, 1)
		record(c, 2) // before the stream
		time.Sleep(time.Millisecond)
		r := merged(ctx, m, city.Cursor{"a": 0})
		defer r.end()
		wantRead(t, r, "a:1")
		record(c, 500) // c is not in the directory yet
		time.Sleep(time.Hour)
		record(c, 2)
		m.Add("c", "/c", c)
		e, err, ok := r.next()
		if err != nil || !ok || e.City != "c" || e.Seq != 502 || !city.IsInsertedGap(&e.Event) || !strings.Contains(e.Message, "city c was added") {
			t.Fatalf("%+v, %v, %v", e, err, ok)
		}
		wantRead(t, r, "c:503, c:504")
		record(c, 1)
		wantRead(t, r, "c:505")
		// A restarted city continues at its position.
		m.SetCondition("c", city.CityStopped, "")
		record(c, 1)
		time.Sleep(time.Hour)
		m.SetCondition("c", city.CityRunning, "")
		wantRead(t, r, "c:506")
	})
}

type holey struct {
	city.Control
	lost func(seq uint64) bool
}

func (h holey) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for e, err := range h.Control.Events(ctx, after) {
			if !h.lost(e.Seq) && !yield(e, err) {
				return
			}
		}
	}
}

// A stream reports missing events and invalid cursors. A different city with a known name is read from the start.
func TestMergedGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, b := citytest.NewFake("a"), citytest.NewFake("b")
		m := citytest.NewDirectory(a, b)
		m.Add("a", "/a", holey{a, func(seq uint64) bool { return seq == 2 || seq == 3 }})
		record(a, 4)
		record(b, 2)
		r := merged(ctx, m, city.Cursor{"a": 0, "b": 1000})
		defer r.end()
		wantRead(t, r, "b:2 gap, a:1, a:3 gap, a:4")
		record(b, 1)
		wantRead(t, r, "b:3")

		m.Remove("b")
		synctest.Wait()
		other := citytest.NewFake("b")
		record(other, 1)
		m.Add("b", "/elsewhere", other)
		wantRead(t, r, "b:1")
	})
}

type stuck struct{ city.Control }

func (s stuck) History(ctx context.Context, _ events.Query) ([]events.Event, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A hung city delays the other cities only once.
func TestMergedStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := citytest.NewFake("a")
		m := citytest.NewDirectory(a)
		m.Add("stuck", "/stuck", stuck{citytest.NewFake("stuck")})
		record(a, 2)
		began := time.Now()
		r := merged(ctx, m, city.Cursor{"a": 0, "stuck": 0})
		defer r.end()
		wantRead(t, r, "a:1, a:2")
		if took := time.Since(began); took != time.Second {
			t.Errorf("the stream waited %s, want a second", took)
		}
		began = time.Now()
		a.Record(events.Event{Type: "a.b"})
		wantRead(t, r, "a:3")
		if took := time.Since(began); took != 0 {
			t.Errorf("the stream waited again: %s", took)
		}
	})
}

// dead is a city that never responds, not even after the caller's deadline.
type dead struct {
	city.Control
	free chan struct{}
}

func (d dead) History(context.Context, events.Query) ([]events.Event, error) {
	<-d.free
	return nil, errors.New("too late")
}

// A stream ends even if a city never responds.
func TestMergedDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a := citytest.NewFake("a")
		m := citytest.NewDirectory(a)
		d := dead{citytest.NewFake("dead"), make(chan struct{})}
		m.Add("dead", "/dead", d)
		record(a, 2)
		r := merged(ctx, m, city.Cursor{"a": 0, "dead": 0})
		wantRead(t, r, "a:1, a:2")
		r.end()
		close(d.free)
	})
}

type broken struct{ city.Control }

func (broken) History(context.Context, events.Query) ([]events.Event, error) { panic("a fault") }

// A panic in one city does not affect the other cities.
func TestMergedFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		a := citytest.NewFake("a")
		m := citytest.NewDirectory(a)
		m.Add("broken", "/broken", broken{citytest.NewFake("broken")})
		told, got := 0, uint64(0)
		go func() {
			for range 60 {
				time.Sleep(900 * time.Millisecond)
				a.Record(events.Event{Type: "a.b"})
			}
		}()
		for s, err := range city.MergedSteps(ctx, m, city.Cursor{"a": 0, "broken": 7}) {
			switch {
			case err != nil:
				t.Fatal(err)
			case s.At["broken"] != 7:
				t.Fatalf("the cursor has changed: %v", s.At)
			case s.Event.City == "a":
				got = s.Event.Seq
			case s.Event.Type == events.Gap && strings.Contains(s.Event.Message, "a fault"):
				told++
				if p, ok := errors.AsType[*recovery.Panic](s.Fault); !ok || !strings.Contains(string(p.Stack()), "broken.History") {
					t.Fatalf("the stack is missing: %v", s.Fault)
				}
			}
		}
		if got != 60 || told == 0 || told > 25 {
			t.Errorf("got %d of 60 events, and %d reports of the fault", got, told)
		}
	})
}

type counting struct {
	city.Control
	n *atomic.Int64
}

func (c counting) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for e, err := range c.Control.Events(ctx, after) {
			c.n.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

// If a reader stalls, only one event of each city waits for it.
func TestMergedSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, n := citytest.NewFake("a"), new(atomic.Int64)
		m := citytest.NewDirectory()
		m.Add("a", "/a", counting{a, n})
		record(a, 100)
		r := merged(ctx, m, city.Cursor{"a": 0})
		defer r.end()
		wantRead(t, r, "a:1")
		record(a, 100)
		synctest.Wait()
		if n.Load() > 2 {
			t.Errorf("got %d events read for a reader that read one", n.Load())
		}
		if got := r.read(t, 199); !strings.HasSuffix(got, "a:199, a:200") {
			t.Errorf("…%s", got[len(got)-30:])
		}
	})
}

// However slow the reader is, earlier events are sorted by time.
func TestMergedSlowReaderInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		a, b := citytest.NewFake("a"), citytest.NewFake("b")
		m := citytest.NewDirectory(a, b)
		record(a, 3)
		record(b, 2)
		r := merged(ctx, m, city.Cursor{"a": 0, "b": 0})
		defer r.end()
		for _, want := range []string{"a:1", "a:2", "a:3", "b:1", "b:2"} {
			time.Sleep(10 * time.Second)
			wantRead(t, r, want)
		}
	})
}

type gone struct{ city.Directory }

func (gone) Watch(context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) { yield(nil, errors.New("the supervisor has ended")) }
}

func TestMergedEnds(t *testing.T) {
	r := merged(t.Context(), gone{}, nil)
	if _, err, _ := r.next(); err == nil || err.Error() != "the supervisor has ended" {
		t.Error(err)
	}
	if _, _, ok := r.next(); ok {
		t.Error("the stream continues")
	}
	r.end()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for e, err := range city.Merged(ctx, citytest.NewDirectory(citytest.NewFake("a")), nil) {
		t.Error(e, err)
	}
}

// A reader that resumes gets each event of each city once, in order.
func TestMergedHistories(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for round := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, round))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			m := citytest.NewDirectory()
			fakes, registered, runs := map[string]*citytest.Fake{}, map[string]bool{}, map[string]bool{}
			at, told, seen := city.Cursor{}, city.Cursor{}, map[string][]uint64{}
			for _, name := range []string{"a", "b", "c"} {
				fakes[name], at[name], registered[name], runs[name] = citytest.NewFake(name), 0, true, true
				m.Add(name, "/"+name, fakes[name])
			}
			names := slices.Sorted(maps.Keys(fakes))
			var next func() (city.Step, error, bool)
			stop := func() {}
			defer func() { stop() }()
			for range 500 {
				name := names[rnd.IntN(len(names))]
				switch rnd.IntN(8) {
				case 0, 1, 2:
					told[name] = fakes[name].Record(events.Event{Type: "a.b"})
				case 3:
					if registered[name] {
						c := []city.Condition{city.CityRunning, city.CityCrashed, city.CitySuspended, city.CityStopped}[rnd.IntN(4)]
						m.SetCondition(name, c, "")
						runs[name] = c == city.CityRunning || c == city.CitySuspended
					}
				case 4:
					if runs[name] = !registered[name]; runs[name] {
						m.Add(name, "/"+name, fakes[name])
					} else {
						m.Remove(name)
					}
					registered[name] = runs[name]
				case 5:
					time.Sleep(time.Duration(rnd.IntN(3000)) * time.Millisecond)
				case 6: // the reader disconnects and reconnects
					if rnd.IntN(4) == 0 {
						stop()
						next = nil
					}
				default:
					waits := func(name string) bool { return runs[name] && told[name] > at[name] }
					if next == nil {
						next, stop = iter.Pull2(city.MergedSteps(ctx, m, maps.Clone(at)))
					}
					for range rnd.IntN(10) {
						if !slices.ContainsFunc(names, waits) {
							break
						}
						s, err, ok := next()
						if err != nil || !ok {
							t.Fatal(err, ok)
						}
						at = maps.Clone(s.At)
						seen[s.Event.City] = append(seen[s.Event.City], s.Event.Seq)
					}
				}
			}
			stop()
			for _, name := range names {
				m.Add(name, "/"+name, fakes[name])
				fakes[name].Record(events.Event{Type: "the.end"})
			}
			ended := 0
			for s, err := range city.MergedSteps(ctx, m, at) {
				if err != nil {
					t.Fatal(err)
				}
				seen[s.Event.City] = append(seen[s.Event.City], s.Event.Seq)
				if s.Event.Type == "the.end" {
					if ended++; ended == len(names) {
						break
					}
				}
			}
			for _, name := range names {
				for i, seq := range seen[name] {
					if seq != uint64(i+1) {
						t.Fatalf("round %d: events of %s: %v", round, name, seen[name])
					}
				}
			}
		})
	}
}
