package perform

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"gcity/agent"
	"gcity/beads"
	stores "gcity/beads/fake"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/shutdown"
	"gcity/session/fake"
)

// bench is a runner without a controller. Tests perform its effects one by one.
type bench struct {
	r     *Runner
	dir   string
	log   *events.Log
	cfg   *config.City
	inbox chan effect.Input
}

const bare = `
[[agents]]
name = "a"
start_command = "run a"
`

func newBench(t *testing.T, toml string) *bench {
	t.Helper()
	b := &bench{dir: t.TempDir(), inbox: make(chan effect.Input, 256)}
	err := os.WriteFile(filepath.Join(b.dir, "city.toml"), []byte(toml), 0o644)
	if err == nil {
		b.cfg, err = config.Load(b.dir)
	}
	if err == nil {
		b.log, err = events.Open(filepath.Join(b.dir, ".gc"), events.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.log.Close() })
	snap := &city.Snapshot{Name: b.cfg.Workspace.Name}
	for _, rig := range agent.Rigs(b.cfg) {
		snap.Rigs = append(snap.Rigs, city.Rig{Name: rig.Name, Path: rig.Path, Prefix: rig.Prefix})
	}
	b.r = New(World{
		Options: Options{
			Dir: b.dir, At: b.dir, Provider: fake.New(), Log: b.log,
			Logger: slog.New(slog.DiscardHandler), ShutdownDeadline: shutdown.New(0),
			Host: agent.Host{Environ: []string{"PATH=/bin"}, BinDir: "/gc/bin"},
		},
		Inbox: b.inbox, Reply: func(effect.Reply) {}, OnPanic: func(err error) { panic(err) },
		Snapshot: func() *city.Snapshot { return snap },
	})
	return b
}

func counting(open func(rig string) (beads.Store, error), rigs ...string) *Runner {
	snap := &city.Snapshot{}
	for _, name := range rigs {
		snap.Rigs = append(snap.Rigs, city.Rig{Name: name})
	}
	return New(World{
		Options: Options{Stores: open, Provider: fake.New(), ShutdownDeadline: shutdown.New(0),
			Logger: slog.New(slog.DiscardHandler)},
		OnPanic: func(err error) {
			panic(err)
		},
		Inbox: make(chan effect.Input, 256), Snapshot: func() *city.Snapshot { return snap },
	})
}

func workBench(t *testing.T) (*bench, *stores.Store) {
	w, store := newBench(t, bare), stores.New("tw")
	w.r.Stores.open = func(string) (beads.Store, error) { return store, nil }
	return w, store
}
