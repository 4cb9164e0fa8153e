package sessiontest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
)

func typing(t *testing.T, h Harness) {
	p := h.New(t)
	start(t, h, p, "a")
	for _, text := range []string{"one line", "-n starts with a dash;", "ünïcödé ✓",
		"$(echo no) `no` 'quoted\""} {
		if h.ASCII != "" && strings.ContainsFunc(text, func(r rune) bool { return r > 127 }) {
			t.Logf("skipping %q: %s", text, h.ASCII)
			continue
		}
		if err := p.Send(t.Context(), "a", text); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		wait(t, "the text "+text, func() bool {
			out, err := p.Output(t.Context(), "a", 0)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains(out, text)
		})
	}
	if out, err := p.Output(t.Context(), "a", 1); err != nil || strings.Contains(out, "one line") {
		t.Errorf("last line: got %q, %v", out, err)
	}
}

func deadAcceptsNoInput(t *testing.T, h Harness) {
	p := h.New(t)
	check := func(when string) {
		t.Helper()
		if err := p.Send(t.Context(), "a", "x"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: send: %v", when, err)
		}
		if err := p.Interrupt(t.Context(), "a"); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s: interrupt: %v", when, err)
		}
		if m, ok := p.(session.Marker); ok {
			if err := m.SetMeta(t.Context(), "a", "K", "v"); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s: set-meta: %v", when, err)
			}
		}
		if k, ok := p.(session.Keyer); ok {
			if err := k.SendKeys(t.Context(), "a", "Enter"); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s: send-keys: %v", when, err)
			}
		}
	}
	check("never started")
	if _, err := p.Output(t.Context(), "a", 0); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("output: %v", err)
	}
	start(t, h, p, "a")
	h.Crash(t, p, "a")
	dead(t, p, "a")
	check("dead")
}

func marks(t *testing.T, h Harness) {
	p := h.New(t)
	m := optional[session.Marker](t, p, session.Marking)
	start(t, h, p, "a")
	for _, v := range []string{"1", "two words\nand a line", ""} {
		if err := m.SetMeta(t.Context(), "a", "GC_DRAIN", v); err != nil {
			t.Fatal(err)
		}
		if got, err := m.Meta(t.Context(), "a", "GC_DRAIN"); got != v || err != nil {
			t.Errorf("%q, %v; want %q", got, err, v)
		}
	}
}

func readyByMark(t *testing.T, h Harness) {
	p := h.New(t)
	m := optional[session.Marker](t, p, session.Marking)
	s := h.Spec(t, p, "a")
	s.Nudge = "a first nudge"
	st, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if all := list(t, p); st.Ready || all[0].Ready {
		t.Error("got a ready session before it was marked")
	}
	if err := m.SetMeta(t.Context(), "a", session.ReadyMark, "1"); err != nil {
		t.Fatal(err)
	}
	if all := list(t, p); !all[0].Ready {
		t.Error("got a session that is not ready after it was marked")
	}
}

func capture(t *testing.T, h Harness) {
	p := h.New(t)
	c := optional[session.Capturer](t, p, session.Capturing)
	var ids []string
	for i, word := range []string{"first", "second", "third"} {
		if i > 0 {
			h.Crash(t, p, "a")
			nextExit(t, p)
		}
		s, _ := start(t, h, p, "a")
		ids = append(ids, s.ID)
		Send(t, p, "a", word)
		wait(t, word, func() bool {
			out, err := c.Capture(t.Context(), "a", s.ID)
			return err == nil && strings.Contains(string(out), word)
		})
	}
	if out, err := c.Capture(t.Context(), "a", ids[1]); err != nil ||
		!strings.Contains(string(out), "second") {
		t.Errorf("output of the previous session: got %q, %v", out, err)
	}
	if out, err := c.Capture(t.Context(), "a", ids[0]); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("output of the session before that one: got %q, %v", out, err)
	}
}

