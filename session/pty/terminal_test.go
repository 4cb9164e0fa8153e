package pty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/sessiontest"
)

// Any text arrives once, byte for byte. A program that reads lines gets the lines.
func TestSendIsExact(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	long := strings.Repeat("x", 4095)
	for i, text := range []string{
		"ends in a semicolon;", "-n", "#(touch x) `y` $(z) %d \\n", "ünïcödé ✓ 你好 👩‍👩‍👧", "two\nlines", "tab\there", "",
		long, long + "\n" + long, strings.Repeat("a line of many\n", 20000),
	} {
		got := filepath.Join(city, "got"+strconv.Itoa(i))
		start(t, p, spec(city, "a", "stty -echo; echo up; cat >"+got))
		shows(t, p, "a", "up")
		if err := p.Send(t.Context(), "a", text); err != nil {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		if err := p.SendKeys(t.Context(), "a", "C-d"); err != nil {
			t.Error(err)
		}
		nextExit(t, p)
		if data, err := os.ReadFile(got); err != nil || string(data) != text+"\n" {
			t.Errorf("sent %d bytes, got %d, %v", len(text)+1, len(data), err)
		}
	}
}

// Enter follows the text after a pause. Without it, some programs take Enter for a newline of pasted text.
func TestEnterIsNotPartOfPaste(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `stty raw -echo; printf '\033[?2004hup'; exec cat >/dev/null`))
	shows(t, p, "a", "up")
	began := time.Now()
	if err := p.Send(t.Context(), "a", "run the tests"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 150*time.Millisecond {
		t.Errorf("pressed Enter within %s", took)
	}
}

// Send rejects control characters, a line that the kernel would truncate, and input that the program does not read.
func TestRejectedText(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "line", "stty -echo; echo up; exec cat >/dev/null"))
	start(t, p, spec(city, "raw", "stty raw -echo; echo up; exec sleep 1000"))
	shows(t, p, "line", "up")
	shows(t, p, "raw", "up")
	for _, c := range []struct{ name, text, why string }{
		{"line", strings.Repeat("x", 4096), "4096 bytes after 4095"},
		{"line", "interrupt\x03me", "control character 0x03"},
		{"line", "end of \x1b[201~ paste", "control character 0x1b"},
		{"raw", strings.Repeat("x", 1<<20), "stopped reading"},
	} {
		// rejecting unread input takes seconds
		ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
		err := p.Send(ctx, c.name, c.text)
		cancel()
		if !errors.Is(err, session.ErrRejected) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s, %d bytes: got %v", c.name, len(c.text), err)
		}
	}
	if err := p.Stop(t.Context(), "raw", 100*time.Millisecond); err != nil {
		t.Error(err)
	}
}

