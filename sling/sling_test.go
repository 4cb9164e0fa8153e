package sling

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/formula"
)

const slingCity = `[workspace]
name = "town"
[[agents]]
name = "ann"
[[agents]]
name = "cook"
default_sling_formula = "polish"
[[agents]]
name = "odd"
sling_query = "echo {} $GC_PACK_DIR >> given; test ! -e full || { echo 'the hook is full'; exit 3; }"
[[rigs]]
name = "yard"
path = "yard"
default_sling_target = "crew"
[[rigs]]
name = "bare"
path = "bare"
[[rigs]]
name = "lost"
path = "lost"
default_sling_target = "crew"
[[agents]]
name = "crew"
dir = "yard"
[agents.pool]
max = 2
`

func slinger(t *testing.T) (*Slinger, map[string]*fake.Store) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, rig := range []string{"yard", "bare", "lost"} {
		if err := os.Mkdir(filepath.Join(dir, rig), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(slingCity), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.Rig("lost").DefaultSlingTarget = "cruw" // Load would refuse this
	stores := map[string]*fake.Store{"": fake.New("tw"), "yard": fake.New("ya"), "bare": fake.New("ba"), "lost": fake.New("lo")}
	return &Slinger{
		Config: c, Host: agent.Host{Environ: os.Environ()}, Scopes: []string{"", "bare", "lost", "yard"},
		City: &city.Snapshot{
			Agents: []city.Agent{
				{Name: "ann", State: city.Suspended, Reason: "in city.toml"}, {Name: "cook", State: city.Running}, {Name: "odd", State: city.Running},
				{Name: "yard/crew-1", Rig: "yard", Pool: "yard/crew", State: city.Running},
			},
			Pools: []city.Pool{{Name: "yard/crew", Rig: "yard", Max: 2}},
			Rigs:  []city.Rig{{Name: "bare"}, {Name: "lost"}, {Name: "yard"}},
		},
		Store: func(rig string) (beads.Store, error) { return stores[rig], nil },
		FindFormula: func(name, _ string) (*formula.Formula, error) {
			if name != "polish" {
				return nil, fmt.Errorf("no such formula %q", name)
			}
			return &formula.Formula{Name: name, Description: "polish {{bead}}", Vars: []formula.Var{{Name: "bead"}, {Name: "how"}},
				Steps: []formula.Step{{ID: "wax", Title: "wax {{title}} {{how}}"}}}, nil
		},
	}, stores
}

func put(t *testing.T, s *fake.Store, b beads.Bead) beads.Bead {
	t.Helper()
	b, err := s.Create(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func kinds(all []events.Event) (out []string) {
	for _, e := range all {
		out = append(out, e.Type+" "+e.Subject)
	}
	return out
}

// If the formula of new work cannot be cooked, no bead is created. A retry would create it twice.
func TestSlingOfNewWorkIsAtomic(t *testing.T) {
	s, stores := slinger(t)
	cooked := s.FindFormula
	for _, recipe := range []func(name, rig string) (*formula.Formula, error){
		func(string, string) (*formula.Formula, error) { return nil, errors.New("no such formula") },
		func(name, rig string) (*formula.Formula, error) {
			f, err := cooked(name, rig)
			f.Vars = append(f.Vars, formula.Var{Name: "much", Required: true})
			return f, err
		},
	} {
		s.FindFormula = recipe
		if _, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Title: "the pots"}); err == nil {
			t.Error("the work was assigned")
		}
		if all, err := stores[""].List(t.Context(), beads.Query{}); err != nil || len(all) > 0 {
			t.Errorf("bead %v remains, %v", all, err)
		}
	}
}

// The target is an agent, a pool or a rig, or depends on the bead's rig. The message says why the target cannot start
// the work now.
func TestSlingTarget(t *testing.T) {
	s, stores := slinger(t)
	own := put(t, stores[""], beads.Bead{Title: "own"})
	yard := put(t, stores["yard"], beads.Bead{Title: "yard"})
	bare := put(t, stores["bare"], beads.Bead{Title: "bare"})
	for _, c := range []struct {
		target, bead, want string
		code               city.Code
	}{
		{"crew", yard.ID, "handed ya-1 to yard/crew", ""},
		{"yard", yard.ID, "ya-1 is already assigned to yard/crew", ""},
		{"", yard.ID, "ya-1 is already assigned to yard/crew", ""},
		{"crew-2", yard.ID, "handed ya-1 to yard/crew-2; this pool member is not running", city.NotFound},
		{"yard/crew-2", yard.ID, "handed ya-1 to yard/crew-2; this pool member is not running", ""},
		{"ann", own.ID, "handed tw-1 to ann; the agent is suspended (in city.toml)", ""},
		{"", own.ID, "no target: tw-1 belongs to the city", city.Invalid},
		{"", bare.ID, "rig bare has no default target for work", city.Conflict},
		{"lost", own.ID, `agent or pool "cruw" not found; did you mean`, city.Conflict},
		{"croo", own.ID, `agent, pool or rig "croo" not found`, city.NotFound},
		{"ann", "tw-99", `bead "tw-99" not found`, city.NotFound},
		{"crw", "tw-99", "agent, pool or rig \"crw\" not found; did you mean \"crew\"? Run `gcity status` to see all; and bead \"tw-99\" not found", city.NotFound},
	} {
		out, err := s.Sling(t.Context(), city.SlingRequest{Target: c.target, Bead: c.bead})
		got := out.Message
		var e *city.Error
		if errors.As(err, &e) {
			got = e.Message
		}
		if c.code == city.NotFound && c.target == "crew-2" { // a member that is not running needs its full name
			if e == nil || e.Code != c.code {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if (e == nil) != (c.code == "") || e != nil && e.Code != c.code || !strings.Contains(got, c.want) {
			t.Errorf("%s to %q: got %q, %v; want %q", c.bead, c.target, got, err, c.want)
		}
	}
}

// Work for the only member of a pool is assigned to the pool, because the member runs only while the pool has work.
func TestSlingToAPoolOfOne(t *testing.T) {
	s, stores := slinger(t)
	s.City.Pools = append(s.City.Pools, city.Pool{Name: "yard/solo", Rig: "yard", Max: 1})
	for _, there := range []bool{false, true} {
		if there {
			s.City.Agents = append(s.City.Agents, city.Agent{Name: "yard/solo", Rig: "yard", Pool: "yard/solo", State: city.Running})
		}
		b := put(t, stores["yard"], beads.Bead{Title: "alone"})
		if _, err := s.Sling(t.Context(), city.SlingRequest{Target: "solo", Bead: b.ID}); err != nil {
			t.Fatal(err)
		}
		if got, err := stores["yard"].Get(t.Context(), b.ID); err != nil || got.Assignee != "" || !slices.Contains(got.Labels, "pool:yard/solo") {
			t.Errorf("with the member present %v: got %+v, %v", there, got, err)
		}
	}
}

// Work in progress is reopened for a new assignee or a pool, but not for the agent that works on it.
func TestSlingReopens(t *testing.T) {
	s, stores := slinger(t)
	for _, c := range []struct {
		by, target string
		want       beads.Status
	}{
		{"", "crew", beads.StatusOpen}, {"bob", "crew", beads.StatusOpen}, {"", "yard/crew-2", beads.StatusOpen},
		{"bob", "yard/crew-2", beads.StatusOpen}, {"yard/crew-2", "yard/crew-2", beads.StatusInProgress},
	} {
		b := put(t, stores["yard"], beads.Bead{Title: "begun", Assignee: c.by, Status: beads.StatusInProgress})
		out, err := s.Sling(t.Context(), city.SlingRequest{Target: c.target, Bead: b.ID, Force: true})
		if err != nil || out.Bead.Status != c.want {
			t.Errorf("%+v: got %+v, %v", c, out.Bead, err)
		}
	}
}

// For an agent with a default formula, each piece of work gets exactly one molecule as a child.
func TestSlingFormula(t *testing.T) {
	s, stores := slinger(t)
	b := put(t, stores[""], beads.Bead{Title: "shoe"})
	out, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Bead: b.ID, Vars: map[string]string{"how": "well"}})
	if err != nil || out.Bead.Assignee != "cook" || out.Bead.Metadata[city.MoleculeKey] != "tw-2" {
		t.Fatalf("%+v, %v", out.Bead, err)
	}
	if want := []string{"bead.created tw-2", "bead.updated tw-1"}; !slices.Equal(kinds(out.Events), want) {
		t.Errorf("%q, want %q", kinds(out.Events), want)
	}
	all, err := stores[""].List(t.Context(), beads.Query{})
	if err != nil || len(all) != 3 || all[0].Title != "wax {{title}} well" || all[1].ParentID != b.ID || all[1].Description != "polish tw-1" || all[1].Assignee != "" ||
		!slices.Equal(all[1].Labels, []string{city.WispLabel}) {
		t.Errorf("%+v, %v", all, err)
	}
	for _, vars := range []map[string]string{nil, {"how": "well"}} {
		if out, err = s.Sling(t.Context(), city.SlingRequest{Target: "cook", Bead: b.ID, Vars: vars}); err != nil || len(out.Events) > 0 {
			t.Errorf("a second time: got %+v, %v", out, err)
		}
	}
	raw, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Title: "raw", NoFormula: true})
	if err != nil || raw.Bead.Metadata[city.MoleculeKey] != "" {
		t.Errorf("%+v, %v", raw, err)
	}
	fresh, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Title: "boot"})
	if err != nil || fresh.Bead.Title != "boot" || fresh.Bead.Metadata[city.MoleculeKey] == "" || fresh.Bead.Assignee != "cook" {
		t.Errorf("%+v, %v", fresh, err)
	}
	whole, err := s.Sling(t.Context(), city.SlingRequest{Target: "crew", Formula: "polish", Title: "all of it", By: "ann", Depth: 2})
	if err != nil || whole.Bead.ID != "ya-1" || whole.Bead.Title != "all of it" || !slices.Contains(whole.Bead.Labels, "pool:yard/crew") {
		t.Errorf("%+v, %v", whole, err)
	}
	if len(whole.Events) != 1 || whole.Events[0].Actor != "ann" || !strings.Contains(string(whole.Events[0].Payload), `"depth":2`) ||
		!strings.Contains(string(whole.Events[0].Payload), `"rig":"yard"`) {
		t.Errorf("%+v", whole.Events)
	}
	before := len(all)
	if _, err := s.Sling(t.Context(), city.SlingRequest{Target: "ann", Formula: "polich"}); err == nil || !strings.Contains(err.Error(), "polich") {
		t.Errorf("%v", err)
	}
	if n, err := stores[""].Count(t.Context(), beads.Query{Type: beads.TypeMolecule}); err != nil || n != 2 || before != 3 {
		t.Errorf("%d molecules, %v", n, err)
	}
}

