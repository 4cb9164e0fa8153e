package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/tui/widget"
)

// epoch is the current time on golden screens.
var epoch = time.Date(2026, 11, 21, 10, 42, 7, 0, time.UTC)

// fakeCity is a city for tests: commands change its snapshot, and terminals echo.
type fakeCity struct {
	asked   int // number of calls of Output
	mu      sync.Mutex
	snap    *city.Snapshot
	events  []events.Event
	earlier []events.Event // older events, which only History returns
	about   city.Inspection
	changed chan struct{}
	screens map[string][]byte
	ticker  func(agent string, n int) []byte // returns live output; nil = none
	done    []city.Command
	beads   []beads.Bead
	fail    map[string]string // why commands fail, by their target
}

func newFakeCity(now time.Time) *fakeCity {
	f := &fakeCity{changed: make(chan struct{}), screens: map[string][]byte{}}
	f.snap = demoSnapshot(now)
	f.events = demoEvents(now)
	f.snap.Seq = f.events[len(f.events)-1].Seq
	for name, text := range demoScreens() {
		f.screens[name] = []byte(text)
	}
	return f
}

func (f *fakeCity) change(edit func(*city.Snapshot)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := *f.snap
	next.Agents, next.Pools = slices.Clone(f.snap.Agents), slices.Clone(f.snap.Pools)
	next.Rev++
	edit(&next)
	f.snap = &next
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fakeCity) look() (*city.Snapshot, []events.Event, chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap, f.events, f.changed
}

func (f *fakeCity) Snapshot(context.Context) (*city.Snapshot, error) {
	s, _, _ := f.look()
	fresh := *s
	fresh.Patrol.Last = time.Now()
	return &fresh, nil
}

func (f *fakeCity) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for {
			s, _, changed := f.look()
			if !yield(s, nil) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

func (f *fakeCity) Output(_ context.Context, agent string, _ int) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asked++; agent == "late" && f.asked > 2 {
		return "late: written after the end\n", nil
	}
	if agent == "scout" {
		return "scout: looking for a map\nscout: no map, giving up\n", nil
	}
	return "", &city.Error{Code: city.NotFound, Message: "no output is kept"}
}

// History returns the events that Events yields, and earlier ones.
func (f *fakeCity) History(_ context.Context, q events.Query) ([]events.Event, error) {
	f.mu.Lock()
	all := append(slices.Clone(f.earlier), f.events...)
	f.mu.Unlock()
	var out []events.Event
	for i := range slices.Backward(all) {
		if q.Match(&all[i]) && len(out) < q.Limit {
			out = append(out, all[i])
		}
	}
	return out, nil
}

// Inspect returns the inspection that the test has set.
func (f *fakeCity) Inspect(_ context.Context, agent string) (*city.Inspection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why := f.fail[agent]; why != "" {
		return nil, &city.Error{Code: city.Unavailable, Message: why}
	}
	about := f.about
	about.Agent = agent
	return &about, nil
}

