package pty

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/session/pty/internal/wire"
)

// An attached terminal survives an agent that does not read its input for longer than the holder's time limit for a write.
// All input arrives.
func TestInputOutlivesStall(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	got := filepath.Join(city, "got")
	start(t, p, spec(city, "a", "stty raw -echo; echo up; sleep 6; exec cat >"+got))
	shows(t, p, "a", "up")
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	text := "\x1b[200~" + strings.Repeat("a line that was pasted\r", 40<<10/23) + "\x1b[201~"
	if _, err := term.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	var data []byte
	until(t, "the whole text", func() bool {
		data, _ = os.ReadFile(got)
		return len(data) >= len(text)
	})
	if string(data) != text {
		t.Errorf("%d bytes arrived, want %d", len(data), len(text))
	}
	if _, err := term.Write([]byte("more")); err != nil {
		t.Errorf("the terminal was detached: %v", err)
	}
}

// An attached terminal that does not read for longer than the holder's time limit for a write gets the newest output later.
func TestOutputOutlivesStall(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	late := filepath.Join(city, "late")
	start(t, p, spec(city, "a", "read x; yes flood | head -c 2000000; sleep 6; echo >"+late+"; echo newest; exec cat"))
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.Write([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the flood", func() bool {
		_, err := os.Stat(late)
		return err == nil
	})
	seen, buf := []byte(nil), make([]byte, 64<<10)
	for !bytes.Contains(seen, []byte("newest")) {
		n, err := term.Read(buf)
		seen = append(seen, buf[:n]...)
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(seen), err)
		}
	}
}

// The time limit of earlier input does not apply to a new size.
func TestResizeLongAfterInput(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "stty -echo; while read x; do stty size; done"))
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	term.(*terminal).conn.SetWriteDeadline(time.Unix(1, 0)) // as if the input was long ago
	if err := term.Resize(91, 33); err != nil {
		t.Fatal(err)
	}
	if _, err := term.Write([]byte("\r")); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "33 91")
}

// If the connection breaks within a message, Read does not report that the session has ended.
func TestTornMessage(t *testing.T) {
	conn, holder := connected(t)
	if _, err := holder.Write(wire.AppendMessage(nil, wire.Output, []byte("half"))[:7]); err != nil {
		t.Fatal(err)
	}
	holder.Close()
	term := &terminal{name: "a", conn: conn, r: wire.NewReader(conn)}
	if _, err := term.Read(make([]byte, 9)); err == nil || !strings.Contains(err.Error(), "connection to its holder was lost") {
		t.Errorf("got %v", err)
	}
}

// After a clear, a watcher drops the old output at once, an attached terminal keeps its screen, and the retained output
// begins with the first line after the clear.
func TestClearWithViewers(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "stty -echo; echo before; read x; echo first; read x; echo second; exec cat"))
	shows(t, p, "a", "before")
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	next, stop := pull(t, p, "a")
	defer stop()
	for seen := ""; !strings.Contains(seen, "before"); seen += string(next().Data) {
	}
	if err := p.Clear(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	for !next().Reset { // the size of the attached terminal may come first
	}
	if err := p.SendKeys(t.Context(), "a", "Enter", "Enter"); err != nil {
		t.Fatal(err)
	}
	seen, buf := "", make([]byte, 1<<10)
	for !strings.Contains(seen, "second") {
		n, err := term.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(buf[:n])
	}
	if strings.Contains(seen, clearTerminal) {
		t.Errorf("the screen was cleared: %q", seen)
	}
	shows(t, p, "a", "first\nsecond")
	if out, err := p.Output(t.Context(), "a", 9); err != nil || strings.Contains(out, "before") {
		t.Errorf("got %q, %v", out, err)
	}
}

// A terminal that attaches after the sequence was dropped from the retained output gets the program's keyboard protocol.
func TestKeyboardProtocolAfterLongOutput(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `printf '\033[>1u\033[>4;2m\033[4 q'; yes line | head -c 300000; echo newest; exec cat`))
	shows(t, p, "a", "newest")
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	seen, buf := "", make([]byte, 64<<10)
	for want := "\x1b[<9u\x1b[>1u"; !strings.HasSuffix(seen, want); {
		n, err := term.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen += string(buf[:n])
	}
	if head, _, _ := strings.Cut(seen, "line"); !strings.Contains(head, "\x1b[>4;2m\x1b[4 q") {
		t.Errorf("the replay begins with %q", head)
	}
}

