// Package controllertest runs cities with a real controller for tests. The sessions are simulated, and the stores are
// in memory.
package controllertest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gcity/agent"
	"gcity/beads"
	beadsfake "gcity/beads/fake"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/config"
	"gcity/controller"
	"gcity/events"
	"gcity/internal/eventually"
	"gcity/session/fake"
)

// City is a city that runs until the end of its test.
type City struct {
	*controller.Controller
	Dir      string
	Sessions *fake.Provider
	Log      *events.Log
	Stores   map[string]*beadsfake.Store // by rig; "" is the store of the city
	Rescan   chan struct{}               // makes the controller read the automations again
}

// Start runs a city with this city.toml. Its rigs are folders in the city's folder.
func Start(t testing.TB, toml string, with ...func(*controller.Options)) *City {
	t.Helper()
	return begin(t, toml, fake.New(), func(string) {}, with...)
}

// Secret is a value in the environment of one of Town's agents. No response may contain it.
const Secret = "no-answer-may-contain-this-7f3a"

// TownConfig is the city.toml of a city for citytest.Suite.
const TownConfig = `[workspace]
name = "town"
[[agents]]
name = "worker"
start_command = "echo ready; exec cat"
env = { SONG_TOKEN = "` + Secret + `" }
[[agents]]
name = "lazy"
suspended = true
start_command = "exec cat"
[[rigs]]
name = "yard"
path = "yard"
[[agents]]
name = "crew"
start_command = "echo ready; exec cat"
[agents.pool]
min = 1
max = 3
check = "echo 1"
drain_timeout = "0s"
[[agents]]
name = "hand"
dir = "yard"
start_command = "exec cat"
[[agents]]
name = "idler"
dir = "yard"
suspended = true
start_command = "exec cat"
[[watchdogs]]
name = "care"
watches = "worker"
`

// Town runs a city that contains everything that citytest.Suite needs.
func Town(t testing.TB) *City {
	t.Helper()
	p := fake.New()
	p.Greet(citytest.Worker, citytest.Ready+"\r\n")
	return begin(t, TownConfig, p, func(dir string) {
		citytest.WriteAutomations(t, filepath.Join(dir, ".gc", "formulas"))
	})
}

func begin(t testing.TB, toml string, p *fake.Provider, prepare func(dir string),
	with ...func(*controller.Options)) *City {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	check(t, err)
	Write(t, dir, toml)
	prepare(dir)
	cfg, err := config.Load(dir)
	check(t, err)
	c := &City{Dir: dir, Sessions: p, Rescan: make(chan struct{}, 1),
		Stores: map[string]*beadsfake.Store{"": beadsfake.New("tw")}}
	for _, r := range agent.Rigs(cfg) {
		check(t, os.MkdirAll(r.Path, 0o755))
		c.Stores[r.Name] = beadsfake.New(r.Prefix)
	}
	cfg, err = config.Load(dir) // load again, now that the folders of the rigs exist
	check(t, err)
	c.Log, err = events.Open(filepath.Join(dir, ".gc"), events.Options{})
	check(t, err)
	o := controller.Options{Dir: dir, Mode: "headless", Version: "test", Provider: p, Log: c.Log,
		Stores: func(rig string) (beads.Store, error) { return c.Stores[rig], nil },
		Host:   agent.Host{Environ: os.Environ(), BinDir: "/gc/bin"}, Pulse: time.Second,
		FoldersChanged: c.Rescan}
	for _, change := range with {
		change(&o)
	}
	c.Controller, err = controller.New(o, cfg)
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the controller: %v", err)
		}
		_ = c.Log.Close()
	})
	return c
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Harness returns the harness for running citytest.Suite on Town. reach returns the Control that the suite uses; nil =
// the controller itself.
func Harness(reach func(*testing.T, *City) city.Control) citytest.Harness {
	var towns sync.Map
	town := func(ctl city.Control) *City {
		c, _ := towns.Load(ctl)
		return c.(*City)
	}
	return citytest.Harness{
		Open: func(t *testing.T) city.Control {
			c := Town(t)
			ctl := city.Control(c)
			if reach != nil {
				ctl = reach(t, c)
			}
			towns.Store(ctl, c)
			return ctl
		},
		Hold: func(t *testing.T, ctl city.Control) { Write(t, town(ctl).Dir, HeldConfig) },
		Record: func(t *testing.T, ctl city.Control, e events.Event) {
			_, err := town(ctl).Log.Append(e)
			check(t, err)
		},
	}
}

// Await waits until the city's snapshot meets a condition.
func (c *City) Await(t testing.TB, ok func(*city.Snapshot) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	for s, err := range c.Snapshots(ctx) {
		check(t, err)
		if ok(s) {
			return
		}
	}
	t.Fatal("the city did not reach the expected state")
}

// HeldConfig is a city.toml that removes most of Town's running agents.
const HeldConfig = `[workspace]
name = "town"
[[agents]]
name = "lazy"
suspended = true
start_command = "exec cat"
`

// Write replaces the city.toml in a city's folder. The controller reads it at the next reload or patrol.
func Write(t testing.TB, dir, toml string) {
	t.Helper()
	check(t, os.WriteFile(filepath.Join(dir, config.FileName), []byte(toml), 0o644))
}
