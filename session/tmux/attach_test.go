package tmux

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"gcity/internal/eventually"
	"gcity/session"
)

type viewer struct {
	session.Terminal
	mu   sync.Mutex
	seen strings.Builder
	over chan struct{}
}

func attach(t *testing.T, p *Provider, name string, cols, rows int) *viewer {
	t.Helper()
	term, err := p.Attach(t.Context(), name, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{Terminal: term, over: make(chan struct{})}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(v.over)
		buf := make([]byte, 4096)
		for {
			n, err := term.Read(buf)
			v.mu.Lock()
			v.seen.Write(buf[:n])
			v.mu.Unlock()
			if err == io.EOF {
				return
			}
		}
	})
	t.Cleanup(func() { term.Close(); wg.Wait() })
	return v
}

func (v *viewer) shows(text string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return strings.Contains(v.seen.String(), text)
}

func sizeIs(t *testing.T, p *Provider, name, want string) {
	t.Helper()
	until(t, "the size "+want, func() bool { return hasSize(t, p, name, want) })
}

func hasSize(t *testing.T, p *Provider, name, want string) bool {
	t.Helper()
	if _, err := p.List(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := p.tmux.run(t.Context(), nil, "display-message", "-p", "-t", "="+name+":", "#{pane_width}x#{pane_height}")
	return err == nil && strings.TrimSpace(out) == want
}

// Keys that tmux itself uses also reach the program. Closing one viewer's terminal does not disconnect other viewers.
func TestViewers(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	seen := reads(t, p, "a", "stty raw -echo; ")
	sizeIs(t, p, "a", "80x24")
	one := attach(t, p, "a", 100, 30)
	until(t, "the earlier output", func() bool { return one.shows("begun") })
	sizeIs(t, p, "a", "100x30")
	two := attach(t, p, "a", 60, 20)
	until(t, "the earlier output", func() bool { return two.shows("begun") })
	attached := func(n int) {
		t.Helper()
		until(t, "viewers", func() bool {
			list, err := p.List(t.Context())
			return err == nil && len(list) == 1 && list[0].Attached == n
		})
	}
	attached(2)
	const keys = "plain\x02\x02d\x11\x1b[A\x1b[200~pasted\x02\x1b[201~\r"
	if _, err := one.Write([]byte(keys)); err != nil {
		t.Fatal(err)
	}
	until(t, "the keys", func() bool { return strings.HasSuffix(seen(), "\r") })
	if got := seen(); got != keys {
		t.Errorf("%q", got)
	}
	if err := one.Resize(90, 25); err != nil {
		t.Fatal(err)
	}
	// The second client, which attaches in the background, can still become the latest one, so type until it does not.
	until(t, "the size of the viewer that typed last", func() bool {
		if _, err := one.Write([]byte(".")); err != nil {
			t.Fatal(err)
		}
		return hasSize(t, p, "a", "90x25")
	})
	if err := one.Close(); err != nil {
		t.Error(err)
	}
	<-one.over
	attached(1)
	if _, err := two.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	until(t, "the other viewer's keys", func() bool { return strings.HasSuffix(seen(), "two") })
	sizeIs(t, p, "a", "60x20")
	two.Close()
	attached(0)
	sizeIs(t, p, "a", "80x24")
	three := attach(t, p, "a", 70, 22)
	sizeIs(t, p, "a", "70x22")
	if err := p.Stop(t.Context(), "a", 0); err != nil {
		t.Fatal(err)
	}
	eventually.Receive(t, "the end of the terminal", three.over)
}

// A watcher gets the agent's output byte for byte, and does not count as a viewer.
func TestWatchIsExact(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", `stty raw -echo; echo begun; head -c 3 >/dev/null; printf '\033[31mred\\\033[0m\t\001 ü %%end 1 2 1\r\n%%exit\r\nover'; exec cat`))
	shows(t, p, "a", "begun")
	var all strings.Builder
	sent := false
	for f, err := range p.Watch(t.Context(), "a") {
		if err != nil {
			t.Fatal(err)
		}
		all.Write(f.Data)
		if !sent {
			if list, err := p.List(t.Context()); err != nil || list[0].Attached != 0 {
				t.Errorf("%+v, %v", list, err)
			}
			sent = true
			if err := p.SendKeys(t.Context(), "a", "xyz"); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(all.String(), "over") {
			break
		}
	}
	if want := "\x1b[31mred\\\x1b[0m\t\x01 ü %end 1 2 1\r\n%exit\r\nover"; !strings.HasSuffix(all.String(), want) {
		t.Errorf("%q", all.String())
	}
}

// A user who attaches with tmux itself can type, and detaches with ctrl-q. The user's own tmux configuration has no
// effect.
func TestAttachWithTmuxItself(t *testing.T) {
	t.Parallel()
	p := newProvider(t, t.TempDir())
	seen := reads(t, p, "a", "stty raw -echo; ")
	cmd := exec.CommandContext(t.Context(), "tmux", "-L", Label(p.files.city), "attach")
	cmd.Env = append(os.Environ(), "TERM=xterm")
	f, err := pty.StartWithSize(cmd, size(100, 30))
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer f.Close()
	v := &viewer{}
	wg.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			v.mu.Lock()
			v.seen.Write(buf[:n])
			v.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	until(t, "the agent's screen", func() bool { return v.shows("begun") })
	if v.shows("tmux.conf:") {
		t.Error("tmux reported an error in its configuration")
	}
	if _, err := f.WriteString("\x02c"); err != nil {
		t.Fatal(err)
	}
	until(t, "the user's keys", func() bool { return seen() == "\x02c" })
	until(t, "one viewer", func() bool {
		list, err := p.List(t.Context())
		return err == nil && list[0].Attached == 1
	})
	if _, err := f.WriteString("\x11"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := seen(); got != "\x02c" {
		t.Errorf("%q", got)
	}
	sizeIs(t, p, "a", "80x24")
}