// While no user is attached, the holder replies to the queries that programs send at startup, in their order. While a
// user is attached, the user's terminal replies. A program that reads whole lines gets no reply.
func TestQueries(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	got := filepath.Join(city, "got")
	start(t, p, spec(city, "a", `stty -echo; printf '\033[c\033[6nlines'; read x; echo "${#x} bytes"; stty raw
printf '\033[6n\033[5n\033[6n\033[?6n\033[>c\033[c'; head -c 25 >`+got+`; printf up
head -c 1 >/dev/null; printf '\033[cagain'; exec cat >`+got))
	shows(t, p, "a", "lines")
	if err := p.SendKeys(t.Context(), "a", "Enter"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "up")
	shows(t, p, "a", "0 bytes") // the line contains no reply
	if data, err := os.ReadFile(got); err != nil ||
		string(data) != "\x1b[1;1R\x1b[0n\x1b[1;1R\x1b[?62;22c" {
		t.Errorf("got %q, %v", data, err)
	}
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if _, err := term.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "again")
	if _, err := term.Write([]byte("typed")); err != nil {
		t.Fatal(err)
	}
	until(t, "the text", func() bool {
		data, _ := os.ReadFile(got)
		return bytes.HasSuffix(data, []byte("typed"))
	})
	if data, _ := os.ReadFile(got); string(data) != "typed" {
		t.Errorf("while a user is attached: got %q", data)
	}
}

// Input that the holder has received reaches the agent even if the viewer detaches before the agent reads it. If the
// viewer has sent only part of a paste, the holder ends the paste. Input of a later viewer follows.
func TestInputOutlivesDetach(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	const begin, end = "\x1b[200~", "\x1b[201~"
	lines := strings.Repeat("a line that was pasted\r", 40<<10/23)
	for name, c := range map[string]struct{ typed, want string }{
		"whole": {begin + lines + end + "x", begin + lines + end + "xnext"},
		"part":  {begin + lines + end[:3], begin + lines + end[:3] + end + "next"},
	} {
		got, gate := filepath.Join(city, name), filepath.Join(city, name+".gate")
		if err := syscall.Mkfifo(gate, 0o600); err != nil {
			t.Fatal(err)
		}
		start(t, p, spec(city, name, "stty raw -echo; echo up; read x <"+gate+"; exec cat >"+got))
		shows(t, p, name, "up")
		term, err := p.Attach(t.Context(), name, 80, 24)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := term.Write([]byte(c.typed)); err != nil {
			t.Fatal(err)
		}
		term.Close()
		until(t, "the end of the viewer", func() bool {
			st, err := p.Look(t.Context(), name)
			return err == nil && st.Attached == 0
		})
		next, err := p.Attach(t.Context(), name, 80, 24)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := next.Write([]byte("next")); err != nil {
			t.Fatal(err)
		}
		next.Close()
		if err := os.WriteFile(gate, []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
		var data []byte
		until(t, "the whole text", func() bool {
			data, _ = os.ReadFile(got)
			return len(data) >= len(c.want)
		})
		if string(data) != c.want {
			t.Errorf("%s: %d bytes arrived, want %d; they end with %q", name, len(data), len(c.want), data[max(0, len(data)-20):])
		}
	}
}

// Output that a viewer no longer reads does not discard the viewer's input.
func TestOutputAfterDetach(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	got := filepath.Join(city, "got")
	start(t, p, spec(city, "a", "stty raw -echo; echo up; exec tee "+got))
	shows(t, p, "a", "up")
	text := strings.Repeat("a line that was typed\r", 100<<10/22)
	term, err := p.Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := term.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	term.Close()
	until(t, "the whole text", func() bool {
		data, _ := os.ReadFile(got)
		return string(data) == text
	})
}

// The holder keeps the input of a limited number of detached viewers.
func TestInputOfManyDetachedViewers(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", "stty raw -echo; echo up; exec sleep 1000"))
	shows(t, p, "a", "up")
	open := func() int {
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", holderOf(t, p, "a")))
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	before := open()
	const limit, more = 64, 8
	for i := range limit + more {
		term, err := p.Attach(t.Context(), "a", 80, 24)
		if err != nil {
			t.Fatal(err)
		}
		text := "x"
		if i == 0 {
			text = strings.Repeat("more than the terminal's buffer", 1000)
		}
		if _, err := term.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := term.Close(); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "input to be dropped", func() bool { return open() <= before+limit })
}
