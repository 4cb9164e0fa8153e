package main

import (
	"slices"
	"sync"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

func testRecording(t *testing.T) *recording {
	t.Helper()
	kept, err := loadRecording("demo.tape.gz")
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// The committed tape shows the expected states.
func TestTapeContainsShots(t *testing.T) {
	kept := testRecording(t)
	p := newPlayer(kept, kept.Began)
	see := func(second float64) *city.Snapshot {
		p.seek(kept.Began.Add(time.Duration(second * float64(time.Second))))
		s, err := p.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if n := see(calm).Count(); n[city.Quarantined] == 0 || n[city.Draining] == 0 || n[city.Suspended] == 0 || n[city.Running] < 5 {
		t.Errorf("the calm moment has %v", n)
	}
	states := map[city.AutomationState]bool{}
	for _, a := range see(busy + 2).Automations {
		states[a.State] = true
	}
	if !states[city.AutomationRunning] {
		t.Errorf("the busy moment has %v", states)
	}
	work, err := p.Beads(t.Context(), beads.Query{Status: []beads.Status{beads.StatusOpen}, Limit: 2})
	if err != nil || len(work) != 2 {
		t.Errorf("%d beads, %v", len(work), err)
	}
	newest, err := p.History(t.Context(), events.Query{Limit: 1})
	if err != nil || len(newest) != 1 || newest[0].TS.After(p.now()) {
		t.Errorf("%v, %v", newest, err)
	}
}

// A terminal that is opened late shows the same output.
func TestLateViewerSeesSameTerminal(t *testing.T) {
	kept := testRecording(t)
	for agent, all := range kept.Frames {
		for _, second := range []time.Duration{5, 30, 80} {
			at := kept.Began.Add(second * time.Second)
			n := until(all, at, func(s timedFrame) time.Time { return s.At })
			f, open := opening(all[:n])
			if !open {
				continue
			}
			begin := n - 1
			for !all[begin].Frame.Reset {
				begin--
			}
			var bytes []byte
			for _, s := range all[begin:n] {
				bytes = append(bytes, s.Frame.Data...)
			}
			if !slices.Equal(f.Data, bytes) || !f.Reset || f.Cols == 0 {
				t.Errorf("%s at %ds: %d bytes of %d, reset %v, %dx%d", agent, second, len(f.Data), len(bytes), f.Reset, f.Cols, f.Rows)
			}
		}
	}
}

// A recorded command gets its response at the recorded time. A command that was not recorded fails.
func TestRecordedCommands(t *testing.T) {
	kept := testRecording(t)
	p := newPlayer(kept, kept.Began)
	answered := make(chan error, 1)
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		_, err := p.Do(t.Context(), city.Release{Agent: "acrobat"})
		answered <- err
	})
	for second := range 100 {
		select {
		case err := <-answered:
			t.Fatalf("answered at %v: %v", p.now(), err)
		default:
		}
		if at := kept.Began.Add(time.Duration(second) * time.Second); at.Before(kept.Said[len(kept.Said)-1].At) {
			p.seek(at)
		}
	}
	p.seek(kept.Ended)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if _, err := p.Do(t.Context(), city.Kill{Agent: "acrobat"}); err == nil {
		t.Error("a recording was killed")
	}
}