// Text is sent as a bracketed paste only while the program has enabled that mode.
func TestBracketedPaste(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `exec python3 -c '
import os, time, tty
tty.setraw(0)
os.write(1, b"\033[?20"); os.write(1, b"04hup\r\n")
while True:
    data = os.read(0, 65536)
    os.write(1, b"\033[5nsilent\r\n" if b"mute" in data else repr(data).encode() + b"\r\n")
    if b"off" in data: os.write(1, b"\033[?25l\033[?1;2004l")
    if b"busy" in data: time.sleep(0.7) # the time in which a busy program does not read
'`))
	shows(t, p, "a", "up")
	for _, text := range []string{"busy", "next"} {
		if err := p.Send(t.Context(), "a", text); err != nil {
			t.Fatal(err)
		}
	}
	shows(t, p, "a", `b'\x1b[200~busy\x1b[201~'`+"\nb'\\r'\n"+`b'\x1b[200~next\x1b[201~'`+"\nb'\\r'")
	// Interrupt waits until a text is submitted, also if the program does not show it
	sent := make(chan error, 1)
	go func() { sent <- p.Send(t.Context(), "a", "mute") }()
	shows(t, p, "a", "silent")
	if err := errors.Join(p.Interrupt(t.Context(), "a"), <-sent); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", `\x03`)
	shows(t, p, "a", `\x1b[0n`) // the reply to its query
	// the program reads Escape by itself, also if it is busy and another text follows
	for _, keys := range [][]string{{"busy"}, {"Escape"}, {"y"}} {
		if err := p.SendKeys(t.Context(), "a", keys...); err != nil {
			t.Fatal(err)
		}
		if keys[0] == "busy" {
			shows(t, p, "a", "b'busy'")
		}
	}
	shows(t, p, "a", "b'\\x1b'\nb'y'")
	for _, c := range []struct{ text, want string }{
		{"one\ntwo", `b'\x1b[200~one\ntwo\x1b[201~'` + "\n" + `b'\r'`},
		{"see @a.go", `b'\x1b[200~see @a.go \x1b[201~'` + "\n" + `b'\r'`},
		{"off", `b'\x1b[200~off\x1b[201~'` + "\n" + `b'\r'`},
		{"plain\n@x", `b'plain\n@x'` + "\n" + `b'\r'`},
	} {
		if err := p.Send(t.Context(), "a", c.text); err != nil {
			t.Fatal(err)
		}
		shows(t, p, "a", c.want)
	}
	if err := p.SendKeys(t.Context(), "a", "Up", "C-c", "M-x", "F5", "Enter", "text"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", `b'\x1b[A\x03\x1bx\x1b[15~\rtext'`)
	if err := p.SendKeys(t.Context(), "a", "x", "Escape", "Escape", "y"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "b'x\\x1b'\nb'\\x1b'\nb'y'")
	// the program reads individual keys, so Interrupt types the key
	if err := p.Interrupt(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", `b'\x03'`)
}

// The agent gets its own environment and nothing else, a controlling terminal of its size, and default signal handling.
func TestEnvironmentOfTheAgent(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	s := spec(city, "a", "tty; stty size; echo; ps -o tpgid=,pgid=,sid= -p $$; env | grep -v ^_= | sort; grep -E 'flags' /proc/$$/fdinfo/0; grep Sig[BI] /proc/self/status; echo end; read x")
	s.Env = []string{"PATH=/usr/bin:/bin", "GC_SESSION_ID=" + s.ID}
	s.Cols, s.Rows = 101, 33
	st := start(t, p, s)
	shows(t, p, "a", "end")
	out, err := p.Output(t.Context(), "a", 100)
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(st.PID)
	env := "\nGC_SESSION_ID=" + s.ID + "\nPATH=/usr/bin:/bin\nPWD=" + city + "\n"
	for _, want := range []string{"/dev/pts/", "33 101\n", env, "SigBlk: 0000000000000000"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	// The C library uses signals from 32 on, and ignores some of them in the processes that it starts.
	var ignored uint64
	if i := strings.Index(out, "SigIgn:"); i >= 0 {
		if ignored, err = strconv.ParseUint(strings.Fields(out[i:])[1], 16, 64); err != nil {
			t.Fatal(err)
		}
	}
	if ignored&(1<<31-1) != 0 {
		t.Errorf("ignored signals: got %x", ignored)
	}
	if n := strings.Count(out, pid); n < 3 {
		t.Errorf("pid %s is not a session leader:\n%s", pid, out)
	}
	var flags int64
	if i := strings.Index(out, "flags:"); i >= 0 {
		flags, _ = strconv.ParseInt(strings.Fields(out[i:])[1], 8, 64)
	}
	if flags == 0 || flags&04000 != 0 {
		t.Errorf("flags of standard input: got %o", flags)
	}
}

// With several viewers, the size that was set last applies, until its viewer detaches. Without viewers, the agent's own
// size applies.
func TestSizes(t *testing.T) {
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `trap "stty size" WINCH; stty size; while :; do sleep 0.01; done`))
	shows(t, p, "a", "24 80")
	first, err := p.Attach(t.Context(), "a", 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "30 100")
	second, err := p.Attach(t.Context(), "a", 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "40 120")
	if err := first.Resize(90, 20); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "20 90")
	first.Close()
	until(t, "the size of the other viewer", func() bool {
		out, err := p.Output(t.Context(), "a", 1)
		return err == nil && strings.Contains(out, "40 120")
	})
	if err := second.Resize(91, 21); err != nil {
		t.Fatal(err)
	}
	shows(t, p, "a", "21 91")
	second.Close()
	until(t, "the agent's own size", func() bool {
		out, err := p.Output(t.Context(), "a", 1)
		return err == nil && strings.Contains(out, "24 80")
	})
}

// A flood of output is read with bounded memory. A viewer that stops reading gets a reset and the newest output later.
func TestFlood(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	start(t, p, spec(city, "a", `read x; yes "$(printf '\033[32mgreen\033[0m')" | head -c 3000000; echo >flooded; read x; echo more; exec cat`))
	next, stop := pull(t, p, "a")
	defer stop()
	f := next()
	if !f.Reset {
		t.Fatalf("%+v", f)
	}
	if err := p.SendKeys(t.Context(), "a", "Enter"); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the flood", func() bool {
		_, err := os.Stat(filepath.Join(city, "flooded"))
		return err == nil
	})
	if err := p.SendKeys(t.Context(), "a", "Enter"); err != nil {
		t.Fatal(err)
	}
	resets, dropped := 0, uint64(0)
	var seen []byte
	for !bytes.Contains(seen, []byte("more")) {
		f := next()
		if f.Reset {
			resets++
			seen, dropped = nil, f.Dropped
		}
		seen = append(seen, f.Data...)
	}
	if resets == 0 || dropped == 0 {
		t.Errorf("got %d resets, %d dropped bytes", resets, dropped)
	}
	if len(seen) > 300<<10 {
		t.Errorf("%d bytes kept", len(seen))
	}
	if first, _, _ := strings.Cut(strings.TrimPrefix(string(seen), "\x1b[0m\r\n"), "\r\n"); first != "\x1b[32mgreen\x1b[0m" {
		t.Errorf("the replay begins inside a sequence: %q", first)
	}
}

