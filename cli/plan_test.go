package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/agent"
	"gcity/city"
	"gcity/pool"
	"gcity/session"
)

func TestChanges(t *testing.T) {
	old, fresh := session.NewFingerprint(map[string]string{"command": "a"}), session.NewFingerprint(map[string]string{"command": "b"})
	want := func(name string, f session.Fingerprint) agent.Want {
		return agent.Want{Name: name, Spec: session.Spec{Fingerprint: f}}
	}
	suspended, broken := want("s", old), want("p", old)
	suspended.Suspended, broken.Problem = "by agent", "no such command"
	alive := func(name string, f session.Fingerprint, attached int) session.Status {
		return session.Status{Agent: name, Alive: true, Fingerprint: f, Attached: attached}
	}
	got := changes(sight{
		wants: []agent.Want{want("same", old), want("drift", fresh), want("held", fresh), want("new", old), want("unknown", old), suspended, broken, want("q", old)},
		sessions: []session.Status{
			alive("same", old, 0), alive("drift", old, 0), alive("held", old, 1), alive("s", old, 0), alive("gone", old, 0),
			alive("unknown", session.Fingerprint{}, 0), {Agent: "new", Fingerprint: old},
		},
		running: &city.Snapshot{Agents: []city.Agent{{Name: "q", State: city.Quarantined, Reason: "crashed"}}},
	})
	expect := []change{
		{Agent: "drift", Change: "restart", Reason: "command changed", Fields: []string{"command changed"}},
		{Agent: "gone", Change: "stop", Reason: "not in the configuration"},
		{Agent: "held", Change: "restart", Reason: "command changed; held back while somebody is attached", Fields: []string{"command changed"}},
		{Agent: "new", Change: "start", Reason: "not running"},
		{Agent: "p", Change: "fail", Reason: "no such command"},
		{Agent: "q", Change: "wait", Reason: "quarantined: crashed"},
		{Agent: "s", Change: "stop", Reason: "suspended by agent"},
		{Agent: "same", Change: "none", Reason: "runs as configured"},
		{Agent: "unknown", Change: "none", Reason: "runs as configured"},
	}
	if diff := cmp.Diff(expect, got); diff != "" {
		t.Error(diff)
	}
}

// A pool's members are planned as far as they are wanted: by hand, by the controller that runs, else as they live; those
// too many are told to finish.
func TestPlannedPools(t *testing.T) {
	w := agent.Pool{Spec: pool.Spec{Name: "w", Min: 1, Max: 4}}
	var wants []agent.Want
	for i := 1; i <= w.Max; i++ {
		wants = append(wants, agent.Want{Name: w.Member(i), Pool: "w", Index: i})
	}
	lives := func(names ...string) (out []session.Status) {
		for _, n := range names {
			out = append(out, session.Status{Agent: n, Alive: true})
		}
		return out
	}
	draining := lives("w-1", "w-2")
	draining[1].Drain = session.Drain{Since: noon, By: "pool"}
	for _, c := range []struct {
		name string
		v    sight
		want string
	}{
		{"fresh", sight{}, "start w-1"},
		{"as they live", sight{sessions: lives("w-1", "w-2")}, "none w-1, none w-2"},
		{"one is leaving", sight{sessions: draining}, "none w-1, drain w-2"},
		{"by hand", sight{sessions: lives("w-1"), overrides: map[string]int{"w": 3}}, "none w-1, start w-2, start w-3"},
		{"by the controller", sight{sessions: lives("w-1", "w-2"), running: &city.Snapshot{Pools: []city.Pool{{Name: "w", Desired: 1}}}}, "none w-1, drain w-2"},
		{"beyond the maximum", sight{sessions: lives("w-1", "w-12", "other"), running: &city.Snapshot{Pools: []city.Pool{{Name: "w", Desired: 9}}}},
			"stop other, none w-1, start w-2, start w-3, start w-4, drain w-12"},
		{"of a pool that goes", sight{sessions: lives("gone-1"), running: &city.Snapshot{Agents: []city.Agent{{Name: "gone-1", Pool: "gone"}}}},
			"drain gone-1, start w-1"},
	} {
		c.v.wants, c.v.pools = wants, []agent.Pool{w}
		var got []string
		for _, x := range changes(c.v) {
			got = append(got, x.Change+" "+x.Agent)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// A configuration that has most of the running agents no longer is held; half of them may go.
func TestPlannedHold(t *testing.T) {
	running := &city.Snapshot{Agents: []city.Agent{
		{Name: "a", Running: true, Source: "city.toml:3:1"}, {Name: "b", Running: true, Source: "city.toml:6:1"},
		{Name: "c", Source: "city.toml:9:1"}, {Name: "stranger", Running: true},
	}}
	if h := (sight{wants: []agent.Want{{Name: "a"}}, running: running}).held("1"); h != nil {
		t.Errorf("half of them: %+v", h)
	}
	v := sight{wants: []agent.Want{{Name: "c"}}, running: running}
	want := &heldShape{Removes: []string{"a", "b"}, Running: 2}
	if diff := cmp.Diff(want, v.held("1")); diff != "" {
		t.Error(diff)
	}
	since := noon
	running.Config.Held = &city.Held{Revision: "1", Since: since}
	want.Since = &since
	if diff := cmp.Diff(want, v.held("1")); diff != "" {
		t.Error(diff)
	}
	if h := v.held("2"); h == nil || h.Since != nil {
		t.Errorf("another one is held: %+v", h)
	}
}
