package screen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"gcity/internal/eventually"
)

type program struct {
	t   *testing.T
	tty *os.File
	out chan []byte
	*Screen
}

func run(t *testing.T, argv ...string) *program {
	t.Helper()
	path, err := exec.LookPath(argv[0])
	if err != nil {
		t.Skipf("%s is not installed here", argv[0])
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "LC_ALL=C.UTF-8", "PS1=$ ", "HOME="+t.TempDir(), "LESS=")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	p := &program{t: t, tty: tty, out: make(chan []byte), Screen: New(80, 24, 500)}
	done := make(chan struct{})
	go func() {
		defer close(p.out)
		for {
			buf := make([]byte, 512)
			n, err := tty.Read(buf)
			if err != nil {
				return
			}
			select {
			case p.out <- buf[:n]:
			case <-done:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = tty.Close()
	})
	return p
}

func (p *program) send(s string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(s); err != nil {
		p.t.Fatal(err)
	}
}

func (p *program) until(ok func(text string) bool) {
	p.t.Helper()
	deadline := time.After(eventually.Timeout)
	for !ok(p.Text()) {
		select {
		case b, alive := <-p.out:
			if !alive {
				p.t.Fatalf("the program exited; screen:\n%s", p.Text())
			}
			p.Write(b)
		case <-deadline:
			p.t.Fatalf("timeout; the screen:\n%s", p.Text())
		}
	}
}

func (p *program) untilLine(last string) {
	p.t.Helper()
	p.until(func(text string) bool { return strings.HasSuffix(text, "\n"+last) })
}

// An editor's incremental updates produce the same screen as a full redraw.
func TestEditor(t *testing.T) {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("%d\tthe quick brown fox — 世界 %s", i, strings.Repeat("ä", i%90)))
	}
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, "vim", "-u", "NONE", "-i", "NONE", "-n", "-N", file)
	p.until(func(text string) bool { return strings.Contains(text, "quick brown fox") })
	p.send(":set lazyredraw encoding=utf-8 nomore\r")
	for i, do := range []string{"10jdd", "5Oinserted line\x1b", "\x06\x06\x02", "3\x053\x19", ":split\r10jdd\x05\x05\x05", "\x17wGzt\x19\x19kkkO世世\x1b", "ggJJ:vsplit\rjjdd\x05\x05", "u"} {
		done, drawn := fmt.Sprintf("done %d", i), fmt.Sprintf("drawn %d", i)
		p.send(do + ":echo '" + done + "'\r")
		p.untilLine(done)
		differences := p.Lines(80, 23)
		p.send(":redraw! | echo '" + drawn + "'\r")
		p.untilLine(drawn)
		if d := cmp.Diff(p.Lines(80, 23), differences); d != "" {
			t.Fatalf("after %q the screen differs from a full redraw (-want +got):\n%s", do, d)
		}
	}
	if !p.Alt() {
		t.Error("the editor does not use the alternate screen")
	}
	p.send(":qa!\r")
	for b := range p.out {
		p.Write(b)
	}
	if p.Alt() || strings.Contains(p.Text(), "quick") {
		t.Errorf("screen after the editor: got\n%s", p.Text())
	}
}

func TestPager(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(strings.Repeat("a line of text that is here for its length alone, which is more than eighty cells\n", 100)+"END\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := run(t, "less", file)
	p.until(func(text string) bool { return strings.Contains(text, "a line of text") })
	p.send("G")
	p.until(func(text string) bool { return strings.Contains(text, "END") })
	p.send("kkkjj")
	p.send("10k/END\r")
	p.until(func(text string) bool { return strings.HasPrefix(text, "END") || strings.Contains(text, "\nEND") })
}

func TestTop(t *testing.T) {
	p := run(t, "top", "-d", "60")
	p.until(func(text string) bool { return strings.Contains(text, "PID") && strings.Contains(text, "top") })
	if rows := strings.Split(p.Text(), "\n"); !strings.HasPrefix(rows[0], "top - ") || len(rows) > 24 {
		t.Errorf("top looks like\n%s", p.Text())
	}
	p.send("q")
	for b := range p.out {
		p.Write(b)
	}
}

// The screen is correct after an insertion into a wrapped line.
func TestShell(t *testing.T) {
	p := run(t, "bash", "--norc", "--noprofile", "-i")
	p.until(func(text string) bool { return strings.Contains(text, "$") })
	p.send("echo " + strings.Repeat("b", 100) + "\x01\x1bfX世\x05Y\r")
	want := "X世 " + strings.Repeat("b", 100) + "Y"
	p.until(func(text string) bool { return strings.Contains(text, "command not found") })
	if text := strings.ReplaceAll(p.Text(), "\n", ""); !strings.Contains(text, "$ echo"+want) {
		t.Errorf("want the edited line %q on\n%s", want, p.Text())
	}
}