func (f *fakeCity) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for {
			_, es, changed := f.look()
			for _, e := range es {
				if e.Seq > after {
					after = e.Seq
					if !yield(e, nil) {
						return
					}
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

func (f *fakeCity) Watch(ctx context.Context, agent string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		f.mu.Lock()
		data, known := f.screens[agent]
		tick := f.ticker
		f.mu.Unlock()
		if !known {
			yield(city.Frame{}, &city.Error{Code: city.Unavailable, Message: agent + " has no session"})
			return
		}
		if !yield(city.Frame{Reset: true, Cols: 120, Rows: 40, Data: data}, nil) {
			return
		}
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for n := 0; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if tick != nil {
				if p := tick(agent, n); p != nil && !yield(city.Frame{Data: p}, nil) {
					return
				}
			}
		}
	}
}

func (f *fakeCity) Attach(_ context.Context, agent string, v city.Viewer) (city.Terminal, error) {
	if why := f.fail[agent]; why != "" {
		return nil, &city.Error{Code: city.Unavailable, Message: why}
	}
	t := &echo{}
	t.out, t.in = io.Pipe()
	t.greet = fmt.Sprintf("hello from %s at %dx%d\r\n\x1b[?1000h\x1b[?1049h\x1b[>1u\x1b[5;10r\x1b[31m"+
		"\x1b[?12h\x1b[?1007h\x1b%%@\x1b]8;;http://far/\x1b\\\x1b[?2l", agent, v.Cols, v.Rows)
	return t, nil
}

// echo is a terminal that echoes its input. It never turns off the modes that it has turned on.
type echo struct {
	greet string
	out   *io.PipeReader
	in    *io.PipeWriter
}

func (e *echo) Read(p []byte) (int, error) {
	if e.greet != "" {
		n := copy(p, e.greet)
		e.greet = e.greet[n:]
		return n, nil
	}
	return e.out.Read(p)
}

func (e *echo) Write(p []byte) (int, error) { return e.in.Write(append([]byte("echo:"), p...)) }

func (e *echo) Resize(cols, rows int) error {
	_, err := fmt.Fprintf(e.in, "size:%dx%d", cols, rows)
	return err
}

func (e *echo) Close() error { return e.in.Close() }

func (f *fakeCity) Do(_ context.Context, c city.Command) (city.Receipt, error) {
	if why := f.fail[c.Target()]; why == "panic" {
		panic("as asked")
	} else if why != "" {
		return city.Receipt{}, &city.Error{Code: city.Conflict, Message: why}
	}
	f.change(func(s *city.Snapshot) {
		f.done = append(f.done, c)
		for i := range s.Agents {
			if a := &s.Agents[i]; a.Name == c.Target() {
				apply(a, c)
			}
		}
		switch c := c.(type) {
		case city.Scale:
			p, _ := s.Pool(c.Pool)
			p.Override, p.Desired = &c.Size, c.Size
		case city.CreateBead:
			b := c.Bead
			b.ID, b.Status, b.CreatedAt = fmt.Sprint("gc-", 300+len(f.beads)), beads.StatusOpen, time.Now()
			f.beads = append([]beads.Bead{b}, f.beads...)
		case city.UpdateBead:
			f.beads = slices.Clone(f.beads)
			for i, b := range f.beads {
				if b.ID == c.ID {
					f.beads[i], _ = c.Patch.Apply(b, time.Now()) // tests send only valid patches
				}
			}
		}
		e := events.Event{Seq: s.Seq + 1, TS: s.At, Type: "agent." + c.Verb(), Actor: "operator", Subject: c.Target()}
		s.Seq++
		f.events = append(f.events[:len(f.events):len(f.events)], e)
	})
	r := city.Receipt{Message: c.Verb() + " " + c.Target() + ": done"}
	if n, ok := c.(city.Nudge); ok {
		first, _, _ := strings.Cut(n.Text, "\n")
		r.Send = &city.Send{ID: 1, Text: first, Lines: widget.LineCount(n.Text), Bytes: len(n.Text), Stage: city.Submitted}
	}
	return r, nil
}

func apply(a *city.Agent, c city.Command) {
	switch c.(type) {
	case city.Suspend, city.Stop:
		a.State, a.Reason, a.Running, a.Session, a.PID, a.Until = city.Suspended, "by the operator", false, nil, 0, nil
	case city.Resume, city.Release, city.Restart, city.Kill:
		a.State, a.Reason, a.Running, a.Until, a.PID = city.Running, "started by the operator", true, nil, 4711
		a.Session = &city.Session{Name: a.Name, ID: a.Name + "-2", Started: a.Since}
		a.Restarts++
	}
}

func demoSnapshot(now time.Time) *city.Snapshot {
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	until := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	s := &city.Snapshot{
		Name: "bright-lights", Path: "/srv/bright-lights", Host: "devbox", Version: "0.1", Rev: 7, At: now, Started: ago(3 * time.Hour),
		PID: 4001, Mode: "console", Config: city.ConfigInfo{Revision: "0a1b2c3d4e5f", Loaded: ago(time.Hour)},
		Patrol: city.Patrol{Interval: 30 * time.Second, Last: ago(200 * time.Millisecond)},
	}
	add := func(name string, state city.State, since time.Duration, reason, description string) *city.Agent {
		s.Agents = append(s.Agents, city.Agent{Name: name, State: state, Since: ago(since), Reason: reason, Description: description,
			Available: true, Declaration: city.Declaration{Source: fmt.Sprintf("city.toml:%d:1", 10+8*len(s.Agents)), Command: "./" + name + ".sh --forever", Dir: "/srv/bright-lights"}})
		a := &s.Agents[len(s.Agents)-1]
		if state == city.Running || state == city.Draining || state == city.Stopping || state == city.Starting {
			a.Running, a.PID = true, 4100+17*len(s.Agents)
			active := ago(4 * time.Second)
			n := len(s.Agents)
			a.Usage = &city.Usage{CPU: float64(n*n*7%130) / 10, RSS: int64(n*n*53%900+2) << 20, Procs: 1 + n%4}
			a.Session = &city.Session{Name: name, ID: name + "-1", Started: ago(since), LastActivity: &active}
		}
		return a
	}
	b := add("builder", city.Running, 22*time.Minute, "ready after 0.4s", "builds and tests the demo project")
	b.Restarts, b.Session.Viewers, b.Session.Attached = 2, 1, true
	b.Decisions = []city.Decision{{At: ago(22 * time.Minute), What: "start", Why: "died by exit 1 after 3m, first restart in a row"}}
	add("chatty", city.Running, 3*time.Hour+12*time.Minute, "ready at once", "a log that never ends")
	d := add("deployer", city.Draining, 48*time.Second, "told to finish before a restart", "")
	d.Until = until(72 * time.Second)
	e := add("flaky", city.Backoff, 5*time.Second, "exit 1", "")
	e.Until, e.Restarts, e.Crashes, e.Exit = until(8*time.Second), 3, 3, &city.Exit{Code: 1, At: ago(5 * time.Second), Uptime: 3 * time.Second}
	add("idle", city.Running, 50*time.Hour, "ready at once", "waits for work")
	add("monitor", city.Running, 41*time.Minute, "ready at once", "top, full screen").Drift = []string{"env PATH_HINT changed"}
	p := add("prober", city.Failed, 12*time.Second, `"./prober": no such file; is it built?`, "")
	p.Until = until(18 * time.Second)
	add("release-notes", city.Exited, 20*time.Minute, `exited 0 after 4.1s, restart = "on-failure"`, "")
	q := add("scout", city.Quarantined, 4*time.Minute, "crashed 6× in 4m, last: exit 3", "")
	q.Quarantine = &city.Quarantine{LastCrash: "exit 3", Span: 4 * time.Minute}
	q.Until, q.Restarts, q.Crashes, q.Exit = until(54*time.Minute+12*time.Second), 5, 6,
		&city.Exit{Code: 3, At: ago(4 * time.Minute), Uptime: 12 * time.Second, File: ".gc/crashes/scout/20261121T103807.120000000Z.ansi"}
	add("shop/reviewer", city.Starting, 3*time.Second, "waits for a line that starts with \"> \"", "").Until = until(57 * time.Second)
	add("shop/writer", city.Suspended, 48*time.Hour, "with rig shop", "").SuspendedBy = city.RigLevel
	add("zeta", city.Waiting, 3*time.Second, "waits for shop/reviewer", "")
	slices.SortFunc(s.Agents, func(a, b city.Agent) int { return cmpName(a.Name, b.Name) })
	return s
}

func cmpName(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func demoEvents(now time.Time) []events.Event {
	var es []events.Event
	add := func(ago time.Duration, kind, subject, message string) {
		es = append(es, events.Event{Seq: uint64(len(es) + 1), TS: now.Add(-ago), Type: kind, Actor: "controller", Subject: subject, Message: message})
	}
	add(26*time.Hour, events.ControllerStarted, "", "version 0.1, 12 agents")
	add(4*time.Hour, events.AgentStarted, "chatty", "pid 4117")
	for i := range 6 {
		at := time.Duration(480-40*i) * time.Second
		add(at, events.AgentCrashed, "scout", fmt.Sprintf("exit 3 after 12s, crash %d of 5", i+1))
		if i < 5 {
			add(at-time.Second, events.AgentStarted, "scout", fmt.Sprintf("pid %d", 5000+i))
		}
	}
	add(240*time.Second, events.AgentQuarantined, "scout", "crashed 6× in 4m, last: exit 3")
	add(200*time.Second, events.ConfigReloaded, "", "revision 0a1b2c3d4e5f: 1 agent changed (monitor)")
	add(48*time.Second, events.AgentDraining, "deployer", "told to finish before a restart")
	es[len(es)-1].Actor = "operator"
	es[len(es)-1].Payload = json.RawMessage(`{"grace":"2m0s","reason":"restart"}`)
	add(12*time.Second, events.AgentStartFailed, "prober", `"./prober": no such file; is it built?`)
	add(5*time.Second, events.AgentCrashed, "flaky", "exit 1 after 3s")
	add(3*time.Second, events.AgentStarted, "shop/reviewer", "pid 4287")
	return es
}

func demoScreens() map[string]string {
	build := ""
	for i := range 60 {
		build += fmt.Sprintf("\x1b[32mok\x1b[m   \x1b[1mpkg/module%02d\x1b[m\t%d.%03ds  \x1b[2m(cached)\x1b[m\r\n", i, i%3, i*37%1000)
	}
	build += "\x1b[31mFAIL\x1b[m pkg/backoff\t0.201s  --- TestJitter\r\n" +
		"\r\n\x1b[36m[###########---------]\x1b[m  55 %  \x1b[1mcompiling\x1b[m 世界 wide\r\n$ "
	return map[string]string{
		"builder":  build,
		"chatty":   "10:41:58 accepted 17 jobs\r\n10:42:01 queue is empty\r\n10:42:05 accepted 3 jobs\r\n",
		"idle":     "$ ",
		"monitor":  "\x1b[?1049h\x1b[H\x1b[7m  PID USER      %CPU COMMAND                    \x1b[m\r\n 4711 demo       3.1 builder\r\n 4712 demo       0.4 chatty\x1b[?25l",
		"deployer": "uploading 3 of 9 files \x1b[33m…\x1b[m\r\n",
	}
}
