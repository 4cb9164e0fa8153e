package main

import (
	"flag"
	"path/filepath"
	"testing"
	"time"

	"gcity/internal/gobuild"
)

var seed = flag.Uint64("seed", 0, "seed of the random choices; 0 = use the clock")

// TestCampaign runs a short campaign, which tests L4, L6, L9, L10 and L11. `make faults` runs longer campaigns.
func TestCampaign(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and runs for half a minute")
	}
	dir := t.TempDir()
	t.Setenv("GORACE", gobuild.RaceLog(dir))
	bin := filepath.Join(dir, "gcity")
	if err := gobuild.Build("-o", bin, "gcity"); err != nil {
		t.Fatal(err)
	}
	o := options{gcity: bin, seed: *seed, agents: 8, duration: 20 * time.Second, rounds: 30, out: t.Output()}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	breaches, err := campaign(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches {
		t.Error(b)
	}
	if races, err := gobuild.Races(dir); err != nil || races != "" {
		t.Errorf("data races: %v\n%s", err, races)
	}
}

// The checks of the event log detect each kind of violation.
func TestEventLogObeysTheLaws(t *testing.T) {
	life := func(seq uint64, kind, session string) record {
		r := record{Seq: seq, Type: kind}
		r.Payload.Session = session
		return r
	}
	whole := eventLog{records: []record{life(1, "agent.started", "a"), life(2, "agent.crashed", "a")}}
	if got := whole.check(); len(got) != 0 {
		t.Errorf("an intact log: got %v", got)
	}
	for name, l := range map[string]eventLog{
		"a gap":      {records: []record{life(1, "agent.started", "a"), life(3, "agent.crashed", "a")}},
		"a twin":     {records: []record{life(1, "agent.started", "a"), life(1, "agent.crashed", "a")}},
		"no end":     {records: []record{life(1, "agent.started", "a")}},
		"two ends":   {records: []record{life(1, "agent.started", "a"), life(2, "agent.crashed", "a"), life(3, "agent.stopped", "a")}},
		"two starts": {records: []record{life(1, "agent.started", "a"), life(2, "agent.started", "a"), life(3, "agent.stopped", "a")}},
	} {
		if len(l.check()) == 0 {
			t.Errorf("fault %s was not detected", name)
		}
	}
}