func pull(t *testing.T, p *Provider, name string) (next func() session.Frame, stop func()) {
	frames := make(chan *session.Frame)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(frames)
		for f, err := range p.Watch(ctx, name) {
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case frames <- &f:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() session.Frame {
		f := eventually.Receive(t, "a frame", frames)
		if f == nil {
			t.Fatal("no more frames")
		}
		return *f
	}, cancel
}

// The screens of real programs are shown correctly, and these programs get the typed text.
func TestRealPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many programs")
	}
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	file := filepath.Join(city, "file")
	if err := os.WriteFile(file, []byte("first line\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		program, command, ready string
		use                     func(t *testing.T, name string)
	}{
		{"bash", "PS1='prompt> ' bash --norc --noprofile -i", "prompt>", func(t *testing.T, name string) {
			sessiontest.Send(t, p, name, "echo $((6 * 7)) $(stty size)")
			shows(t, p, name, "42 24 80")
			sessiontest.Send(t, p, name, "sleep 1000")
			until(t, "sleep in the foreground", func() bool {
				out, _ := exec.Command("pgrep", "-x", "sleep", "-t", tty(t, p, name)).Output()
				return len(out) > 0
			})
			if err := p.Interrupt(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			sessiontest.Send(t, p, name, "echo still $((40 + 2))")
			shows(t, p, name, "still 42")
		}},
		{"python3", "python3 -i -q", ">>>", func(t *testing.T, name string) {
			sessiontest.Send(t, p, name, "print('six times', 6 * 7)")
			shows(t, p, name, "six times 42")
		}},
		{"vi", "vi -u NONE " + file, "second line", func(t *testing.T, name string) {
			if err := p.SendKeys(t.Context(), name, "j", "o", "typed", "Escape"); err != nil {
				t.Fatal(err)
			}
			shows(t, p, name, "second line\ntyped")
			// Send would send the text as a paste
			if err := p.SendKeys(t.Context(), name, ":wq", "Enter"); err != nil {
				t.Fatal(err)
			}
			if x := nextExit(t, p); x.Code != 0 {
				t.Errorf("%+v", x)
			}
			if data, _ := os.ReadFile(file); string(data) != "first line\nsecond line\ntyped\n" {
				t.Errorf("written: %q", data)
			}
		}},
	} {
		t.Run(c.program, func(t *testing.T) {
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			s := spec(city, c.program, c.command)
			s.Env = append(s.Env, "HOME="+city)
			start(t, p, s)
			shows(t, p, c.program, c.ready)
			c.use(t, c.program)
		})
	}
}

func tty(t *testing.T, p *Provider, name string) string {
	t.Helper()
	list, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range list {
		if st.Name == name {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", st.PID))
			if err != nil {
				t.Fatal(err)
			}
			return strings.TrimPrefix(link, "/dev/")
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

// Old output is replayed without queries, because the viewer's terminal would reply to them.
func TestWithoutQueries(t *testing.T) {
	for in, want := range map[string]string{
		"plain \x1b[31mred\x1b[0m\r\n":                    "plain \x1b[31mred\x1b[0m\r\n",
		"a\x1b[cb\x1b[>0cc\x1b[6nd\x1b[?2026$pe":          "abcde",
		"a\x1b]11;?\x07b\x1b]10;?\x1b\\c\x1b]0;title\ad":  "abc\x1b]0;title\ad",
		"a\x1bP+q544e\x1b\\b\x1bP$qm\x1b\\c":              "abc",
		"a\x1b[?ub\x1b[>qc\x1b[14td\x1b[22;0te\x05f":      "abcd\x1b[22;0tef",
		"a\x1b[20tb\x1b[21tc\x1b[23td\x1b[2te\x1b[222tf":  "abc\x1b[23tdef",
		"a\x1b[?4mb\x1b[>4;2mc\x1b[?1;1;0Sd\x1b[2Se":      "ab\x1b[>4;2mcd\x1b[2Se",
		"a\x1b]99;i=1:p=?;\x1b\\b\x1b]21;foreground=?\ac": "abc",
		"a\x1b]99;i=1;Done?\x1b\\b\x1b]0;x=?\ac":          "a\x1b]99;i=1;Done?\x1b\\b\x1b]0;x=?\ac",
		"a\x1b[2 qb\x1b[!pc\x1bZd\x1b7e\x1b8":             "a\x1b[2 qb\x1b[!pcd\x1b7e\x1b8",
		"cut \x1b[3":                                      "cut \x1b[3",
		"cut \x1b":                                        "cut \x1b",
	} {
		if got := string(withoutQueries([]byte(in))); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzWithoutQueries(f *testing.F) {
	f.Add([]byte("a\x1b[c\x1b]0;?\x07\x1bP$q\x1b\\"))
	f.Fuzz(func(t *testing.T, in []byte) {
		once := withoutQueries(in)
		if len(once) > len(in) {
			t.Errorf("%q: got %q, which is longer", in, once)
		}
		if !bytes.ContainsAny(in, "\x1b\x05") && !bytes.Equal(once, in) {
			t.Errorf("plain %q: got %q", in, once)
		}
	})
}
