package offline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/config/edit"
	"gcity/events"
	"gcity/pool"
	"gcity/session"
	"gcity/session/fake"
	"gcity/trust"
)

func besides(t *testing.T, alive ...string) (*City, *fake.Provider) {
	t.Helper()
	return configured(t, "", alive...)
}

func configured(t *testing.T, toml string, alive ...string) (*City, *fake.Provider) {
	t.Helper()
	dir := t.TempDir()
	toml = "[workspace]\nname = \"town\"\n" + toml
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := fake.New()
	for _, name := range alive {
		if _, err := p.Start(t.Context(), session.Spec{Name: name, Agent: name, City: dir, ID: "1"}); err != nil {
			t.Fatal(err)
		}
	}
	return &City{Dir: dir, now: func() time.Time { return noon }, config: c, Sessions: p, close: func() {}}, p
}

// Without a controller, a pool's size is the one that a user has set, or the number of running members.
func TestOfflinePools(t *testing.T) {
	const suspended = "suspended = true\n"
	for _, c := range []struct {
		name      string
		override  int
		alive     []string
		suspended string
		size      int
		desired   int
		reason    string
		shown     string
	}{
		{"fresh", 0, nil, "", 0, 1, "no controller is running, so the pool's check is not run", "w-1"},
		{"living", 0, []string{"w-2", "w-10", "gone"}, "", 1, 1, "no controller is running, so the pool's check is not run", "gone w-10 w-2"},
		{"set by hand", 3, []string{"w-2", "w-10", "gone"}, "", 1, 3, "set by hand; no controller is running", "gone w-1 w-10 w-2 w-3"},
		{"set above the maximum", 99, nil, "", 0, 12, "set by hand; no controller is running",
			"w-1 w-10 w-11 w-12 w-2 w-3 w-4 w-5 w-6 w-7 w-8 w-9"},
		{"no check", 0, nil, "", 0, 1, "no controller is running to start members for open work", "w-1"},
		{"suspended", 0, nil, suspended, 0, 1, "no controller is running, so the pool's check is not run", "w-1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := "check = \"echo 3\"\n"
			if c.name == "no check" {
				check = ""
			}
			b, p := configured(t, "[[agents]]\nname = \"w\"\nstart_command = \"exec cat\"\n"+c.suspended+
				"[agents.pool]\nmin = 1\nmax = 12\n"+check+"drain_timeout = \"1m\"\n", c.alive...)
			b.now = time.Now
			since := time.Unix(time.Now().Unix()-10, 0)
			if len(c.alive) > 0 {
				if err := session.SetDrain(t.Context(), p, "w-10", session.Drain{Since: since, By: "pool", Acked: true}); err != nil {
					t.Fatal(err)
				}
			}
			if c.override > 0 {
				if err := edit.SetOverride(b.Dir, "w", &c.override); err != nil {
					t.Fatal(err)
				}
			}
			s, err := b.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := s.Pools[0]
			if got.Size != c.size || got.Desired != c.desired || got.Reason != c.reason || got.Timeout != time.Minute || got.Suspended != (c.suspended != "") {
				t.Errorf("%+v", got)
			}
			var shown []string
			for _, g := range s.Agents {
				shown = append(shown, g.Name)
				if g.Name != "w-10" || c.alive == nil {
					continue
				}
				if g.State != city.Draining || g.Drain == nil || !g.Drain.Acked || g.Drain.Deadline.Sub(g.Since) != time.Minute ||
					!strings.Contains(g.Reason, "asked by pool to finish, reported done") || len(got.Draining) != 1 {
					t.Errorf("draining: %+v, %+v", g, g.Drain)
				}
			}
			if text := strings.Join(shown, " "); text != c.shown {
				t.Errorf("shown: got %s, want %s", text, c.shown)
			}
		})
	}
}

