package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/proc"
	"gcity/session"
)

// Special characters in a name or path are taken literally.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	city := filepath.Join(t.TempDir(), "#(touch pwned) #{pid};")
	if err := os.Mkdir(city, 0o700); err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, city)
	names := []string{"#(touch pwned)", "a", "ab", "a;", "a:b.c", "-x", "=a", "%0", "a+3B", "a|b\nc"}
	pids := map[string]int{}
	for _, name := range names {
		pids[name] = start(t, p, spec(city, name, "exec cat")).PID
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != len(names) {
		t.Fatalf("got %d sessions, want %d, %v", len(list), len(names), err)
	}
	for _, name := range names {
		if err := p.Send(t.Context(), name, fmt.Sprint("for ", pids[name])); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		// the terminal echoes the input, and cat prints it again
		mine := fmt.Sprintf("for %d\nfor %[1]d", pids[name])
		shows(t, p, name, mine)
		if out, err := p.Output(t.Context(), name, 0); err != nil || strings.TrimSpace(out) != mine {
			t.Errorf("output of %q: got %q, %v", name, out, err)
		}
	}
	for i, name := range names {
		if err := p.Stop(t.Context(), name, 0); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if i > 4 {
			continue
		}
		list, err := p.List(t.Context())
		alive := slices.DeleteFunc(list, func(st session.Status) bool { return !st.Alive })
		if err != nil || len(alive) != len(names)-i-1 {
			t.Errorf("after the stop of %q: got %d live sessions, %v", name, len(alive), err)
		}
	}
	filepath.WalkDir(filepath.Dir(city), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == "pwned" {
			t.Errorf("a session's name was executed: %s", path)
		}
		return err
	})
	for _, name := range []string{"", "a/b", "..", "a\x00"} {
		if _, err := p.Start(t.Context(), spec(city, name, "true")); !errors.Is(err, session.ErrCommand) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzMangle(f *testing.F) {
	f.Add("a", "a;")
	f.Add("-x", "+2Dx")
	f.Fuzz(func(t *testing.T, a, b string) {
		if (mangle(a) == mangle(b)) != (a == b) {
			t.Errorf("names of %q and %q: got %q and %q", a, b, mangle(a), mangle(b))
		}
		if back, ok := unmangle(mangle(a)); !ok || back != a {
			t.Errorf("name of %q: decoded as %q", a, back)
		}
		if back, ok := unmangle(b); ok && mangle(back) != b {
			t.Errorf("%q was accepted, but %q has a different encoded name", b, back)
		}
		if strings.ContainsAny(mangle(a), " ;:.#$%@=!{}'\"\\") || strings.HasPrefix(mangle(a), "-") {
			t.Errorf("%q is %q", a, mangle(a))
		}
		if got := decodeMark(encodeMark(a)); got != a {
			t.Errorf("mark %q: decoded as %q", a, got)
		}
	})
}

// The started agent writes its input to a file. The function seen returns the file's content.
func reads(t *testing.T, p *Provider, name, prepare string) (seen func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "got")
	start(t, p, spec(p.files.city, name, prepare+": >"+file+"; echo begun; exec cat >>"+file))
	shows(t, p, name, "begun")
	return func() string {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

// Text arrives once, byte for byte, and as a single paste if the program has enabled bracketed paste.
func TestSendIsExact(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	texts := []string{
		"ends in a semicolon;", ";", `\;`, "-starts with a dash", "--", "", "two\nlines\n", "tab\there", "ünïcödé ✓ 👩‍🚀",
		"#{pid} #(touch pwned) #[fg=red] %5 $HOME `id` ~ !!", "Enter", "C-c", strings.Repeat("long ", 800), "caf\xc3\xa9 \xff\xfe raw bytes",
	}
	for name, c := range map[string]struct{ prepare, before, after string }{
		"lines":  {"stty -echo; ", "", "\n"},
		"raw":    {"stty raw -echo; ", "", "\r"},
		"pastes": {`stty raw -echo; printf "\033[?2004h"; `, "\x1b[200~", "\x1b[201~\r"},
	} {
		seen := reads(t, p, name, c.prepare)
		want := ""
		for _, text := range texts {
			if err := p.Send(t.Context(), name, text); err != nil {
				t.Fatalf("%s: %q: %v", name, text, err)
			}
			if text == "" {
				want += c.after[len(c.after)-1:]
			} else {
				want += c.before + text + c.after
			}
			until(t, "the text", func() bool { return len(seen()) >= len(want) })
			if got := seen(); got != want {
				t.Fatalf("%s: after %q: got %q", name, text, got[max(0, len(want)-len(text)-20):])
			}
		}
		megabyte := strings.Repeat(strings.Repeat("ü", 500)+"\n", 1<<10)
		if err := p.Send(t.Context(), name, megabyte); err != nil {
			t.Fatal(err)
		}
		want += c.before + megabyte + c.after
		until(t, "a megabyte", func() bool { return len(seen()) >= len(want) })
		if seen() != want {
			t.Errorf("%s: a text of one megabyte was changed: got %d of %d bytes",
				name, len(seen()), len(want))
		}
	}
	for _, text := range []string{"bell\a", "\x1b[2J", "return\r", strings.Repeat("x", 4096)} {
		if err := p.Send(t.Context(), "lines", text); !errors.Is(err, session.ErrRejected) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
}

// Enter follows the text after a pause. Without it, some programs take Enter for a newline of pasted text.
func TestEnterIsNotPartOfPaste(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	seen := reads(t, p, "a", `stty raw -echo; printf "\033[?2004h"; `)
	began := time.Now()
	if err := p.Send(t.Context(), "a", "test @a.go"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 150*time.Millisecond {
		t.Errorf("pressed Enter within %s", took)
	}
	until(t, "the text and a blank", func() bool { return seen() == "\x1b[200~test @a.go \x1b[201~\r" })
}

func TestKeysAreExact(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	seen := reads(t, p, "a", "stty raw -echo; ")
	want := ""
	for _, c := range [][2]string{
		{"Enter", "\r"}, {"Escape", "\x1b"}, {"C-c", "\x03"}, {"C-b", "\x02"}, {"Up", "\x1b[A"}, {"F5", "\x1b[15~"}, {"M-x", "\x1bx"}, {"Tab", "\t"},
		{"BSpace", "\x7f"}, {"C-Space", "\x00"}, {"word;", "word;"}, {";", ";"}, {"-l", "-l"}, {"0x41", "0x41"}, {"KP0", "KP0"}, {"two words", "two words"},
		{"User1", "User1"}, {"^A", "^A"}, {"é", "é"}, {"#{pid}", "#{pid}"}, {"Delete", "\x1b[3~"}, {"PageDown", "\x1b[6~"}, {"BTab", "\x1b[Z"},
	} {
		if err := p.SendKeys(t.Context(), "a", c[0]); err != nil {
			t.Fatalf("%q: %v", c[0], err)
		}
		want += c[1]
		until(t, "the key", func() bool { return len(seen()) >= len(want) })
		if got := seen(); got != want {
			t.Fatalf("%q: got %q, after %q",
				c[0], strings.TrimPrefix(got, want[:len(want)-len(c[1])]), want)
		}
	}
	if err := p.SendKeys(t.Context(), "a", "l", "s", ";", "Enter"); err != nil {
		t.Fatal(err)
	}
	until(t, "several keys", func() bool { return seen() == want+"ls;\r" })
	// the program reads Escape by itself, also if it is busy
	file := filepath.Join(t.TempDir(), "got")
	start(t, p, spec(p.files.city, "b", "stty raw -echo; echo begun; for i in 1 2 3; do dd bs=9 count=1 2>/dev/null; echo; sleep 0.2; done >"+file+"; exec cat"))
	shows(t, p, "b", "begun")
	if err := p.SendKeys(t.Context(), "b", "x", "Escape", "Escape", "y"); err != nil {
		t.Fatal(err)
	}
	until(t, "Escape", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && string(data) == "x\x1b\n\x1b\ny\n"
	})
}

// An agent gets the environment in its Spec and nothing else. Other processes cannot see it.
func TestEnvironmentIsExactAndSecret(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	file := filepath.Join(t.TempDir(), "environ")
	s := spec(city, "a", "cat /proc/$$/environ >"+file+"; echo done; exec sleep 1000")
	s.Env = append(s.Env, "SECRET=s3cr3t-0815", "ODD=#(x) ; 'y'\nz")
	// start the server with another session, so that session a finds it running
	start(t, p, spec(city, "other", "exec sleep 1000"))
	start(t, p, s)
	shows(t, p, "a", "done")
	got, err := os.ReadFile(file)
	if want := strings.Join(s.Env, "\x00") + "\x00"; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if strings.Contains(strings.Join(proc.Args(pid), " "), "s3cr3t-0815") {
			t.Errorf("the command line of %d contains the secret", pid)
		}
	}
	for _, args := range [][]string{{"show-environment", "-g"}, {"show-environment", "-t", "=a:"}, {"list-panes", "-a", "-F", "#{pane_start_command} #{pane_current_command}"}} {
		out, err := p.tmux.run(t.Context(), nil, args...)
		if err != nil || strings.Contains(out, "s3cr3t") || strings.Contains(out, "GC_LEAK") {
			t.Errorf("%v: %s, %v", args, out, err)
		}
	}
	if out, _ := exec.Command("grep", "-r", "s3cr3t-0815", filepath.Join(city, ".gc")).Output(); len(out) > 0 {
		t.Errorf("a file contains the secret: %s", out)
	}
}

func TestStartFailures(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	p := newProvider(t, city)
	gone := spec(city, "a", "true")
	gone.Dir = filepath.Join(city, "nowhere")
	long := spec(city, "a", strings.Repeat("x", 200<<10))
	other := spec(city, "a", "true")
	other.City = "/elsewhere"
	for what, s := range map[string]session.Spec{"no folder": gone, "too long": long, "another city": other} {
		_, err := p.Start(t.Context(), s)
		if !errors.Is(err, session.ErrCommand) || !strings.HasPrefix(err.Error(), `cannot start "a": `) {
			t.Errorf("%s: %v", what, err)
		}
		if list, err := p.List(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("%s: %+v, %v", what, list, err)
		}
	}
	p.binary = "/nowhere/gcity"
	if _, err := p.Start(t.Context(), spec(city, "a", "true")); err == nil || !strings.Contains(err.Error(), "/nowhere/gcity") {
		t.Errorf("without a program: got %v", err)
	}
	p.binary = os.Args[0]
	start(t, p, spec(city, "a", "exec cat"))
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"tmux 3.3": true, "tmux 3.3a": true, "tmux 3.10": true, "tmux 4.0": true, "tmux next-3.6": true, "tmux master": true,
		"tmux 3.2a": false, "tmux 2.9": false, "tmux": false, "": false,
	} {
		if got := newEnough(version); got != want {
			t.Errorf("%q: %v", version, got)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := New(Options{City: t.TempDir()}); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), "apt-get install tmux") {
		t.Errorf("without tmux: %v", err)
	}
}

func FuzzUnescape(f *testing.F) {
	f.Add(`a\033[1m\\\134`)
	f.Add(`\40\4`)
	f.Fuzz(func(t *testing.T, s string) {
		if !strings.Contains(s, `\`) && string(unescape(s)) != s {
			t.Errorf("%q", s)
		}
		var escaped bytes.Buffer
		for _, c := range []byte(s) {
			if c < ' ' || c == '\\' {
				fmt.Fprintf(&escaped, `\%03o`, c)
			} else {
				escaped.WriteByte(c)
			}
		}
		if got := unescape(escaped.String()); string(got) != s {
			t.Errorf("%q is %q", s, got)
		}
	})
}

// A watcher that is too slow gets the complete screen again.
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	w := &watcher{rec: &record{Name: "a", Pane: "%1"}, news: make(chan struct{}, 1), stale: true}
	var asked bytes.Buffer
	if err := w.ask(&asked); err != nil || !strings.Contains(asked.String(), "capture-pane") {
		t.Fatalf("%q, %v", asked.String(), err)
	}
	show := func(text string) {
		w.received(w.received(nil, []string{"80 24 3 1 0"}), []string{text})
	}
	show("first")
	f, behind, ok := w.take()
	if !ok || behind || !f.Reset || f.Cols != 80 || f.Rows != 24 || !bytes.Contains(f.Data, []byte("first")) {
		t.Fatalf("%+v %v %v", f, behind, ok)
	}
	for range 3 {
		w.printed(make([]byte, watchLag/2+1))
	}
	if f, behind, ok = w.take(); !behind || ok {
		t.Fatalf("%+v %v %v", f, behind, ok)
	}
	w.printed([]byte("not shown"))
	if f, behind, ok = w.take(); behind || ok {
		t.Fatalf("%+v %v %v", f, behind, ok)
	}
	show("again")
	w.printed([]byte(" and on"))
	if f, _, ok = w.take(); !ok || !f.Reset || f.Dropped == 0 || !bytes.Contains(f.Data, []byte("again")) || !bytes.HasSuffix(f.Data, []byte(" and on")) {
		t.Fatalf("%+v", f)
	}
}

// A user's second pane or window in an agent's session does not hide the agent from its controller or the next one.
func TestOtherPanes(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"split-window", "new-window"} {
		city := t.TempDir()
		first := newProvider(t, city)
		st := start(t, first, spec(city, "a", "exec cat"))
		other, err := first.tmux.run(t.Context(), nil, command, "-d", "-P", "-F", "#{pane_id}", "-t", "=a:", "sleep 1000")
		if err != nil {
			t.Fatal(err)
		}
		if err := first.SetMeta(t.Context(), "a", session.DrainMark, "1790000000"); err != nil {
			t.Fatal(err)
		}
		list, err := first.List(t.Context())
		if err != nil || len(list) != 1 || !list[0].Alive || !list[0].Drain.On() {
			t.Errorf("%s: %+v, %v", command, list, err)
		}
		first.Close()
		second := newProvider(t, city)
		list, err = second.List(t.Context())
		if err != nil || len(list) != 1 || !list[0].Alive || list[0].PID != st.PID || !lives(st.PID) {
			t.Errorf("%s: the next controller: %+v, %v", command, list, err)
		}
		if _, err := second.tmux.run(t.Context(), nil, "kill-pane", "-t", strings.TrimSpace(other)); err != nil {
			t.Error(err)
		}
	}
}