func printed(t *testing.T, h Harness) {
	p := h.New(t)
	needs(t, p, session.CountingOutput)
	start(t, h, p, "a")
	count := func() uint64 {
		t.Helper()
		all, err := p.List(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		return all[0].Output
	}
	before := count()
	text := strings.Repeat("x", 500)
	Send(t, p, "a", text)
	wait(t, "the count of the echo", func() bool { return count() >= before+uint64(len(text)) })
	h.Crash(t, p, "a")
	nextExit(t, p)
	start(t, h, p, "a")
	wait(t, "a lower count for the next session", func() bool {
		return count() < uint64(len(text))
	})
}

func clearOutput(t *testing.T, h Harness) {
	p := h.New(t)
	c := optional[session.Clearer](t, p, session.Clearing)
	start(t, h, p, "a")
	Send(t, p, "a", "to be dropped")
	shown := func(text string) bool {
		out, err := p.Output(t.Context(), "a", 100)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(out, text)
	}
	wait(t, "the text", func() bool { return shown("to be dropped") })
	wait(t, "the clearing", func() bool {
		if err := c.Clear(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		return !shown("dropped")
	})
	Send(t, p, "a", "afterwards")
	wait(t, "the next text", func() bool { return shown("afterwards") })
}

func manyAtOnce(t *testing.T, h Harness) {
	p := h.New(t)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	var wg sync.WaitGroup
	for _, name := range names {
		s := h.Spec(t, p, name)
		wg.Go(func() {
			if _, err := p.Start(t.Context(), s); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all := list(t, p); len(all) != len(names) {
		t.Errorf("List: got %d of %d sessions", len(all), len(names))
	}
	for _, name := range names {
		wg.Go(func() {
			if err := p.Stop(t.Context(), name, time.Second); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, st := range list(t, p) {
		if st.Alive {
			t.Errorf("session %s is still alive", st.Name)
		}
	}
}

func readUntil(t *testing.T, term session.Terminal, text string) string {
	t.Helper()
	var all []byte
	found := make(chan bool, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 4096)
		for !strings.Contains(string(all), text) {
			n, err := term.Read(buf)
			all = append(all, buf[:n]...)
			if err != nil {
				found <- false
				return
			}
		}
		found <- true
	})
	select {
	case ok := <-found:
		if !ok {
			t.Fatalf("want %q before the end of the terminal, got %q", text, all)
		}
	case <-time.After(eventually.Timeout):
		term.Close()
		wg.Wait()
		t.Fatalf("want %q in the terminal in time, got %q", text, all)
	}
	return string(all)
}

func attach(t *testing.T, h Harness) {
	p := h.New(t)
	a := optional[session.Attacher](t, p, session.Attaching)
	start(t, h, p, "a")
	Send(t, p, "a", "before")
	term, err := a.Attach(t.Context(), "a", 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	readUntil(t, term, "before")
	if _, err := term.Write([]byte("typed\r")); err != nil {
		t.Fatal(err)
	}
	readUntil(t, term, "typed")
	wait(t, "an attached viewer and the time of its input", func() bool {
		st := list(t, p)[0]
		return st.Attached == 1 && !st.TypedAt.IsZero()
	})
	if err := term.Resize(90, 20); err != nil {
		t.Error(err)
	}
	if err := term.Close(); err != nil {
		t.Error(err)
	}
	wait(t, "the end of the attachment", func() bool { return list(t, p)[0].Attached == 0 })
	if term, err = a.Attach(t.Context(), "a", 80, 24); err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for err == nil {
		_, err = term.Read(buf)
	}
	if _, err := a.Attach(t.Context(), "a", 80, 24); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Attach to an ended session: got %v", err)
	}
}

func watch(t *testing.T, h Harness) {
	p := h.New(t)
	w := optional[session.Watcher](t, p, session.Watching)
	start(t, h, p, "a")
	Send(t, p, "a", "before")
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	var all strings.Builder
	first, sent := true, false
	for f, err := range w.Watch(ctx, "a") {
		if err != nil {
			t.Fatal(err)
		}
		if first && !f.Reset || f.Cols < 1 || f.Rows < 1 {
			t.Errorf("first %v: %+v", first, f)
		}
		if first = false; f.Reset {
			all.Reset()
		}
		all.Write(f.Data)
		if !sent && strings.Contains(all.String(), "before") {
			sent = true
			Send(t, p, "a", "after")
		}
		if strings.Contains(all.String(), "after") {
			break
		}
	}
	if !strings.Contains(all.String(), "after") {
		t.Fatalf("want \"after\", got %q", all.String())
	}
	for range w.Watch(ctx, "a") {
		if err := p.Stop(t.Context(), "a", 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range w.Watch(ctx, "no-such") {
		if !errors.Is(err, session.ErrNotFound) {
			t.Errorf("Watch of a missing session: got %v", err)
		}
	}
	if ctx.Err() != nil {
		t.Error("the watch did not end with the session")
	}
}
