package holder

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
	"gcity/session/pty/internal/wire"
)

// For writes of any size, the ring keeps the newest bytes. Positions count all bytes.
func FuzzRing(f *testing.F) {
	f.Add([]byte("hello"), 3, 7)
	f.Add(bytes.Repeat([]byte("0123456789"), 3000), 1000, 2)
	f.Fuzz(func(t *testing.T, data []byte, piece, times int) {
		piece, times = max(1, piece%5000), max(1, times%8)
		r := ring{max: 8 << 10}
		var all []byte
		for range times {
			for rest := data; len(rest) > 0; {
				n := min(piece, len(rest))
				r.Write(rest[:n])
				all = append(all, rest[:n]...)
				rest = rest[n:]
			}
		}
		kept := r.bytes()
		if r.end != uint64(len(all)) || !bytes.HasSuffix(all, kept) || len(kept) > r.max {
			t.Fatalf("end: got %d of %d, kept %d", r.end, len(all), len(kept))
		}
		if want := min(len(all), r.max); len(kept) < want {
			t.Fatalf("kept %d, want %d", len(kept), want)
		}
		if from := r.safeStart(true); from < r.start || from > r.end {
			t.Fatalf("safe start %d is outside %d..%d", from, r.start, r.end)
		}
	})
}

func TestSafeStart(t *testing.T) {
	r := ring{max: 16}
	r.Write([]byte(strings.Repeat("x", 20) + "31mab\ncd\x1b[0m"))
	if got := string(r.bytes()[r.safeStart(true)-r.start:]); got != "cd\x1b[0m" {
		t.Errorf("starts at %q", got)
	}
	r.clear()
	if r.start != r.end || len(r.bytes()) != 0 {
		t.Error("clear left bytes in the ring")
	}
}

func TestModes(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "",
		"\x1b[?2004h":                       "\x1b[?2004h",
		"\x1b[?2004h text \x1b[?2004l":      "",
		"\x1b[?1;25;1049h":                  "\x1b[?1h\x1b[?1049h",
		"\x1b[?25l\x1b[?7l":                 "\x1b[?7l\x1b[?25l",
		"\x1b[?2004h\x1bc":                  "",
		"\x1b[2004h":                        "", // without "?", this is not a private mode
		"\x1b[?2004$p":                      "", // a query, not a change
		"\x1b[?20\x1b[?1h":                  "\x1b[?1h",
		"\x1b[?20\x1804h":                   "",
		"\x1b[?99999999999999999999;1000h":  "\x1b[?1000h",
		"\x1b=\x1b[?1006h":                  "\x1b[?1006h\x1b=",
		"\x1b[?2031;2048;1016h":             "\x1b[?1016h\x1b[?2031h\x1b[?2048h",
		"\x1b[>4;2m\x1b[>1;1m\x1b[6 q":      "\x1b[>4;2m\x1b[6 q",
		"\x1b[>4;2m\x1b[>4m\x1b[2 q\x1b[ q": "",
		"\x1b[>4;2m\x1b[2 q\x1bc":           "",
	} {
		var m modes
		m.Write([]byte(in))
		if got := string(m.restore()); got != want {
			t.Errorf("%q leaves %q, want %q", in, got, want)
		}
	}
}

func TestKeyboardFlags(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "",
		"\x1b[>1u":                               "\x1b[<9u\x1b[>1u",
		"\x1b[>1u\x1b[>5u":                       "\x1b[<9u\x1b[>1u\x1b[>5u",
		"\x1b[>1u\x1b[<u":                        "\x1b[<9u",
		"\x1b[=5u\x1b[>1u\x1b[=4;2u":             "\x1b[<9u\x1b[=5u\x1b[>5u",
		"\x1b[=7u\x1b[=2;3u\x1b[?u\x1b[5u":       "\x1b[<9u\x1b[=5u",
		"\x1b[=5u\x1b[>1u\x1b[<9u":               "\x1b[<9u",
		"\x1b[>1u\x1b[?1049h":                    "",
		"\x1b[>1u\x1b[?1049h\x1b[>3u":            "\x1b[<9u\x1b[>3u",
		"\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[?1049l": "\x1b[<9u\x1b[>1u",
		"\x1b[>1u\x1bc":                          "\x1b[<9u",
		strings.Repeat("\x1b[>1u", 20):           "\x1b[<9u\x1b[=1u" + strings.Repeat("\x1b[>1u", 7),
	} {
		var m modes
		m.Write([]byte(in))
		if got := string(m.screenKeys().restore()); got != want {
			t.Errorf("%q leaves %q, want %q", in, got, want)
		}
	}
}

