package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/session/fake"
	"gcity/trust"
)

// slow is a controller loop that does not stop on its own and records the calls of Hurry and GiveUp.
type slow struct {
	city.Control
	limit   atomic.Int64
	hurried chan struct{}
	gaveUp  chan struct{}
}

func (*slow) Run(context.Context) error     { return nil }
func (*slow) RunOnce(context.Context) error { return nil }
func (*slow) SetMode(string)                {}
func (*slow) FirstList() <-chan struct{}    { return nil }
func (s *slow) GiveUp()                     { close(s.gaveUp) }
func (s *slow) Hurry()                      { close(s.hurried) }
func (s *slow) StopLimit() time.Duration    { return time.Duration(s.limit.Load()) }

// All agents are killed shortly before the stop limit, which is longer for a chain of dependent agents.
func TestStopLimitCoversDependencyChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slow{hurried: make(chan struct{})}
		h := &City{parts: parts{Loop: l, sessions: fake.New()}, Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{})}
		signals, obeyed := make(chan os.Signal, 1), make(chan error, 1)
		stopped := make(chan struct{})
		l.limit.Store(int64(35 * time.Second))
		go func() { obeyed <- h.HandleSignals(signals, func() { close(stopped) }, func(context.Context) {}) }()
		synctest.Wait()
		const limit = 4*time.Minute + 30*time.Second
		l.limit.Store(int64(limit))
		began := time.Now()
		signals <- syscall.SIGTERM
		<-stopped
		<-l.hurried
		if took := time.Since(began); took != limit-stopMargin { // time in the synctest bubble
			t.Errorf("all agents were killed after %s", took)
		}
		close(h.Done)
		if err := <-obeyed; err != nil {
			t.Error(err)
		}
	})
}

// The controller gives up on agents that survive a kill, and stops.
func TestHungTaskIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slow{hurried: make(chan struct{}), gaveUp: make(chan struct{})}
		l.limit.Store(int64(time.Hour))
		h := &City{parts: parts{Loop: l, sessions: fake.New()}, Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{})}
		signals, obeyed := make(chan os.Signal, 1), make(chan error, 1)
		go func() { obeyed <- h.HandleSignals(signals, func() {}, func(context.Context) {}) }()
		signals <- syscall.SIGTERM
		synctest.Wait()
		began := time.Now()
		signals <- syscall.SIGTERM
		<-l.hurried
		<-l.gaveUp
		if took := time.Since(began); took != killLimit { // time in the synctest bubble
			t.Errorf("Stop gave up after %s", took)
		}
		close(h.Done)
		if err := <-obeyed; err != nil {
			t.Error(err)
		}
	})
}

// A reload that hangs does not delay a stop, which cancels it. Several HUPs cause one further reload.
func TestStopDuringReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slow{}
		l.limit.Store(int64(time.Hour))
		h := &City{parts: parts{Loop: l, sessions: fake.New()}, Logger: slog.New(slog.DiscardHandler), Done: make(chan struct{})}
		signals, obeyed := make(chan os.Signal, 1), make(chan error, 1)
		stopped, first := make(chan struct{}), make(chan struct{})
		reloads := 0
		go func() {
			obeyed <- h.HandleSignals(signals, func() { close(stopped) }, func(ctx context.Context) {
				if reloads++; reloads == 1 {
					<-first
					return
				}
				<-ctx.Done()
			})
		}()
		for range 4 {
			signals <- syscall.SIGHUP
			synctest.Wait()
		}
		close(first)
		synctest.Wait()
		if reloads != 2 {
			t.Errorf("%d reloads, want 2", reloads)
		}
		signals <- syscall.SIGTERM
		<-stopped
		close(h.Done)
		if err := <-obeyed; err != nil {
			t.Error(err)
		}
	})
}

// A reload that was requested before the stop does not start after it.
func TestNoReloadAfterAStop(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	requests := make(chan struct{}, 1)
	for range 100 { // select is random
		select {
		case requests <- struct{}{}:
		default:
		}
		callForEach(ctx, requests, func(context.Context) { t.Error("reloaded") })
	}
}

// A city whose parts do not end is reported.
func TestHungRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &City{Dir: "/town"}
		if err := h.AwaitRelease(make(chan error)); err == nil || !strings.Contains(err.Error(), "/town") {
			t.Errorf("got %v", err)
		}
	})
}

