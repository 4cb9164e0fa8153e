package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/fake"
)

func launchSpec(t *testing.T) session.Spec {
	t.Helper()
	return session.Spec{
		Name: "a", Agent: "a", City: "/city", ID: "id-1", Command: "cat", Dir: t.TempDir(),
		Env: []string{"PATH=" + os.Getenv("PATH"), "GC_SESSION_ID=id-1"},
	}
}

func isReady(t *testing.T, p session.Provider) bool {
	t.Helper()
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0].Ready && list[0].Alive
}

// The shell lines run in order, in the session's folder and with its environment. GC_RUN identifies their processes.
func TestLaunchOrder(t *testing.T) {
	p := fake.New()
	s := launchSpec(t)
	script := filepath.Join(t.TempDir(), "it's a script.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho script >>log\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.PreStart = []string{`echo "pre $GC_SESSION_ID $GC_RUN" >>log`, "echo two >>log"}
	s.Setup = []string{"echo setup >>log"}
	s.SetupScript = script
	s.Nudge = "first line"
	st, err := session.Launch(t.Context(), p, s, nil)
	if err != nil || !st.Ready || !isReady(t, p) {
		t.Fatalf("%+v, %v", st, err)
	}
	log, err := os.ReadFile(filepath.Join(s.Dir, "log"))
	if want := "pre id-1 /city:id-1\ntwo\nsetup\nscript\n"; err != nil || string(log) != want {
		t.Errorf("got %q, %v; want %q", log, err, want)
	}
	if out, _ := p.Output(t.Context(), "a", 0); out != "first line" {
		t.Errorf("typed: %q", out)
	}
}

// After a failure before the start, nothing has been started. After a later failure, nothing is left running.
func TestLaunchFailures(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*session.Spec)
		started int
		want    string
	}{
		"pre_start": {func(s *session.Spec) { s.PreStart = []string{"echo no such luck; exit 3"} }, 0, "exit code 3: no such luck"},
		"setup":     {func(s *session.Spec) { s.Setup = []string{"true", "exit 4"} }, 1, "session_setup"},
		"never ready": {func(s *session.Spec) {
			s.Ready = session.Ready{Prefix: "never> ", Deadline: 30 * time.Millisecond}
		}, 1, `no line on its screen began with "never> "`},
	} {
		t.Run(name, func(t *testing.T) {
			p := fake.New()
			s := launchSpec(t)
			c.change(&s)
			_, err := session.Launch(t.Context(), p, s, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error: %v", err)
			}
			if p.Started("a") != c.started {
				t.Errorf("started %d times", p.Started("a"))
			}
			list, err := p.List(t.Context())
			if err != nil || len(list) > 0 && list[0].Alive {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}

// counting counts the bytes that a session has printed, and the reads of its screen.
type counting struct {
	*fake.Provider
	reads int
}

func (c *counting) Look(ctx context.Context, name string) (session.Status, error) {
	st, err := c.Provider.Look(ctx, name)
	st.Output = 7
	return st, err
}

func (c *counting) Output(ctx context.Context, name string, lines int) (string, error) {
	c.reads++
	return c.Provider.Output(ctx, name, lines)
}

// While a program prints nothing, its screen is rarely read.
func TestLaunchReadsNewOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &counting{Provider: fake.New()}
		s := launchSpec(t)
		s.Ready = session.Ready{Prefix: "never> ", Deadline: 20 * time.Second}
		if _, err := session.Launch(t.Context(), p, s, nil); err == nil {
			t.Error("the start did not fail")
		}
		if p.reads < 5 || p.reads > 15 {
			t.Errorf("the screen was read %d times in 20 s", p.reads)
		}
	})
}

// The prompt is found even if the screen does not show its trailing space. A crash ends the wait.
func TestLaunchWaitsForPrompt(t *testing.T) {
	p := fake.New()
	s := launchSpec(t)
	s.Ready = session.Ready{Prefix: "> "}
	done := make(chan error)
	launch := func() { _, err := session.Launch(context.Background(), p, s, nil); done <- err }
	go launch()
	eventually.True(t, "the start of the agent", func() bool { return p.Started("a") > 0 })
	if isReady(t, p) {
		t.Error("ready before its prompt appeared")
	}
	eventually.True(t, "the agent accepts input", func() bool { return p.Send(t.Context(), "a", ">") == nil })
	if err := <-done; err != nil || !isReady(t, p) {
		t.Errorf("%v", err)
	}
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	s.ID, s.Ready.Prefix = "id-2", "never"
	go launch()
	eventually.True(t, "the crash", func() bool { return p.Crash("a", 7, "") })
	if err := <-done; err == nil || !strings.Contains(err.Error(), "code 7 before it was ready") {
		t.Errorf("%v", err)
	}
}