// The modes do not depend on where the stream is split.
func FuzzModes(f *testing.F) {
	f.Add([]byte("a\x1b[?2004;1hb\x1b[?25l\x1b=\x1b]0;x\x07\x1b[?1049"), 3)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		var whole, pieces, again modes
		whole.Write(in)
		cut = max(1, cut%7)
		for rest := in; len(rest) > 0; {
			n := min(cut, len(rest))
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		if whole != pieces {
			t.Errorf("%q: got %+v; in pieces of %d bytes %+v", in, whole, cut, pieces)
		}
		again.Write(whole.restore())
		again.Write(whole.screenKeys().restore())
		if again.on != whole.on || again.keypad != whole.keypad || again.otherKeys != whole.otherKeys ||
			again.cursorShape != whole.cursorShape || !slices.Equal(effective(again), effective(whole)) {
			t.Errorf("%q: the modes are not restored by %q", in, whole.restore())
		}
	})
}

func effective(m modes) []uint8 {
	k := m.screenKeys()
	return k.flags[:k.top+1]
}

func TestKeys(t *testing.T) {
	for key, want := range map[string]string{
		"Enter": "\r", "Tab": "\t", "BTab": "\x1b[Z", "Escape": "\x1b", "Space": " ", "BSpace": "\x7f",
		"Up": "\x1b[A", "Home": "\x1b[H", "End": "\x1b[F", "PageUp": "\x1b[5~", "Delete": "\x1b[3~",
		"F1": "\x1bOP", "F5": "\x1b[15~", "F12": "\x1b[24~",
		"C-a": "\x01", "C-c": "\x03", "C-[": "\x1b", "C-Space": "\x00", "C-?": "\x7f",
		"M-x": "\x1bx", "M-Up": "\x1b\x1b[A", "M-C-a": "\x1b\x01", "C-": "C-", "M-": "M-",
		"plain text": "plain text", "F13": "F13", "ü": "ü",
	} {
		if got := encodeKey(key, false); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := encodeKey("Up", true); got != "\x1bOA" {
		t.Errorf("Up with application cursor keys: got %q", got)
	}
}

// A client that connects and disconnects before the first session has no effect.
func TestDisconnectBeforeStart(t *testing.T) {
	h := &holder{held: map[*conn]bool{}}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	c, err := newConn(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	h.hangUp(c)
	if h.leaving {
		t.Error("the holder exits")
	}
}

// A new connection, an acknowledgement and SIGTERM wait for a start in progress, and then apply to the new session.
func TestStartInProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	h := &holder{held: map[*conn]bool{}, tasks: make(chan func()), done: make(chan struct{})}
	h.current = &life{rec: wire.Record{ID: "old"}, exit: &wire.Exit{ID: "old"}}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	client, err := newConn(fds[1])
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := newConn(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	// a stop is in progress, so SIGTERM only waits for its end
	next := &life{rec: wire.Record{ID: "new"}, ended: make(chan struct{}), stopping: &stopping{}}
	begun := func(what string, call func()) {
		t.Helper()
		h.current = &life{rec: wire.Record{ID: "old"}, exit: &wire.Exit{ID: "old"}}
		go call()
		task := eventually.Receive(t, what+" waits for the main goroutine", h.tasks)
		h.current = next
		task()
	}
	begun("an acknowledgement", func() { _ = h.handleAck(c, "old") })
	if next.acked {
		t.Error("the new session is acknowledged")
	}
	if m, err := client.r.Next(); err != nil || m.Kind != wire.Done {
		t.Errorf("acknowledgement: got %+v, %v", m, err)
	}
	begun("a connection", func() { _ = h.handleHold(c, false) })
	m, err := client.r.Next()
	if err != nil || !strings.Contains(string(m.Data), `"new"`) {
		t.Errorf("connection: got %s, %v, want the state of the new session", m.Data, err)
	}
	begun("SIGTERM", h.terminate)
	h.mu.Lock()
	leaving := h.leaving
	next.exit, next.acked = &wire.Exit{ID: "new"}, true
	h.mu.Unlock()
	if leaving {
		t.Error("the holder exits while the new session is alive")
	}
	close(next.ended)
	eventually.Receive(t, "SIGTERM waits again", h.tasks)()
	eventually.Receive(t, "the exit of the holder", h.done)
}

// A start waits until the stop of the previous session sends no more signals, which could end the new session.
func TestStartWaitsForStop(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	c, err := newConn(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	synctest.Test(t, func(t *testing.T) {
		over, answered := make(chan struct{}), make(chan struct{})
		h := &holder{done: make(chan struct{})}
		h.current = &life{exit: &wire.Exit{}, stopping: &stopping{over: over}}
		close(h.done) // the start fails when it has waited
		go func() {
			defer close(answered)
			_ = h.handleStart(c, &wire.Request{Spec: &wire.Spec{}})
		}()
		synctest.Wait()
		select {
		case <-answered:
			t.Error("the start did not wait")
		default:
		}
		close(over)
		<-answered
	})
}

// The holder saves an exit if a connected controller does not record it in time, or disconnects before it does. The saved
// exit survives a second reason to save it, but not a failed write.
func TestUnacknowledgedExitIsSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	saved := func() bool { _, err := os.Stat(wire.ExitFile); return err == nil }
	open := func(after time.Duration) (*holder, *conn) {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fds[1]) })
		c, err := newConn(fds[0])
		if err != nil {
			t.Fatal(err)
		}
		h := &holder{held: map[*conn]bool{c: true}, saveExitAfter: after}
		h.current = &life{exit: &wire.Exit{Name: "a", ID: "1", Code: 9}}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.reportExit(h.current)
		if after > 0 && saved() {
			t.Error("the exit is saved before the controller could record it")
		}
		return h, c
	}
	open(0)
	if !eventually.Poll(saved) {
		t.Fatal("the exit is not saved although the controller does not record it")
	}
	if err := remove(wire.ExitFile); err != nil {
		t.Fatal(err)
	}
	h, c := open(time.Hour)
	if err := os.Mkdir(wire.NewFile(wire.ExitFile), 0o700); err != nil { // the first write fails
		t.Fatal(err)
	}
	h.hangUp(c)
	if saved() {
		t.Error("got a saved exit from a failed write")
	}
	if err := os.Remove(wire.NewFile(wire.ExitFile)); err != nil {
		t.Fatal(err)
	}
	h.hangUp(c)
	if !saved() {
		t.Error("the exit is not saved after the controller has disconnected")
	}
}

// Each line feed gets exactly one carriage return, however the output is split.
func FuzzLineEnds(f *testing.F) {
	f.Add("a\nb\r\nc\r", "\n\n", 3)
	f.Fuzz(func(t *testing.T, a, b string, cut int) {
		text := a + b
		cut = max(0, min(cut, len(text)))
		whole, parts := lineEnds{}, lineEnds{}
		want := string(whole.terminal([]byte(text)))
		got := string(parts.terminal([]byte(text[:cut]))) + string(parts.terminal(nil)) + string(parts.terminal([]byte(text[cut:])))
		if got != want {
			t.Errorf("%q in two pieces: got %q, want %q", text, got, want)
		}
		if strings.ReplaceAll(want, "\r\n", "\n") != strings.ReplaceAll(text, "\r\n", "\n") || strings.Count(want, "\n") != strings.Count(want, "\r\n") {
			t.Errorf("%q becomes %q", text, want)
		}
	})
}
