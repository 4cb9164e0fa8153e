package perform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/internal/eventually"
	"gcity/internal/shutdown"
	"gcity/session"
)

func TestIsNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		load effect.Load
		want bool
	}{
		{"in force", effect.Load{Known: "r", Now: true}, false},
		{"held", effect.Load{Known: "q", HeldRevision: "r", Now: true}, false},
		{"changed", effect.Load{Known: "q", HeldRevision: "p", Now: true}, true},
		{"seen by a patrol for the first time", effect.Load{Known: "q", SeenAtPatrol: "p"}, false},
		{"seen by two patrols", effect.Load{Known: "q", SeenAtPatrol: "r"}, true},
	} {
		if got := isNew(tt.load, "r"); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

// While the city's folder is not at its path, a load reports that it has not read the configuration.
func TestNoLoadFromAMovedFolder(t *testing.T) {
	r := New(World{Options: Options{Dir: filepath.Join(t.TempDir(), "moved")}})
	in, ok := r.load(effect.Load{Known: "r", Force: true}).(effect.Loaded)
	if !ok || in.Away == nil || in.Revision != "" || in.Conf != nil || in.Err != nil {
		t.Errorf("got %+v", in)
	}
}

// A load extends the trust only if the configuration in force is the one on disk. It reports a changed script.
func TestLoadExtendsTrust(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte("[workspace]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	extended, untrusted := 0, errors.New("is not trusted")
	r := New(World{
		InForce: func() *effect.Configuration { return &effect.Configuration{Source: cfg} },
		Options: Options{Dir: dir, ExtendTrust: func(inForce *config.City) error {
			if extended++; inForce != cfg {
				t.Error("got another configuration than the one in force")
			}
			return untrusted
		}}})
	for known, want := range map[string]int{"other": 0, cfg.Revision: 1} {
		extended = 0
		in := r.load(effect.Load{Known: known}).(effect.Loaded)
		if extended != want || errors.Is(in.Err, untrusted) != (want > 0) {
			t.Errorf("known revision %s: extended %d times, want %d: %v", known, extended, want, in.Err)
		}
	}
}

// A configuration that declares more agents than allowed is rejected.
func TestAllowedAgents(t *testing.T) {
	cfg := &config.City{Agents: []config.Agent{{Name: "a", StartCommand: "x"},
		{Name: "b", StartCommand: "x"}}}
	asked := 0
	r := New(World{Options: Options{Allow: func(_ context.Context, agents int) error {
		if asked = agents; agents > 1 {
			return errors.New("too many")
		}
		return nil
	}}})
	if err := r.w.allow(cfg); err == nil || asked != 2 {
		t.Errorf("%d agents: %v", asked, err)
	}
	cfg.Agents = cfg.Agents[:1]
	if err := r.w.allow(cfg); err != nil || asked != 1 {
		t.Errorf("%d agents: %v", asked, err)
	}
}

// The reason of a run and of a check that a signal has killed names the signal.
func TestReasonsNameTheSignal(t *testing.T) {
	w, _ := workBench(t)
	d := automation.Definition{Name: "a", Exec: "kill -TERM $$", Check: "kill -USR1 $$",
		Timeout: time.Minute}
	run := w.r.automations.carryOut(t.Context(), effect.Run{In: w.cfg,
		Run: automation.Run{Definition: d}, Bead: "tw-1"})
	if run.Problem != "the script was killed by SIGTERM" || run.Code != nil {
		t.Errorf("run: %+v", run)
	}
	check := w.r.automations.checkCondition(t.Context(), effect.CheckCondition{In: w.cfg, Of: d})
	if check.Err != "check was killed by SIGUSR1" || check.Code != -1 {
		t.Errorf("check: %+v", check)
	}
}

type slow struct{ session.Provider }

func (slow) Patience(string) time.Duration { return time.Minute }

// An agent's last output is saved after its next session has started, unless that start is slow.
func TestCaptureDoesNotWaitForSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(p session.Provider) time.Duration {
			sr := &sessions{base: &base{w: World{Options: Options{Provider: p}}},
				starts: map[string]*starting{"a": {forked: make(chan struct{})}}}
			began := time.Now()
			sr.awaitStart(t.Context(), "a", "gc-a")
			return time.Since(began)
		}
		if got := waits(slow{}); got != 0 {
			t.Errorf("wait before a slow provider's start: got %s, want 0", got)
		}
		if got := waits(nil); got != captureYield {
			t.Errorf("wait before another provider's start: got %s, want %s", got, captureYield)
		}
	})
}

// platform is a provider in which each start waits until all starts have begun.
type platform struct {
	session.Provider
	begun sync.WaitGroup
}

func (p *platform) Start(ctx context.Context, _ session.Spec) (session.Status, error) {
	session.Progress(ctx, "waits for a node")
	p.begun.Done()
	p.begun.Wait()
	session.Progress(ctx, "is being prepared")
	return session.Status{}, nil
}

