package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/api"
	"gcity/api/client"
	"gcity/api/socket"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/recovery"
	"gcity/supervisor"
)

// BenchmarkNeighbours measures seventeen healthy cities while three others fail under the same supervisor (Q7 in
// docs/benchmarks.md).
func BenchmarkNeighbours(b *testing.B) {
	const cities, bad = 20, 3
	base := b.TempDir()
	a := &env.Env{Printer: output.Printer{Getenv: os.Getenv, Now: time.Now}, Version: "bench"}
	home := supervisor.Home{Dir: filepath.Join(base, "home"), Run: filepath.Join(base, "home")}
	if err := home.Make(); err != nil {
		b.Fatal(err)
	}
	full := filepath.Join(base, "city1")
	if err := os.Mkdir(full, 0o755); err != nil {
		b.Fatal(err)
	}
	if err := unix.Mount("full", full, "tmpfs", 0, "size=4m"); err != nil {
		b.Skipf("cannot mount a disk in order to fill it: %v", err)
	}
	defer unix.Unmount(full, unix.MNT_DETACH)
	names := make([]string, cities)
	for i := range names {
		names[i] = fmt.Sprint("city", i)
		writeOtherCity(b, filepath.Join(base, names[i]), names[i], i == 2)
		if _, err := Register(b.Context(), home, filepath.Join(base, names[i])); err != nil {
			b.Fatal(err)
		}
	}
	var faulty struct {
		sync.Mutex
		now *hostedCity
	}
	s := supervisor.New(supervisor.Options{
		Home: home, Logger: folder.QuietLogger(), Name: cityName, Busy: exit.AlreadyRunning,
		Open: func(ctx context.Context, e Registered) (supervisor.City, error) {
			c, err := openHosted(ctx, a, e, folder.QuietLogger(), CityOptions{log: folder.FileLog(e.Path)})
			if k, ok := c.(*hostedCity); ok && e.Name == "city0" {
				faulty.Lock()
				faulty.now = k
				faulty.Unlock()
			}
			return c, err
		},
	})
	l, err := socket.Listen(home.Socket())
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		if err := s.Run(ctx); err != nil {
			b.Log(err)
		}
		stop()
	})
	all.Go(func() {
		if err := api.ServeFleet(ctx, l, s, api.Options{}); err != nil {
			b.Error(err)
		}
	})
	defer all.Wait()
	defer stop()
	fleet, err := client.DialFleet(home.Socket(), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer fleet.Close()
	for _, name := range names {
		awaitTen(b, s, name)
	}
	well := measure(b, s, fleet, names[bad:])
	breaking := time.NewTicker(100 * time.Millisecond)
	defer breaking.Stop()
	all.Go(func() {
		for {
			select {
			case <-breaking.C:
			case <-ctx.Done():
				return
			}
			faulty.Lock()
			if faulty.now != nil {
				faulty.now.faults.Report(recovery.Catch(func() { panic("unexpected") }))
			}
			faulty.Unlock()
			s.Reload()
		}
	})
	err = os.WriteFile(filepath.Join(full, "filler"), bytes.Repeat([]byte("x"), 8<<20), 0o600)
	if !errors.Is(err, unix.ENOSPC) {
		b.Fatalf("the disk is not full: %v", err)
	}
	ill := measure(b, s, fleet, names[bad:])
	infos, err := s.Cities(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	crashes := 0
	for _, i := range infos {
		if i.Name == "city0" {
			crashes = i.Crashes
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(crashes), "crashes")
	for _, m := range []struct {
		what      string
		well, ill time.Duration
	}{{"answer-p50", well.mid, ill.mid}, {"answer-p99", well.late, ill.late}, {"patrol", well.patrol, ill.patrol}} {
		b.ReportMetric(float64(m.well.Microseconds())/1000, "ms-"+m.what)
		b.ReportMetric(float64(m.ill.Microseconds())/1000, "ms-"+m.what+"-beside")
	}
}

func writeOtherCity(b *testing.B, dir, name string, hangs bool) {
	b.Helper()
	text := "[workspace]\nname = \"" + name + "\"\n[daemon]\npatrol_interval = \"1s\"\nshutdown_timeout = \"1s\"\n"
	for i := range 10 {
		text += fmt.Sprintf("[[agents]]\nname = \"a%d\"\nstart_command = \"exec sleep 1000\"\n", i)
	}
	if hangs {
		text += "[[agents]]\nname = \"pool\"\nstart_command = \"exec sleep 1000\"\n[agents.pool]\nmax = 3\ncheck = \"sleep 1000\"\ncheck_timeout = \"10m\"\n"
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o644)); err != nil {
		b.Fatal(err)
	}
}

func awaitTen(b *testing.B, d city.Directory, name string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	for {
		if c, err := d.City(name); err == nil {
			for s, err := range c.Snapshots(ctx) {
				if err != nil {
					break
				}
				if s.Count()[city.Running] >= 10 {
					return
				}
			}
		}
		select {
		case <-ctx.Done():
			b.Fatalf("%s did not start", name)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

type latencies struct{ mid, late, patrol time.Duration }

func measure(b *testing.B, s *supervisor.Supervisor, fleet *client.Fleet, names []string) latencies {
	b.Helper()
	patrols := func() (count uint64, sum time.Duration) {
		for _, name := range names {
			c, err := s.City(name)
			if err != nil {
				b.Fatal(err)
			}
			if g, ok := c.(city.MetricsSource); ok {
				t := g.Metrics().Patrol
				count, sum = count+t.Count, sum+t.Sum
			}
		}
		return count, sum
	}
	n, sum := patrols()
	var took []time.Duration
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
		c, err := fleet.City(names[len(took)%len(names)])
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		snap, err := c.Snapshot(b.Context())
		if err != nil || snap.Count()[city.Running] != 10 {
			b.Fatalf("%v: %v", strings.Join(names, " "), err)
		}
		took = append(took, time.Since(began))
		time.Sleep(2 * time.Millisecond) // the interval between queries, not a wait for something
	}
	slices.Sort(took)
	m, total := patrols()
	return latencies{took[len(took)/2], took[len(took)*99/100], (total - sum) / time.Duration(max(1, m-n))}
}