// gitRepository creates a repository and returns a function that runs git in it.
func gitRepository(t *testing.T) (dir string, git func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("GCITY_TRUST", "")
	dir = must(filepath.EvalSymlinks(t.TempDir()))
	git = func(args ...string) {
		t.Helper()
		c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	return dir, git
}

// A program that a pull adds directly after the configuration was read is not trusted later.
func TestPullAfterTheConfigurationWasRead(t *testing.T) {
	dir, git := gitRepository(t)
	commit := func(command string) {
		t.Helper()
		text := "[[agents]]\nname = \"a\"\nstart_command = \"" + command + "\"\n"
		if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "-qm", command)
	}
	commit("sleep 9")
	git("checkout", "-qb", "other")
	commit("sleep 8")
	git("checkout", "-q", "main")
	c := must(folder.LoadCity(dir))
	if err := folder.Ledger().Trust(dir, folder.ProgramsOf(c), time.Now()); err != nil {
		t.Fatal(err)
	}
	git("checkout", "-q", "other")
	o := CityOptions{Dir: dir, source: folder.SourceOf(dir), Logger: slog.New(slog.DiscardHandler)}
	if err := o.checkMayRun(c, nil); err != nil {
		t.Fatal(err)
	}
	err := folder.Trusted(dir, nil).Err()
	if r, ok := errors.AsType[*trust.Refusal](err); !ok || len(r.New) != 1 || r.New[0].What != "agent a" {
		t.Errorf("got %v", err)
	}
}

// A pull adds an automation and removes its folder from the configuration. While the old configuration is in force, the
// automation is not trusted.
func TestPullRemovesALayerInForce(t *testing.T) {
	dir, git := gitRepository(t)
	commit := func(folder, automation string) {
		t.Helper()
		at := filepath.Join(dir, "auto", "automations", automation)
		for path, text := range map[string]string{
			filepath.Join(dir, "city.toml"):      "[formulas]\ndir = \"" + folder + "\"\n",
			filepath.Join(at, "automation.toml"): "[automation]\ngate = \"manual\"\nexec = \"true\"\n",
		} {
			if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		git("add", ".")
		git("commit", "-qm", automation)
	}
	commit("auto", "old")
	git("checkout", "-qb", "other")
	commit("none", "new")
	git("checkout", "-q", "main")
	inForce := must(folder.LoadCity(dir))
	if err := folder.Ledger().Trust(dir, folder.ProgramsOf(inForce), time.Now()); err != nil {
		t.Fatal(err)
	}
	git("checkout", "-q", "other")
	o := CityOptions{Dir: dir, source: folder.SourceOf(dir), Logger: slog.New(slog.DiscardHandler)}
	if err := o.checkMayRun(must(folder.LoadCity(dir)), inForce); err != nil {
		t.Fatal(err)
	}
	err := o.checkMayRun(inForce, inForce)
	if r, ok := errors.AsType[*trust.Refusal](err); !ok || len(r.New) != 1 || r.New[0].What != "automation new" {
		t.Errorf("got %v", err)
	}
}

// A pull that changes no program is recorded, so a later edit counts as the user's own. A pull that changes a program is
// not recorded.
func TestPullWithoutPrograms(t *testing.T) {
	dir, git := gitRepository(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	city := "[[agents]]\nname = \"a\"\nstart_command = \"sh run.sh\"\n"
	pull := func(name string) {
		t.Helper()
		git("checkout", "-qb", name)
		write(name, "pulled")
		git("add", ".")
		git("commit", "-qm", name)
		git("checkout", "-q", "-")
		git("merge", "-q", "--ff-only", name)
	}
	write("city.toml", city)
	write("run.sh", "first")
	git("add", ".")
	git("commit", "-qm", "first")
	o := CityOptions{Dir: dir, source: folder.SourceOf(dir), Logger: slog.New(slog.DiscardHandler)}
	if err := folder.Ledger().Trust(dir, folder.ProgramsOf(must(folder.LoadCity(dir))), time.Now()); err != nil {
		t.Fatal(err)
	}
	pull("README.md")
	if err := o.extendTrust(must(folder.LoadCity(dir))); err != nil {
		t.Error(err)
	}
	write("city.toml", strings.Replace(city, "run.sh", "run.sh x", 1))
	if err := o.checkMayRun(must(folder.LoadCity(dir)), nil); err != nil {
		t.Errorf("an edit after a pull without programs: %v", err)
	}
	git("commit", "-qam", "edit")
	pull("run.sh")
	if err := o.extendTrust(must(folder.LoadCity(dir))); err == nil {
		t.Error("a pull that changes a script in force is not reported")
	}
	if err := folder.Trusted(dir, must(folder.LoadCity(dir))).Err(); err == nil {
		t.Error("a pull that changes a script is trusted")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
