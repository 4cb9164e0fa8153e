package perform

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/controller/effect"
	"gcity/formula"
	"gcity/internal/hungfs"
	"gcity/internal/proc"
	"gcity/pool"
)

func soon[T any](t *testing.T, what string, work func() T) T {
	t.Helper()
	done := make(chan T, 1)
	go func() { done <- work() }()
	select {
	case v := <-done:
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s hangs", what)
		panic("not reached")
	}
}

// A run ends at its timeout or with the city, even if the folder of its script or formula does not respond.
func TestHungRunFolder(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, false)
	w, _ := workBench(t)
	source := w.cfg
	of := func(d automation.Definition) effect.Run {
		d.Source, d.Layer = filepath.Join(hung, "automations", d.Name, automation.FileName),
			formula.Layer{Dir: hung, Title: "hung"}
		return effect.Run{In: source, Run: automation.Run{Definition: d}, Bead: "tw-1"}
	}
	in := soon(t, "a run", func() effect.RunEnded {
		return w.r.automations.carryOut(w.r.automations.state.runs, of(automation.Definition{Name: "a", Exec: "sub/x.sh",
			Timeout: 100 * time.Millisecond, Limit: "timeout in its file"}))
	})
	if want := "the run did not finish within 100ms (timeout in its file): the script's folder " +
		"does not respond"; in.Outcome != automation.Failed || in.Problem != want {
		t.Errorf("%+v", in)
	}
	w.r.automations.state.endRuns(errStopped)
	in = soon(t, "a run while the city stops", func() effect.RunEnded {
		return w.r.automations.carryOut(w.r.automations.state.runs, of(automation.Definition{Name: "b", Exec: "sub/x.sh",
			Timeout: time.Hour}))
	})
	if in.Outcome != automation.Interrupted {
		t.Errorf("%+v", in)
	}
	source.Formulas.Dir = hung
	f := of(automation.Definition{Name: "c", Formula: "x", Timeout: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := soon(t, "cooking", func() error { return w.r.automations.cook(ctx, f, &effect.RunEnded{}) })
	if !errors.Is(err, errUnresponsive) {
		t.Errorf("cooking: %v", err)
	}
}

// A layer that does not respond is reported and does not affect the automations of other layers.
func TestHungScanOfALayer(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, false)
	w, _ := workBench(t)
	own := filepath.Join(w.dir, "own")
	file := filepath.Join(own, automation.Folder, "a", automation.FileName)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte("[automation]\ngate = \"manual\"\nexec = \"true\"\n"),
			0o644)); err != nil {
		t.Fatal(err)
	}
	layers := []formula.Layer{{Dir: hung, Title: "city"}, {Dir: own, Title: "rig own", Rig: "own"}}
	f := effect.Scan{Layers: layers, Options: automation.Options{Patience: 100 * time.Millisecond}}
	for range 2 {
		in := soon(t, "a scan", func() effect.Scanned {
			return w.r.automations.scan(t.Context(), f).(effect.Scanned)
		})
		if len(in.Catalog.Automations) != 1 || in.Catalog.Automations[0].Scoped() != "a:rig:own" {
			t.Errorf("found: %+v", in.Catalog.Automations)
		}
		for _, want := range []string{"cannot read automations (city): the folder does not respond",
			"cannot link the formulas of the city: a folder does not respond"} {
			if !strings.Contains(in.Trouble, want) {
				t.Errorf("problem: got %q, want %q", in.Trouble, want)
			}
		}
	}
}

// Checks of a pool or a condition in a folder that does not respond leave no processes behind.
func TestHungCheckFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, true)
	w, _ := workBench(t)
	w.cfg.Path = filepath.Join(hung, "rig")
	for range 2 {
		in := soon(t, "a check", func() effect.PoolChecked {
			return w.r.checkNow(&agent.Pool{Spec: pool.Spec{Name: "crew"}, Check: "echo 1", Dir: filepath.Join(hung, "rig"),
				CheckTimeout: time.Minute})
		})
		if in.Kind != "folder" || !errors.Is(in.Err, errUnresponsive) {
			t.Errorf("got %+v", in)
		}
		condition := soon(t, "a condition", func() effect.ConditionChecked {
			return w.r.automations.checkCondition(t.Context(), effect.CheckCondition{In: w.cfg,
				Of: automation.Definition{Name: "a", Check: "true", CheckTimeout: time.Minute}})
		})
		if !strings.HasSuffix(condition.Err, "the check's folder does not respond") {
			t.Errorf("got %+v", condition)
		}
	}
	if left := proc.Descendants(os.Getpid()); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	if n := w.r.looks.Pending(); n != 1 {
		t.Errorf("got %d pending calls, want 1", n)
	}
}

// A heartbeat file in a folder that does not respond blocks nothing and is reported. At most one read of the file
// hangs at a time.
func TestHungHeartbeat(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, false)
	w, _ := workBench(t)
	f := effect.ReadHeartbeat{Tier: "care", Path: filepath.Join(hung, "beats", "worker.json")}
	for range 2 {
		in := soon(t, "a look", func() effect.HeartbeatRead {
			return w.r.heartbeat(t.Context(), f).(effect.HeartbeatRead)
		})
		if !strings.HasSuffix(in.Problem, "does not respond") || in.Stamp != (time.Time{}) {
			t.Errorf("%+v", in)
		}
	}
	if n := w.r.looks.Pending(); n != 1 {
		t.Errorf("got %d pending scans, want 1", n)
	}
}
