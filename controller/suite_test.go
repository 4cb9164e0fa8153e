package controller_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gcity/agent"
	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/config"
	"gcity/controller"
	"gcity/controller/controllertest"
	"gcity/events"
	"gcity/internal/eventually"
	"gcity/session/pty"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		if os.Getenv("GORACE") == "" { // otherwise the race detector delays the exit by a second
			env := append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			fmt.Fprintln(os.Stderr, "cannot execute again:", syscall.Exec(os.Args[0], os.Args, env))
		}
		os.Exit(pty.Hold())
	}
	os.Exit(m.Run())
}

func open(t *testing.T) city.Control { return openWith(t, nil) }

func openWith(t *testing.T, automations map[string]string) *controller.Controller {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	controllertest.Write(t, dir, controllertest.TownConfig)
	if err := os.Mkdir(filepath.Join(dir, "yard"), 0o755); err != nil {
		t.Fatal(err)
	}
	citytest.WriteAutomations(t, filepath.Join(dir, ".gc", "formulas"))
	for name, lines := range automations {
		folder := filepath.Join(dir, ".gc", "formulas", "automations", name)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "automation.toml"),
			[]byte("[automation]\n"+lines), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stores := map[string]beads.Store{"": fake.New("tw"), "yard": fake.New("ya")}
	cfg, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.Open(filepath.Join(dir, ".gc"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pty.New(pty.Options{City: dir, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	poke := make(chan struct{}, 1)
	c, err := controller.New(controller.Options{Dir: dir, Mode: "headless", Version: "test",
		Provider: p, Log: log, ConfigChanged: poke, Stores: func(rig string) (beads.Store, error) {
			return stores[rig], nil
		},
		Host: agent.Host{Environ: os.Environ(), BinDir: "/gc/bin"}, Pulse: time.Second}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	t.Cleanup(func() {
		sctx, sc := context.WithTimeout(context.Background(), eventually.Timeout)
		defer sc()
		// the test may have already ended the controller
		if _, err := c.Do(sctx, city.Shutdown{}); err != nil &&
			err.Error() != "the controller has exited" {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		p.Close()
		log.Close()
	})
	return c
}

func hold(t *testing.T, c city.Control) {
	t.Helper()
	s, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	controllertest.Write(t, s.Path, controllertest.HeldConfig)
}

func record(t *testing.T, c city.Control, e events.Event) {
	t.Helper()
	s, err := c.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.Open(filepath.Join(s.Path, ".gc"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Append(e); err != nil {
		t.Fatal(err)
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	citytest.Suite(t, citytest.Harness{Open: open, Hold: hold, Record: record})
}
