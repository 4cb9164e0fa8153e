package pty

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
)

// A large text is rejected while a viewer's draft is on the line. Without the draft, it arrives completely.
func TestLargeTextAfterDraft(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	got := filepath.Join(city, "got")
	text := "-n begins; with a dash\n" + strings.Repeat("a line of many, with ünïcödé\n", 1<<20/32) + strings.Repeat("x", 100<<10) + " and ends in a semicolon;"
	const typed = "half a line\x15"
	start(t, p, spec(city, "a", "stty raw -echo; echo up; exec cat >"+got))
	shows(t, p, "a", "up")
	term, err := p.Attach(t.Context(), "a", 90, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	half, _, _ := strings.Cut(typed, "\x15")
	if _, err := term.Write([]byte(half)); err != nil {
		t.Fatal(err)
	}
	drafted := func(want bool) {
		t.Helper()
		until(t, "the draft", func() bool {
			st, err := p.Look(t.Context(), "a")
			return err == nil && st.Draft == want && st.Attached == 1
		})
	}
	drafted(true)
	if err := p.SendPolitely(t.Context(), "a", text, time.Nanosecond); !errors.Is(err, session.ErrBusy) || !strings.Contains(err.Error(), "draft") {
		t.Errorf("SendPolitely while there is a draft: got %v", err)
	}
	if _, err := term.Write([]byte("\x15")); err != nil {
		t.Fatal(err)
	}
	drafted(false)
	if err := p.SendPolitely(t.Context(), "a", text, time.Nanosecond); err != nil {
		t.Fatal(err)
	}
	var data []byte
	until(t, "the whole text", func() bool {
		data, _ = os.ReadFile(got)
		return len(data) >= len(typed)+len(text)+1
	})
	if want := typed + text + "\r"; !bytes.Equal(data, []byte(want)) {
		t.Errorf("%d bytes arrived, want %d", len(data), len(want))
	}
}

// A provider that adopts a session also finds its draft. A new session has no draft.
func TestDraftOutlivesProvider(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "exec cat")
	start(t, p, s)
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := term.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	seen := func(p *Provider, want bool) {
		t.Helper()
		until(t, "the draft", func() bool {
			st, err := p.Look(t.Context(), "a")
			return err == nil && st.Draft == want
		})
	}
	seen(p, true)
	term.Close()
	p.Close()
	next := newProvider(t, city)
	seen(next, true)
	if err := next.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := next.Acknowledge(t.Context(), "a", s.ID); err != nil {
		t.Fatal(err)
	}
	start(t, next, spec(city, "a", "exec cat"))
	seen(next, false)
}

// Text that was accepted only in part counts as a draft. Its paste ends before any other input.
func TestPartlyAcceptedText(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	got, gate := filepath.Join(city, "got"), filepath.Join(city, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, p, spec(city, "a", `stty raw -echo; printf '\033[?2004hup'; read x <`+gate+`; exec cat >`+got))
	shows(t, p, "a", "up")
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout) // the rejection takes seconds
	defer cancel()
	if err := p.Send(ctx, "a", strings.Repeat("a line of many\n", 40<<10/15)); !errors.Is(err, session.ErrRejected) {
		t.Fatalf("got %v", err)
	}
	if st, err := p.Look(t.Context(), "a"); err != nil || !st.Draft {
		t.Errorf("draft: got %+v, %v", st, err)
	}
	if err := p.SendPolitely(t.Context(), "a", "another text", time.Nanosecond); !errors.Is(err, session.ErrBusy) {
		t.Errorf("SendPolitely: got %v", err)
	}
	if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
		t.Fatal(err)
	}
	if err := p.SendKeys(t.Context(), "a", "x"); err != nil {
		t.Fatal(err)
	}
	until(t, "the key", func() bool {
		data, _ := os.ReadFile(got)
		return bytes.HasPrefix(data, []byte("\x1b[200~a line")) && bytes.HasSuffix(data, []byte("\x1b[201~x"))
	})
}