// leaving is a provider whose controller leaves after the first nudge was typed, before the session is marked as ready.
type leaving struct {
	*fake.Provider
	leave context.CancelCauseFunc
}

func (p leaving) SetMeta(ctx context.Context, name, key, value string) error {
	if key == session.ReadyMark {
		p.leave(session.ErrLeave)
		return context.Cause(ctx)
	}
	return p.Provider.SetMeta(ctx, name, key, value)
}

// If a controller ends after it has typed the first nudge, the next one does not type it again.
func TestNudgeIsTypedOnce(t *testing.T) {
	p, s := fake.New(), launchSpec(t)
	s.Nudge = "first line"
	ctx, leave := context.WithCancelCause(t.Context())
	if _, err := session.Launch(ctx, leaving{p, leave}, s, nil); err == nil || isReady(t, p) {
		t.Fatalf("Launch: %v, ready: %t", err, isReady(t, p))
	}
	problem, err := session.Settle(t.Context(), p, s)
	if err != nil || !strings.Contains(problem, "was not typed again") ||
		!strings.HasSuffix(problem, "run `gcity agent restart a`") || !isReady(t, p) {
		t.Errorf("%q, %v", problem, err)
	}
	if out, _ := p.Output(t.Context(), "a", 0); out != "first line" {
		t.Errorf("typed: %q", out)
	}
	// a nudge that was not typed yet is typed
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	s.ID = "id-2"
	if _, err := p.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	problem, err = session.Settle(t.Context(), p, s)
	if err != nil || problem != "" || !isReady(t, p) {
		t.Errorf("%q, %v", problem, err)
	}
	if out, _ := p.Output(t.Context(), "a", 0); out != "first line" {
		t.Errorf("typed into the second session: %q", out)
	}
}

// A slow start reports what it is waiting for (L14). A fast one does not.
func TestSlowLaunchReportsReason(t *testing.T) {
	const line = `waits for a line on its screen that begins with "> "`
	for want, ready := range map[string]session.Ready{
		line + "; the start fails after 1m without one": {Prefix: "> "},
		line + ", for at most 5s|has printed nothing yet; counts as ready after 1m5s at the latest": {
			Prefix: "> ", Delay: 5 * time.Second},
		"counts as ready 5s after it starts": {Delay: 5 * time.Second},
		"":                                   {Delay: time.Second},
	} {
		s := launchSpec(t)
		s.Ready = ready
		synctest.Test(t, func(t *testing.T) {
			var waits []string
			ctx := session.WithProgress(t.Context(), func(why string) { waits = append(waits, why) })
			_, err := session.Launch(ctx, fake.New(), s, nil)
			if got := strings.Join(waits, "|"); got != want || (err != nil) != (ready.Delay == 0) {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

// A prompt is recognized behind blanks or a frame, and with a no-break space.
func TestPromptForms(t *testing.T) {
	for _, c := range []struct {
		prefix, screen string
		delay          time.Duration // until the session is ready
	}{
		{"❯ ", "────\n❯\u00a0Try \"edit it\"\n────", 0},
		{"* ", " *   Type your message or @path/to/file", 0},
		{"▣ ", "  ┃  go on\n  ┃\n     ▣  Build · Fast\n  ┃\n  ┃\n  ┃  Build · Fast Ours\n  ╹▀▀▀", 0},
		{"❯ ", " /src/shop [⎇ main]\n───\n❯\n───\n ← open sidebar · Interactive", 0},
		{"│ > ", "│ >", 0},
		{"$ ", "$HOME is read-only", time.Minute},
		{"$ ", "it costs $ 5", time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := &stage{Provider: fake.New(), scenes: []scene{{c.screen, "", 0}}}
			s := session.Spec{Name: "a", Agent: "a", ID: "1",
				Ready: session.Ready{Prefix: c.prefix, Delay: time.Minute}}
			began := time.Now()
			_, err := session.Launch(t.Context(), p, s, nil)
			if took := time.Since(began); err != nil || took != c.delay {
				t.Errorf("%q on %q: ready after %s, %v", c.prefix, c.screen, took, err)
			}
		})
	}
}