// A drain is stored in the session's marks, where the next controller finds it.
func TestOfflineDrain(t *testing.T) {
	b, p := besides(t, "a")
	do := func(c city.Command, code city.Code, says string) {
		t.Helper()
		r, err := b.Do(t.Context(), c)
		var problem *city.Error
		if code != "" && (!errors.As(err, &problem) || problem.Code != code || !strings.Contains(problem.Message, says)) ||
			code == "" && (err != nil || !strings.Contains(r.Message, says)) {
			t.Errorf("%s: got %+v, %v; want %s %q", c.Verb(), r, err, code, says)
		}
	}
	marks := func(want session.Drain) {
		t.Helper()
		got, err := b.Session(t.Context(), "a")
		if diff := cmp.Diff(want, got.Drain); diff != "" || err != nil {
			t.Errorf("marks: %v %s", err, diff)
		}
	}
	since := time.Unix(noon.Unix(), 0)
	do(city.DrainAck{Agent: "a"}, city.Conflict, "is not draining")
	do(city.Undrain{Agent: "a"}, "", "is not draining")
	do(city.Drain{Agent: "a"}, "", "has been asked to finish")
	marks(session.Drain{Since: since, By: "operator"})
	do(city.Drain{Agent: "a"}, "", "already")
	do(city.DrainAck{Agent: "a"}, "", "has reported done")
	marks(session.Drain{Since: since, By: "operator", Acked: true})
	do(city.Undrain{Agent: "a"}, "", "is no longer draining")
	marks(session.Drain{})
	if err := session.SetDrain(t.Context(), p, "a", session.Drain{Since: since, By: "pool"}); err != nil {
		t.Fatal(err)
	}
	do(city.Undrain{Agent: "a"}, city.Conflict, "use `gcity pool scale`")
	marks(session.Drain{Since: since, By: "pool"})
	for _, nonsense := range []string{"soon", "-1", "0", "1e9", "99999999999999999999"} {
		if err := p.SetMeta(t.Context(), "a", session.DrainMark, nonsense); err != nil {
			t.Fatal(err)
		}
		marks(session.Drain{})
	}
	if _, err := b.Do(t.Context(), city.Drain{Agent: "b"}); err == nil {
		t.Error("Drain succeeded for an agent without a session")
	}
	log, err := b.History(t.Context(), events.Query{Subject: "a", Forward: true})
	if err != nil || len(log) != 3 || log[0].Type != events.AgentDraining || log[1].Actor != "a" || log[2].Type != events.AgentUndrained {
		t.Errorf("recorded: %+v, %v", log, err)
	}
}