// Starts that wait for their platform do not delay other starts, and their progress is still reported.
func TestWaitingStartsNeedNoSlot(t *testing.T) {
	const n = 5
	p, ends := &platform{}, make(chan error, n)
	p.begun.Add(n)
	pace := &limitedProvider{Provider: p, slots: make(chan struct{}, 1), sessions: &sessions{}}
	var mu sync.Mutex
	reports := map[string]int{}
	ctx := session.WithProgress(t.Context(), func(why string) {
		mu.Lock()
		defer mu.Unlock()
		reports[why]++
	})
	for range n {
		go func() {
			_, err := pace.Start(ctx, session.Spec{})
			ends <- err
		}()
	}
	for range n {
		if err := eventually.Receive(t, "a start", ends); err != nil {
			t.Fatal(err)
		}
	}
	if reports["waits for a node"] != n || reports["is being prepared"] != n {
		t.Errorf("reports: %v", reports)
	}
	if len(pace.slots) != 0 {
		t.Errorf("got %d slots in use, want 0", len(pace.slots))
	}
}

// refuser is a provider whose calls fail with errors that name the session.
type refuser struct{ session.Provider }

var errRefused = errors.New("no terminal")

func (refuser) refuse(what, name string) error {
	return fmt.Errorf("cannot %s %q: %w", what, name, errRefused)
}

func (r refuser) Start(_ context.Context, s session.Spec) (session.Status, error) {
	return session.Status{}, r.refuse("start", s.Name)
}

func (r refuser) Stop(_ context.Context, name string, _ time.Duration) error {
	return r.refuse("stop", name)
}

func (r refuser) Send(_ context.Context, name, _ string) error { return r.refuse("send to", name) }

func (r refuser) Interrupt(_ context.Context, name string) error {
	return r.refuse("interrupt", name)
}

// Errors name the agent. Users do not know the name of its session.
func TestErrorsNameTheAgent(t *testing.T) {
	const name, of = "shop/bob", "gc-shop-bob"
	results := make(chan effect.Input, 4)
	r := New(World{Options: Options{Provider: refuser{}, Dir: t.TempDir(),
		ShutdownDeadline: shutdown.New(0)}, Inbox: results})
	defer r.Finish(false)
	w := &agent.Want{Name: name, Spec: session.Spec{Name: of, Agent: name, Dir: t.TempDir()}}
	for _, e := range []effect.Effect{
		effect.Start{Want: w}, effect.Stop{Agent: name, Session: of},
		effect.Send{Agent: name, Session: of},
		effect.Type{Agent: name, Session: of, Cmd: city.Interrupt{}},
	} {
		r.Run(e)
		var err error
		switch in := eventually.Receive(t, "the result", results).(type) {
		case effect.Started:
			err = in.Err
		case effect.Stopped:
			err = in.Err
		case effect.Sent:
			err = in.Err
		case effect.Typed:
			err = in.Err
		}
		if err == nil || !strings.Contains(err.Error(), `"shop/bob": no terminal`) ||
			strings.Contains(err.Error(), of) || !errors.Is(err, errRefused) {
			t.Errorf("%T: got %v", e, err)
		}
	}
}

// An effect that never ends does not block the exit of the controller.
func TestFinishAbandonsHungEffects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last, free, began := shutdown.New(effect.ShutdownLimit), make(chan struct{}), time.Now()
		r := New(World{Options: Options{Dir: t.TempDir(), ShutdownDeadline: last}})
		r.within(time.Second, func(context.Context) effect.Input { <-free; return nil })
		r.Finish(false)
		if took := time.Since(began); took != effect.ShutdownLimit {
			t.Errorf("Finish returned after %s", took)
		}
		if what := last.End(); !strings.Contains(what, "does not respond") {
			t.Errorf("abandoned: %q", what)
		}
		close(free)
	})
}

// After the clock was set back, the newest output of a crashed agent is kept, and is still the last in the list.
func TestOutputsOfCrashesAndTheClock(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range CrashFiles + 2 {
		at := now.Add(time.Hour + time.Duration(i)*time.Second)
		if i >= CrashFiles {
			at = at.Add(-time.Hour)
		}
		want := fmt.Sprintf("crash %d", i)
		file, err := keepCrash(dir, effect.Capture{Agent: "a", At: at}, []byte(want))
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		last, lastErr := LastOutput(dir, "a", 1)
		if string(data) != want || last != want {
			t.Errorf("saved %q, %v; the last output is %q, %v; want %q", data, err, last, lastErr,
				want)
		}
		files, err := CrashList(CrashDir(dir, "a"))
		if err != nil || len(files) != min(i+1, CrashFiles) {
			t.Errorf("got %d files, %v", len(files), err)
		}
	}
}

// A suspension that fails because the disk is full is not a conflict, and its error says how to freeze an agent.
func TestSuspensionOnAFullDisk(t *testing.T) {
	full := fmt.Errorf("cannot edit the configuration: %w", &os.PathError{Op: "write", Path: "city.toml", Err: syscall.ENOSPC})
	err := editError(effect.Edit{Agent: "a", On: true}, full)
	if !city.HasCode(err, city.Unavailable) || !strings.Contains(err.Error(), "no space left on device; meanwhile, `gcity agent kill") {
		t.Errorf("got %v", err)
	}
	if err := editError(effect.Edit{On: true}, os.ErrNotExist); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("another error: got %v", err)
	}
}
