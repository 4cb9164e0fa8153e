package cli

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"os"
	"sync"
	"testing"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/events"
)

// fakeCity is a city in a constant state, for tests of output that depends only on a snapshot.
type fakeCity struct {
	snapshot *city.Snapshot
	log      []events.Event
	output   string
	file     string // city.toml; "" = tinyCity
	about    city.Inspection
	refuse   error
	onDo     func() // called before a command, unless it is nil
	live     []events.Event
	prints   []city.Piece
	frames   []city.Frame
	silent   error
	work     map[string]*fake.Store // stores by rig; "" is the city's store
	env      map[string]string
	idle     bool
	holds    chan struct{} // if not nil, a requested run starts when this is closed
	queues   bool          // a requested run is queued behind another run

	mu   sync.Mutex
	done []city.Command
}

func (s *fakeCity) Snapshot(context.Context) (*city.Snapshot, error) { return s.snapshot, nil }

func (s *fakeCity) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) { yield(s.snapshot, nil) }
}

func (s *fakeCity) Output(context.Context, string, int) (string, error) { return s.output, nil }

func (s *fakeCity) History(_ context.Context, q events.Query) ([]events.Event, error) {
	var out []events.Event
	for _, e := range s.log {
		if q.Match(&e) {
			out = append(out, e)
		}
	}
	return out, nil
}

func (s *fakeCity) Events(_ context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for _, e := range s.live {
			if e.Seq > after && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *fakeCity) Watch(context.Context, string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		for _, f := range s.frames {
			if !yield(f, nil) {
				return
			}
		}
	}
}

func (s *fakeCity) Inspect(_ context.Context, name string) (*city.Inspection, error) {
	if s.refuse != nil {
		return nil, s.refuse
	}
	about := s.about
	about.Agent = name
	return &about, nil
}

func (s *fakeCity) RunOutput(context.Context, string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) {
		for _, p := range s.prints {
			if !yield(p, nil) {
				return
			}
		}
		if s.silent != nil {
			yield(city.Piece{}, s.silent)
		}
	}
}

func (s *fakeCity) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return nil, &city.Error{Code: city.Unavailable, Message: "still"}
}

func (s *fakeCity) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	if s.onDo != nil {
		s.onDo()
	}
	if s.refuse != nil {
		return city.Receipt{}, s.refuse
	}
	if s.holds != nil {
		select {
		case <-s.holds:
		case <-ctx.Done():
			return city.Receipt{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, c)
	if f, ok := c.(city.Fire); ok && s.queues {
		return city.Receipt{Seq: 7, Message: f.Automation + " is queued"}, nil
	} else if ok {
		return city.Receipt{Seq: 7, Message: "runs", Bead: &beads.Bead{ID: "br-1", Title: "run of " + f.Automation}}, nil
	}
	return city.Receipt{Seq: 7, Message: c.Verb() + " " + c.Target()}, nil
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func runCLI(t *testing.T, s *fakeCity, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/city.toml", []byte(cmp.Or(s.file, tinyCity)), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	a := &env.Env{
		Printer: output.Printer{
			Out:    &out,
			Err:    &errs,
			Now:    func() time.Time { return noon },
			Getenv: func(name string) string { return cmp.Or(s.env[name], map[string]string{"GC_CITY_PATH": dir}[name]) },
		},
		Version: "test",
		Reach: func(context.Context, string) (*env.Link, error) {
			return &env.Link{Control: s, Dir: dir, Live: !s.idle, Close: func() {}}, nil
		},
		Dial:  func(string) (city.Control, func(), error) { return s, func() {}, nil },
		Store: func(p workstore.Place) (workstore.Store, error) { return openFake(s, p) },
	}
	code = run(t.Context(), a, args)
	return code, out.String(), errs.String()
}

func demoCity() *fakeCity {
	until := noon.Add(38 * time.Minute)
	return &fakeCity{
		snapshot: &city.Snapshot{
			Name: "bright", Path: "/cities/bright", Host: "devbox", Version: "test", PID: 4711, Mode: "headless",
			Started: noon.Add(-3 * time.Hour), At: noon, Patrol: city.Patrol{Interval: 30 * time.Second, Last: noon.Add(-2 * time.Second)},
			Config: city.ConfigInfo{Revision: "3f2a91c0de12", Loaded: noon},
			Agents: []city.Agent{
				{Name: "app/reader", State: city.Running, Since: noon.Add(-25 * time.Hour), PID: 99, Running: true, Available: true, Restarts: 2},
				{Name: "idle", State: city.Suspended, Reason: "in city.toml", Since: noon.Add(-49 * time.Hour), Suspended: true},
				{
					Name: "scout", State: city.Quarantined, Reason: "crashed 6× in 4m, last: exit 3", Since: noon.Add(-22 * time.Minute),
					Until: &until, Exit: &city.Exit{Code: 3, At: noon, Uptime: 1500 * time.Millisecond, File: ".gc/crashes/scout/x.ansi"},
					Decisions: []city.Decision{{At: noon.Add(-22 * time.Minute), What: "quarantine", Why: "6 crashes, 5 allowed"}},
				},
				{Name: "\x1b]0;evil\x07w", State: city.Running, Reason: "a\x1b[31mb\nc", Since: noon.Add(-48 * time.Second), Running: true},
			},
		},
		log: []events.Event{
			{Seq: 1, TS: noon, Type: events.AgentStarted, Actor: "controller", Subject: "scout", Message: "pid 17"},
			{Seq: 2, TS: noon, Type: events.AgentCrashed, Actor: "controller", Subject: "scout", Message: "exit 3\x1b[2J"},
			{Seq: 3, TS: noon, Type: "note.made", Actor: "app/reader", Subject: "x"},
		},
	}
}

const tinyCity = `
[workspace]
name = "bright"
[[rigs]]
name = "demo"
path = "."
[[agents]]
name = "worker"
dir = "demo"
start_command = "true"
[agents.pool]
max = 2
`

type inMemory struct{ *fake.Store }

func (inMemory) Close() error { return nil }

func openFake(s *fakeCity, p workstore.Place) (workstore.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.work == nil {
		s.work = map[string]*fake.Store{}
	}
	if s.work[p.Rig] == nil {
		s.work[p.Rig] = fake.New(p.Prefix)
	}
	return inMemory{s.work[p.Rig]}, nil
}

// Beads implements city.Control.
func (s *fakeCity) Beads(context.Context, beads.Query) ([]beads.Bead, error) { return nil, nil }

func (s *fakeCity) Bead(_ context.Context, id string) (beads.Bead, error) {
	return beads.Bead{}, city.WorkError(beads.NotFound(id))
}