// A sling_query replaces the assignee and the label. If it fails, nothing has been assigned.
func TestSlingQuery(t *testing.T) {
	s, stores := slinger(t)
	b := put(t, stores[""], beads.Bead{Title: "x"})
	out, err := s.Sling(t.Context(), city.SlingRequest{Target: "odd", Bead: b.ID})
	if err != nil || out.Bead.Assignee != "" || out.Message != "handed tw-1 to odd" {
		t.Fatalf("%+v, %v", out, err)
	}
	given, err := os.ReadFile(filepath.Join(s.Config.Path, "given"))
	if err != nil || string(given) != "tw-1 "+s.Config.Path+"\n" {
		t.Errorf("%q, %v", given, err)
	}
	if err := os.WriteFile(filepath.Join(s.Config.Path, "full"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = s.Sling(t.Context(), city.SlingRequest{Target: "odd", Bead: b.ID})
	if err == nil || !strings.Contains(err.Error(), "city.toml:10:15: agents.sling_query failed to assign tw-1 to odd: exit 3: the hook is full") {
		t.Error(err)
	}
}

type hastyPool struct{ *fake.Store }

// Create claims the new bead at once if a pool member may.
func (h hastyPool) Create(ctx context.Context, b beads.Bead) (beads.Bead, error) {
	made, err := h.Store.Create(ctx, b)
	if err == nil && made.Assignee == "" && slices.Contains(made.Labels, city.PoolLabel+"yard/crew") {
		_, err = h.Update(ctx, made.ID, beads.Patch{Assignee: new("yard/crew-1")})
	}
	return made, err
}

// A pool's member cannot claim new work before its molecule exists.
func TestSlingToAPoolWithADefaultFormula(t *testing.T) {
	s, stores := slinger(t)
	s.declared("yard/crew").DefaultSlingFormula = "polish"
	s.Store = func(rig string) (beads.Store, error) { return hastyPool{stores[rig]}, nil }
	out, err := s.Sling(t.Context(), city.SlingRequest{Target: "yard/crew", Title: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := stores["yard"].Get(t.Context(), out.Bead.ID)
	if err != nil || b.Title != "boot" || b.Metadata[city.MoleculeKey] == "" || !slices.Equal(b.Labels, []string{city.PoolLabel + "yard/crew"}) {
		t.Errorf("%+v, %v", b, err)
	}
}

// If work cannot be assigned, the beads that were created for it are closed. A retry does not create duplicates.
func TestSlingUndoes(t *testing.T) {
	s, stores := slinger(t)
	if err := os.WriteFile(filepath.Join(s.Config.Path, "full"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b := put(t, stores[""], beads.Bead{Title: "shoe"})
	for _, c := range []struct {
		req  city.SlingRequest
		want string
	}{
		{city.SlingRequest{Target: "odd", Bead: b.ID, Formula: "polish"}, "tw-2"},
		{city.SlingRequest{Target: "odd", Title: "boot"}, "tw-4"},
		{city.SlingRequest{Target: "odd", Formula: "polish", Title: "hat"}, "tw-5"},
		{city.SlingRequest{Target: "odd", Bead: b.ID, Formula: "polish"}, "tw-7"},
	} {
		out, err := s.Sling(t.Context(), c.req)
		want := "exit 3: the hook is full; the beads created for this request were closed: " + c.want
		if e, ok := errors.AsType[*city.Error](err); !ok || e.Code != city.Unavailable || !strings.HasSuffix(e.Message, want) {
			t.Errorf("%+v: %v", c.req, err)
		}
		if last := out.Events[len(out.Events)-1]; last.Type != events.BeadClosed && last.Subject != b.ID {
			t.Errorf("%+v: %q", c.req, kinds(out.Events))
		}
	}
	was, err := stores[""].Update(t.Context(), b.ID, beads.Patch{})
	if err != nil || was.Metadata[city.MoleculeKey] != "" {
		t.Errorf("%+v, %v", was, err)
	}
	if _, err := stores[""].Update(t.Context(), b.ID, beads.Patch{SetMetadata: map[string]string{city.MoleculeKey: "tw-0"}}); err != nil {
		t.Fatal(err)
	}
	_, _ = s.Sling(t.Context(), city.SlingRequest{Target: "odd", Bead: b.ID, Formula: "polish"}) // fails as before
	if got, err := stores[""].Get(t.Context(), b.ID); err != nil || got.Metadata[city.MoleculeKey] != "tw-0" {
		t.Errorf("molecule of the bead: got %+v, %v", got, err)
	}
	open, err := stores[""].List(t.Context(), beads.Query{Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}})
	if err != nil || len(open) != 1 || open[0].ID != b.ID || open[0].Assignee != "" {
		t.Errorf("%+v, %v", open, err)
	}
	closed, err := stores[""].List(t.Context(), beads.Query{Status: []beads.Status{beads.StatusClosed}, Type: beads.TypeMolecule})
	if err != nil || len(closed) != 4 || closed[0].Metadata[beads.CloseReason] != "closed because it could not be assigned" {
		t.Errorf("%+v, %v", closed, err)
	}
}

// If a sling_query fails after the work was assigned, the created beads stay open, and the error says so.
func TestSlingLeavesAssignedWork(t *testing.T) {
	begun := beads.Patch{Status: new(beads.StatusInProgress)}
	for _, c := range []struct {
		what, id string
		deed     beads.Patch
		left     bool
	}{
		{"the bead was assigned", "tw-1", beads.Patch{Assignee: new("odd")}, true}, {"the bead is in progress", "tw-1", begun, true},
		{"the molecule was assigned", "tw-2", beads.Patch{Assignee: new("odd")}, true}, {"a step is in progress", "tw-3", begun, true},
		{"only a note was added", "tw-2", beads.Patch{SetMetadata: map[string]string{"note": "x"}}, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			s, stores := slinger(t)
			for _, pipe := range []string{"given", "done"} {
				if err := syscall.Mkfifo(filepath.Join(s.Config.Path, pipe), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.declared("odd").SlingQuery = "echo {} > given; read it < done; exit 3"
			b := put(t, stores[""], beads.Bead{Title: "shoe"})
			failed := make(chan error, 1)
			go func() {
				_, err := s.Sling(t.Context(), city.SlingRequest{Target: "odd", Bead: b.ID, Formula: "polish"})
				failed <- err
			}()
			if _, err := os.ReadFile(filepath.Join(s.Config.Path, "given")); err != nil {
				t.Fatal(err)
			}
			if _, err := stores[""].Update(t.Context(), c.id, c.deed); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(s.Config.Path, "done"), []byte("it\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			err := <-failed
			want := "the beads created for this request were closed: tw-2"
			if c.left {
				want = "tw-2 was created for this request and could not be closed"
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
			of, _ := stores[""].Get(t.Context(), b.ID)
			root, _ := stores[""].Get(t.Context(), "tw-2")
			step, _ := stores[""].Get(t.Context(), "tw-3")
			if open := root.Status != beads.StatusClosed; open != c.left || (step.Status != beads.StatusClosed) != c.left || (of.Metadata[city.MoleculeKey] != "") != c.left {
				t.Errorf("%+v\n%+v\n%+v", of, root, step)
			}
		})
	}
}

// If two callers assign the same bead at the same time, one fails, and its created beads are closed.
func TestSlingUndoesALostRace(t *testing.T) {
	s, stores := slinger(t)
	b := put(t, stores[""], beads.Bead{Title: "shoe"})
	recipe := s.FindFormula
	s.FindFormula = func(name, rig string) (*formula.Formula, error) {
		if _, err := stores[""].Update(t.Context(), b.ID, beads.Patch{Assignee: new("ann")}); err != nil {
			t.Error(err)
		}
		return recipe(name, rig)
	}
	_, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Bead: b.ID})
	if err == nil || !strings.Contains(err.Error(), `assigned to "ann"`) || !strings.HasSuffix(err.Error(), "the beads created for this request were closed: tw-2") {
		t.Error(err)
	}
	if root, err := stores[""].Get(t.Context(), "tw-2"); err != nil || root.Status != beads.StatusClosed {
		t.Errorf("%+v, %v", root, err)
	}
}

// If two callers assign the same bead to the same agent at the same time, the bead has one open molecule.
func TestSlingUndoesASecondMolecule(t *testing.T) {
	s, stores := slinger(t)
	b := put(t, stores[""], beads.Bead{Title: "shoe"})
	recipe := s.FindFormula
	s.FindFormula = func(name, rig string) (*formula.Formula, error) {
		s.FindFormula = recipe
		if _, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Bead: b.ID}); err != nil {
			t.Error(err)
		}
		return recipe(name, rig)
	}
	_, err := s.Sling(t.Context(), city.SlingRequest{Target: "cook", Bead: b.ID})
	e, ok := errors.AsType[*city.Error](err)
	if want := "another request has changed the molecule of tw-1; run the command again; the beads created for this request were closed: tw-4"; !ok ||
		e.Code != city.Conflict || e.Message != want {
		t.Errorf("got %v, want %q", err, want)
	}
	open, err := stores[""].List(t.Context(), beads.Query{Status: beads.Unclosed(), Type: beads.TypeMolecule})
	if err != nil || len(open) != 1 || open[0].ID != "tw-2" {
		t.Errorf("%+v, %v", open, err)
	}
	if got, err := stores[""].Get(t.Context(), b.ID); err != nil || got.Metadata[city.MoleculeKey] != "tw-2" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A formula does not replace an open molecule, even with Force. A closed molecule can be replaced.
func TestSlingKeepsAnOpenMolecule(t *testing.T) {
	s, stores := slinger(t)
	b := put(t, stores[""], beads.Bead{Title: "shoe"})
	req := city.SlingRequest{Target: "ann", Bead: b.ID, Formula: "polish", Force: true}
	if _, err := s.Sling(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	_, err := s.Sling(t.Context(), req)
	e, ok := errors.AsType[*city.Error](err)
	if want := "tw-1 already has the open molecule tw-2; to use another formula, first run `gcity bead close tw-2 --steps`"; !ok ||
		e.Code != city.Conflict || e.Message != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if n, err := stores[""].Count(t.Context(), beads.Query{Type: beads.TypeMolecule}); err != nil || n != 1 {
		t.Errorf("%d molecules, %v", n, err)
	}
	if _, err := stores[""].Update(t.Context(), "tw-2", beads.Closing()); err != nil {
		t.Fatal(err)
	}
	if out, err := s.Sling(t.Context(), req); err != nil || out.Bead.Metadata[city.MoleculeKey] != "tw-4" {
		t.Errorf("%+v, %v", out.Bead, err)
	}
}

// Another agent's work, a closed bead and a bead that is not work cannot be assigned. With Force, another agent's work is reassigned.
func TestSlingRefused(t *testing.T) {
	s, stores := slinger(t)
	theirs := put(t, stores[""], beads.Bead{Title: "theirs", Assignee: "bob", Status: beads.StatusInProgress})
	run := put(t, stores[""], beads.Bead{Title: "run", Type: city.RunType})
	convoy := put(t, stores[""], beads.Bead{Title: "convoy", Type: city.ConvoyType})
	gate := put(t, stores[""], beads.Bead{Title: "gate", Type: city.GateType})
	done := put(t, stores[""], beads.Bead{Title: "done", Status: beads.StatusClosed})
	for id, want := range map[string]string{theirs.ID: `is assigned to "bob" and is in_progress; use --force`, run.ID: "is a run and cannot be assigned as work", done.ID: "is closed; run `gcity bead update",
		convoy.ID: "is a convoy and cannot be assigned as work; assign its beads, which `gcity convoy status tw-3` lists", gate.ID: "is a gate and cannot be assigned as work"} {
		_, err := s.Sling(t.Context(), city.SlingRequest{Target: "ann", Bead: id})
		var e *city.Error
		if !errors.As(err, &e) || e.Code != city.Conflict || !strings.Contains(e.Message, want) {
			t.Errorf("%s: %v", id, err)
		}
	}
	out, err := s.Sling(t.Context(), city.SlingRequest{Target: "crew", Bead: theirs.ID, Force: true})
	if err != nil || out.Bead.Assignee != "" || out.Bead.Status != beads.StatusOpen || !slices.Contains(out.Bead.Labels, "pool:yard/crew") {
		t.Errorf("%+v, %v", out.Bead, err)
	}
}