// The event log contains the time at which an agent stopped. Without a controller's events, that time is unknown.
func TestOfflineSince(t *testing.T) {
	b, _ := configured(t, "[[agents]]\nname = \"a\"\nstart_command = \"true\"\n[[agents]]\nname = \"b\"\nstart_command = \"true\"\n")
	type shown struct {
		a, b time.Time
		seq  uint64
	}
	show := func() shown {
		t.Helper()
		s, err := b.Snapshot(t.Context())
		if err != nil || len(s.Agents) != 2 {
			t.Fatalf("%+v, %v", s, err)
		}
		return shown{s.Agents[0].Since, s.Agents[1].Since, s.Seq}
	}
	if got := show().a; !got.IsZero() {
		t.Errorf("a city that never ran: got since %v, want an unknown time", got)
	}
	at := map[uint64]time.Time{}
	write := func(kind, actor, subject string) uint64 {
		seq, err := folder.AppendEvent(b.Dir, events.Event{Type: kind, Actor: actor, Subject: subject})
		if err != nil {
			t.Fatal(err)
		}
		found, err := b.History(t.Context(), events.Query{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		at[seq] = found[0].TS
		return seq
	}
	write("note.made", "operator", "")
	if p := show(); !p.a.IsZero() || p.seq != 1 {
		t.Errorf("no controller ever ran: %+v, want an unknown time", p)
	}
	write(events.ControllerStarted, "controller", "")
	write(events.AgentStopped, "controller", "a")
	end := write(events.AgentStopped, "controller", "a")
	killed := write(events.AgentStarted, "controller", "c")
	note := write("note.made", "operator", "")
	p := show()
	if !p.a.Equal(at[end]) || !p.b.Equal(at[killed]) || p.seq != note {
		t.Errorf("after a kill: got %+v, want a at %v, others at %v", p, at[end], at[killed])
	}
	stopped := write(events.ControllerStopped, "controller", "")
	write("note.made", "operator", "")
	if p := show(); !p.b.Equal(at[stopped]) {
		t.Errorf("after a stop: got %v, want %v", p.b, at[stopped])
	}
}

// A city without a controller sends a new snapshot only if something other than the time has changed.
func TestOfflineSnapshots(t *testing.T) {
	t.Parallel()
	b, _ := configured(t, "[[agents]]\nname = \"a\"\nstart_command = \"true\"\n")
	note := func() {
		if _, err := folder.AppendEvent(b.Dir, events.Event{Type: "note.made", Actor: "operator"}); err != nil {
			t.Error(err)
		}
	}
	note()
	calls := 0
	b.now = func() time.Time { calls++; return noon.Add(time.Duration(calls) * time.Second) }
	if _, err := b.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	each := calls
	b.now = func() time.Time {
		if calls++; calls == 4*each {
			note()
		}
		return noon.Add(time.Duration(calls) * time.Second)
	}
	var seqs []uint64
	for s, err := range b.Snapshots(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if seqs = append(seqs, s.Seq); s.Seq > 1 {
			break
		}
	}
	if len(seqs) != 2 {
		t.Errorf("snapshots with the events %v, want one before and one after the change", seqs)
	}
}

func TestOfflineLastOutput(t *testing.T) {
	b, _ := besides(t)
	if text, err := b.Output(t.Context(), "rig/a", 5); err == nil || text != "" {
		t.Errorf("output without stored lines: got %q, %v", text, err)
	}
	dir := filepath.Join(b.Dir, ".gc", "crashes", session.Encode("rig/a"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"20261121T100000.ansi": "older\r\n", "20261121T110000.ansi": "\x1b[31mfare\x1b[0mwell\r\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := b.Output(t.Context(), "rig/a", 5); err != nil || strings.TrimSpace(text) != "farewell" {
		t.Errorf("output after the exit: got %q, %v", text, err)
	}
	for _, c := range []struct {
		event string
		shown bool
	}{{events.AgentStarted, false}, {events.AgentCrashed, true}, {events.AgentSuspended, true}, {events.AgentStopped, false}} {
		e := events.Event{Type: c.event, Actor: "controller", Subject: "rig/a"}
		if _, err := folder.AppendEvent(b.Dir, e); err != nil {
			t.Fatal(err)
		}
		if text, _ := b.Output(t.Context(), "rig/a", 5); (text != "") != c.shown {
			t.Errorf("after %s: got %q", c.event, text)
		}
	}
}

// Suspending stops one agent, a pool's members or a rig's agents. One member of a larger pool cannot be suspended.
func TestOwnerOfTheFlag(t *testing.T) {
	wants := []agent.Want{{Name: "a"}, {Name: "b"}, {Name: "one", Pool: "one", Index: 1}, {Name: "w-1", Pool: "w", Index: 1}, {Name: "w-2", Pool: "w", Index: 2}}
	for name, ends := range map[string]string{"": "a b one w-1 w-2", "a": "a", "one": "one", "w": "w-1 w-2", "stranger": ""} {
		f, err := findSuspendable(name, wants)
		var got []string
		for _, w := range wants {
			if f.Includes(w.Name) {
				got = append(got, w.Name)
			}
		}
		if strings.Join(got, " ") != ends || err != nil || f.target != (config.Target{Agent: name}) {
			t.Errorf("%q: got ends %v, %+v, %v", name, got, f.target, err)
		}
	}
	if _, err := findSuspendable("w-2", wants); err == nil || !strings.Contains(err.Error(), "gcity pool scale w") {
		t.Errorf("one member of a pool: got %v", err)
	}
	if f := SuspendableRig("demo"); !f.Includes("demo/a") || f.Includes("demo") || f.Includes("demolition/a") || f.target != (config.Target{Rig: "demo"}) {
		t.Errorf("a rig: %+v", f)
	}
}

// A size that a user sets must be within the pool's limits, and is stored for the next controller.
func TestOfflineScale(t *testing.T) {
	b, _ := besides(t)
	pools := []agent.Pool{{Spec: pool.Spec{Name: "w", Min: 1, Max: 5}, Source: "city.toml:4:1"}, {Spec: pool.Spec{Name: "off"}, Source: "city.toml:9:1"}}
	for _, c := range []struct {
		command city.Scale
		says    string
		refused city.Code
		kept    map[string]int
	}{
		{city.Scale{Pool: "w", Size: 3}, "until you run `gcity pool scale w auto`", "", map[string]int{"w": 3}},
		{city.Scale{Pool: "w", Size: 6}, "the pool's limits are 1 to 5 (city.toml:4:1)", city.Invalid, map[string]int{"w": 3}},
		{city.Scale{Pool: "w", Size: 0}, "the pool's limits are 1 to 5 (city.toml:4:1)", city.Invalid, map[string]int{"w": 3}},
		{city.Scale{Pool: "off", Size: 1}, "the pool is off", city.Invalid, map[string]int{"w": 3}},
		{city.Scale{Pool: "x", Size: 1}, `pool "x" not found`, city.NotFound, map[string]int{"w": 3}},
		{city.Scale{Pool: "w", Auto: true}, "will have an automatic size again", "", nil},
		{city.Scale{Pool: "w", Auto: true}, "no size is set for pool w", "", nil},
	} {
		r, err := b.scale(t.Context(), c.command, pools)
		var problem *city.Error
		if errors.As(err, &problem); problem != nil {
			r.Message = problem.Message
			if problem.Code != c.refused {
				t.Errorf("%+v: code %s", c.command, problem.Code)
			}
		}
		kept, keptErr := edit.Overrides(b.Dir)
		if (err != nil) != (c.refused != "") || !strings.Contains(r.Message, c.says) || !cmp.Equal(kept, c.kept) || keptErr != nil {
			t.Errorf("%+v: got %q, %v; stored %v, %v", c.command, r.Message, err, kept, keptErr)
		}
	}
}

type stops struct {
	*fake.Provider
	forced []bool
}

func (p *stops) Stop(ctx context.Context, name string, grace time.Duration) error {
	p.forced = append(p.forced, session.Forced(ctx))
	return p.Provider.Stop(ctx, name, grace)
}

func TestOfflineForcedKill(t *testing.T) {
	b, p := besides(t, "a", "b")
	seen := &stops{Provider: p}
	b.Sessions = seen
	for _, c := range []city.Command{city.Kill{Agent: "a"}, city.Kill{Agent: "b", Force: true}} {
		if _, err := b.Do(t.Context(), c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if !cmp.Equal(seen.forced, []bool{false, true}) {
		t.Errorf("forced: %v", seen.forced)
	}
}

// half is a provider that combines several providers. The one for tmux does not respond.
type half struct{ *fake.Provider }

func (h half) List(ctx context.Context) ([]session.Status, error) {
	all, err := h.Provider.List(ctx)
	return all, errors.Join(err, &session.PartialError{Unknown: map[string]error{"tmux": errors.New("no server answers")}})
}

// If one of several providers does not respond, the sessions of the others are still shown and stopped.
func TestOfflineWithPartOfTheSessions(t *testing.T) {
	b, p := besides(t, "a")
	b.Sessions = half{p}
	s, err := b.Snapshot(t.Context())
	if err != nil || len(s.Agents) != 1 || !s.Agents[0].Running || !strings.Contains(strings.Join(s.Degraded, "\n"), "tmux: no server answers") {
		t.Fatalf("%+v, %v", s, err)
	}
	if st, err := b.Session(t.Context(), "a"); err != nil || !st.Alive {
		t.Errorf("session of the provider that responds: got %+v, %v", st, err)
	}
	if _, err := b.Session(t.Context(), "other"); err == nil || !strings.Contains(err.Error(), "tmux: no server answers") {
		t.Errorf("session of the provider that does not respond: got %v", err)
	}
	n, err := b.End(t.Context(), everyone)
	if n != 1 || err == nil || !strings.Contains(err.Error(), "tmux: no server answers") {
		t.Errorf("%d ended, %v", n, err)
	}
	if all, _ := p.List(t.Context()); all[0].Alive {
		t.Error("it lives")
	}
}

// Without a controller, a bead is still created in the store of the given rig.
func TestOfflineWorkGoesToItsStore(t *testing.T) {
	b, _ := besides(t)
	for _, rig := range []string{"", "demo"} {
		p := workstore.Place{Rig: rig, Dir: t.TempDir(), Prefix: "t" + rig, City: b.Dir, By: city.WorkStore{}}
		s, err := workstore.OpenStore(p)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		b.stores = append(b.stores, &depot.Store{Store: s, Place: p, City: b.Dir})
	}
	r, err := b.Do(t.Context(), city.CreateBead{Rig: "demo", Bead: beads.Bead{Title: "x"}})
	if err != nil || !strings.HasPrefix(r.Bead.ID, "tdemo-") {
		t.Errorf("%+v, %v", r, err)
	}
	var refusal *city.Error
	if _, err := b.Do(t.Context(), city.CreateBead{Rig: "nowhere", Bead: beads.Bead{Title: "x"}}); !errors.As(err, &refusal) || refusal.Code != city.NotFound {
		t.Errorf("%v", err)
	}
}

type failingList struct{ workstore.Store }

func (failingList) List(context.Context, beads.Query) ([]beads.Bead, error) {
	return nil, errors.New("out of order")
}

// Closing a bead succeeds even if its convoy cannot be closed.
func TestAConvoyThatCannotBeClosed(t *testing.T) {
	b, _ := besides(t)
	p := workstore.Place{Dir: t.TempDir(), Prefix: "t", City: b.Dir}
	s, err := workstore.OpenStore(p)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b.stores = []*depot.Store{{Store: failingList{s}, Place: p, City: b.Dir}}
	convoy, err := s.Create(t.Context(), beads.Bead{Title: "all", Type: city.ConvoyType})
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Create(t.Context(), beads.Bead{Title: "last", ParentID: convoy.ID})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Do(t.Context(), city.UpdateBead{ID: last.ID, Patch: beads.Closing()})
	if err != nil || r.Bead == nil || r.Bead.Status != beads.StatusClosed {
		t.Errorf("%+v, %v", r, err)
	}
}

// The city's work is counted even if a rig has no folder.
func TestOfflineCountsWithoutARig(t *testing.T) {
	b, _ := configured(t, "[[rigs]]\nname = \"gone\"\npath = \"gone\"\n")
	s, err := workstore.OpenStore(workstore.Place{Dir: t.TempDir(), Prefix: "t", City: b.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), beads.Bead{Title: "one"}); err != nil {
		t.Fatal(err)
	}
	b.stores = []*depot.Store{{Store: s, City: b.Dir}}
	snap, err := b.Snapshot(t.Context())
	if err != nil || snap.Work.Open != 1 || len(snap.Rigs) != 1 || len(snap.Degraded) != 0 {
		t.Errorf("%+v, %v", snap, err)
	}
	b.stores = append(b.stores, &depot.Store{Store: failingList{s}, Place: workstore.Place{Rig: "gone"}, City: b.Dir})
	b.config.Rigs[0].Problem = ""
	if snap, err = b.Snapshot(t.Context()); err != nil || snap.Work.Open == 0 {
		t.Errorf("with a store that fails: got %+v, %v", snap.Work, err)
	}
}

// Without a controller, events about changed work never name the controller as their actor.
func TestOfflineConvoyEvent(t *testing.T) {
	b, _ := besides(t)
	s, err := workstore.OpenStore(workstore.Place{Dir: t.TempDir(), Prefix: "t", City: b.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b.stores = []*depot.Store{{Store: s, City: b.Dir}}
	convoy, err := s.Create(t.Context(), beads.Bead{Title: "all", Type: city.ConvoyType})
	if err != nil {
		t.Fatal(err)
	}
	last, err := s.Create(t.Context(), beads.Bead{Title: "last", ParentID: convoy.ID})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Do(t.Context(), city.UpdateBead{ID: last.ID, Patch: beads.Closing()}); err != nil {
		t.Fatal(err)
	}
	log, err := b.History(t.Context(), events.Query{Types: []string{events.BeadClosed}})
	if err != nil || len(log) != 2 || log[0].Subject != convoy.ID || log[0].Actor != "operator" {
		t.Errorf("%+v, %v", log, err)
	}
}

// Work that does not exist is reported as not found, even if a rig has no store.
func TestOfflineSlingWithoutARig(t *testing.T) {
	b, _ := configured(t, "[[agents]]\nname = \"a\"\nstart_command = \"true\"\n"+
		"[[rigs]]\nname = \"gone\"\npath = \"gone\"\n")
	s, err := workstore.OpenStore(workstore.Place{Dir: t.TempDir(), Prefix: "t", City: b.Dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b.stores, b.grant = []*depot.Store{{Store: s, City: b.Dir}}, trust.Running(nil)
	sling := city.SlingWork{SlingRequest: city.SlingRequest{Target: "a", Bead: "t-1"}}
	_, err = b.Do(t.Context(), sling)
	if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.NotFound {
		t.Errorf("got %v, want not found", err)
	}
}
