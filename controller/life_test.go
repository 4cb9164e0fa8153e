package controller

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/sqlite"
	"gcity/city"
	"gcity/config"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session/fake"
	"gcity/session/pty"
)

// life is a running controller of a city with real components.
type life struct {
	*Controller
	dir   string
	log   *events.Log
	store *sqlite.Store
	stop  context.CancelFunc
	ended chan error
}

// live starts a controller. k may be nil. If a function is given, it wraps the store.
func live(t *testing.T, dir string, o events.Options, k *killer,
	by ...func(*sqlite.Store) beads.Store) *life {
	t.Helper()
	cfg, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &life{dir: dir, ended: make(chan error, 1)}
	if w.log, err = events.Open(filepath.Join(dir, ".gc"), o); err != nil {
		t.Fatal(err)
	}
	if w.store, err = sqlite.Open(dir, "to"); err != nil {
		t.Fatal(err)
	}
	store := beads.Store(w.store)
	for _, see := range by {
		store = see(w.store)
	}
	w.Controller, err = New(Options{
		Dir: dir, Mode: "headless", Version: "test", Provider: fake.New(), Log: w.log,
		Stores: func(string) (beads.Store, error) { return store, nil },
		Host:   agent.Host{Environ: os.Environ(), BinDir: "/gc/bin"},
		Sweep:  func() (int, error) { return pty.SweepRuns(dir) },
		Heartbeat: func(string) {
			if k != nil && k.moment == "after it is reported" && k.armed.Load() && w.told(t) {
				die()
			}
		},
	}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if k != nil {
		w.runner.Intercept = k.between
	}
	var ctx context.Context
	ctx, w.stop = context.WithCancel(context.Background())
	go func() { w.ended <- w.Run(ctx) }()
	return w
}

func (w *life) told(t *testing.T) bool {
	found, err := w.log.Find(t.Context(), events.Query{Types: []string{events.AutomationCompleted}})
	if err != nil {
		t.Fatal(err)
	}
	return len(found) > 0
}

func (w *life) end(t *testing.T) {
	t.Helper()
	w.stop()
	if err := <-w.ended; err != nil {
		t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		t.Error(err)
	}
	if err := w.log.Close(); err != nil {
		t.Error(err)
	}
}

func (w *life) await(t *testing.T, what string,
	ok func(a city.Automation, runs []city.Run) bool) []city.Run {
	t.Helper()
	var a *city.Automation
	var runs []city.Run
	eventually.True(t, what, func() bool {
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		known := false
		if a, known = s.Automation("job"); !known {
			return false
		}
		all, err := w.store.List(t.Context(), beads.Query{Type: city.RunType, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		runs = nil
		for _, b := range all {
			runs = append(runs, city.RunOf(b))
		}
		return ok(*a, runs)
	}, func() string { return fmt.Sprintf("%+v", a) })
	return runs
}

func (w *life) rests(t *testing.T, runs int) []city.Run {
	t.Helper()
	return w.await(t, fmt.Sprint("rest after ", runs, " runs"),
		func(a city.Automation, all []city.Run) bool {
			over := !slices.ContainsFunc(all, func(r city.Run) bool { return r.Ended == nil })
			known := !strings.HasPrefix(a.Reason, "the records of earlier runs")
			return len(all) >= runs && over && known && a.State == city.AutomationIdle
		})
}

func (w *life) emit(t *testing.T) uint64 {
	t.Helper()
	r, err := w.Do(t.Context(), city.Emit{Event: events.Event{Type: "deploy.done", Actor: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.Seq
}

func jobCity(t *testing.T, lines string) (dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "city.toml"),
		[]byte("[workspace]\nname = \"town\"\n[daemon]\npatrol_interval = \"200ms\"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	addAutomation(t, dir, "job", lines)
	return dir
}

func addAutomation(t *testing.T, dir, name, lines string) {
	t.Helper()
	folder := filepath.Join(dir, ".gc", "formulas", "automations", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "automation.toml"), []byte("[automation]\n"+lines),
		0o600); err != nil {
		t.Fatal(err)
	}
}

func touch(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

func (w *life) nothingLeft(t *testing.T) {
	t.Helper()
	if left := ofRuns(t, w.dir); len(left) > 0 {
		t.Errorf("processes of runs remain: %v", left)
	}
	if files, err := os.ReadDir(filepath.Join(w.dir, ".gc", perform.EventsFolder)); err == nil &&
		len(files) > 0 {
		t.Errorf("files of runs remain: %v", files)
	}
}

func ofRuns(t *testing.T, dir string) (left []string) {
	t.Helper()
	all, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		for entry := range strings.SplitSeq(string(proc.Environ(pid)), "\x00") {
			if strings.HasPrefix(entry, "GC_RUN="+dir+":") {
				left = append(left, strconv.Itoa(pid)+" "+entry)
			}
		}
	}
	return left
}
