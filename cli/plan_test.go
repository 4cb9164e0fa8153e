package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/agent"
	"gcity/city"
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
	got := changes(
		[]agent.Want{want("same", old), want("drift", fresh), want("held", fresh), want("new", old), want("unknown", old), suspended, broken, want("q", old)},
		[]session.Status{
			alive("same", old, 0), alive("drift", old, 0), alive("held", old, 1), alive("s", old, 0), alive("gone", old, 0),
			alive("unknown", session.Fingerprint{}, 0), {Agent: "new", Fingerprint: old},
		},
		&city.Snapshot{Agents: []city.Agent{{Name: "q", State: city.Quarantined, Reason: "crashed"}}},
	)
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
