package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
	"gcity/internal/termsize"
	"gcity/tui/keymap"
	"gcity/tui/terminal"
)

// console is the control room as a process in a real terminal, with that terminal's screen.
type console struct {
	t           testing.TB
	master, tty *os.File
	cmd         *exec.Cmd
	pid         func() int // of the control room
	before      *term.State
	report      string // file to which the child writes its exit
	wg          sync.WaitGroup

	mu     sync.Mutex
	screen terminal.Screen
	raw    bytes.Buffer
	more   chan struct{} // closed and replaced with every piece of output
}

// patience is the time limit for any step on a busy machine.
const patience = eventually.Timeout

func open(t testing.TB, mode string, cols, rows uint16, env ...string) *console {
	t.Helper()
	master, tty, err := openPty()
	if err != nil {
		t.Fatal(err)
	}
	c := &console{t: t, master: master, tty: tty, report: filepath.Join(t.TempDir(), "exit"), more: make(chan struct{})}
	width, height := termsize.Known(int(cols), int(rows))
	c.screen = terminal.NewScreen(width, height, 0)
	if err := pty.Setsize(tty, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	if c.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env = append([]string{
		"TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "TUI_CHILD=" + mode + " -", "TUI_REPORT=" + c.report, "TUI_LOG=" + c.report + ".log",
		// the race detector sleeps for a second at exit
		"GORACE=atexit_sleep_ms=50 " + os.Getenv("GORACE"),
	}, env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	c.pid = func() int { return c.cmd.Process.Pid }
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.wg.Go(c.read)
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it might have ended already
		_ = c.cmd.Wait()
		_ = master.Close()
		_ = tty.Close()
		c.wg.Wait()
	})
	return c
}

// openPty opens a terminal. Its master end can be closed while it is being read.
func openPty() (master, tty *os.File, err error) {
	blocking, tty, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer blocking.Close()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fd), "master"), tty, nil
}

func (c *console) read() {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.master.Read(buf)
		c.mu.Lock()
		_, _ = c.screen.Write(buf[:n])
		c.raw.Write(buf[:n])
		close(c.more)
		c.more = make(chan struct{})
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *console) look() (text string, more chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cols, rows := c.screen.Size()
	return ansi.Strip(strings.Join(c.screen.Lines(cols, rows), "\n")), c.more
}

func (c *console) sees(want string) {
	c.t.Helper()
	late := time.After(patience)
	for {
		text, more := c.look()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-more:
		case <-late:
			log, _ := os.ReadFile(c.report + ".log")
			c.t.Fatalf("the screen never shows %q:\n%s\n%s", want, text, log)
		}
	}
}

func (c *console) keys(s string) {
	c.t.Helper()
	if _, err := c.master.WriteString(s); err != nil {
		c.t.Fatal(err)
	}
}

// insist presses a key until the screen shows some text, because a question rejects early keys.
func (c *console) insist(key, want string) {
	c.t.Helper()
	again := time.NewTicker(keymap.DialogGuard / 2)
	defer again.Stop()
	late := time.After(patience)
	for {
		text, more := c.look()
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-more:
		case <-again.C:
			_, _ = c.master.WriteString(key) // it might have ended already
		case <-late:
			c.t.Fatalf("%q never makes the screen show %q:\n%s", key, want, text)
		}
	}
}

func (c *console) resize(cols, rows uint16) {
	c.t.Helper()
	c.mu.Lock()
	c.screen.Resize(int(cols), int(rows))
	c.mu.Unlock()
	if err := pty.Setsize(c.tty, &pty.Winsize{Cols: cols, Rows: rows}); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the process to exit, and checks that the terminal is restored.
func (c *console) ends(want string) {
	c.t.Helper()
	timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	err := c.cmd.Wait()
	if !timer.Stop() {
		c.t.Fatal("the control room does not exit")
	}
	if err != nil {
		c.t.Errorf("the process: %v", err)
	}
	got, err := os.ReadFile(c.report)
	if err != nil || !strings.HasPrefix(string(got), want) {
		log, _ := os.ReadFile(c.report + ".log")
		c.t.Errorf("it ended with %q, %v; want %q\n%s", got, err, want, log)
	}
	after, err := term.GetState(c.tty.Fd())
	if err != nil {
		c.t.Fatal(err)
	}
	if !reflect.DeepEqual(c.before, after) {
		c.t.Errorf("termios differ:\n%+v\n%+v", c.before, after)
	}
	c.sees("exit: ")
	c.sane()
}

// sane checks that every mode that was switched on is off again.
func (c *console) sane() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, _, visible := c.screen.Cursor(); c.screen.Alt() || !visible {
		c.t.Errorf("alternate screen %v, cursor visible %v", c.screen.Alt(), visible)
	}
	raw := c.raw.String()
	for _, mode := range []string{"1000", "1002", "1003", "1004", "1006", "1049", "2004"} {
		on, off := strings.LastIndex(raw, "\x1b[?"+mode+"h"), strings.LastIndex(raw, "\x1b[?"+mode+"l")
		if on > off {
			c.t.Errorf("mode %s is left on", mode)
		}
	}
	for on, off := range map[string]string{"\x1b[?12h": "\x1b[?12r", "\x1b[?1007h": "\x1b[?1007r", "\x1b%@": "\x1b%G",
		"\x1b]8;;http": "\x1b]8;;\x1b\\", "\x1b[?2l": "\x1b<"} {
		if strings.LastIndex(raw, on) > strings.LastIndex(raw, off) {
			c.t.Errorf("%q is not undone: no %q follows it", on, off)
		}
	}
}

func (c *console) signal(s syscall.Signal) {
	c.t.Helper()
	if err := syscall.Kill(c.pid(), s); err != nil {
		c.t.Fatal(err)
	}
}

func TestTerminalStartAndQuit(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 100, 30)
	c.sees("prober")
	c.sees("bright-lights")
	c.keys("q")
	c.sees("Quit bright-lights?")
	c.insist("h", "exit: ")
	c.ends("hand over")
}

// A terminal that does not know its size counts as 80×24.
func TestTerminalWithoutASize(t *testing.T) {
	t.Parallel()
	c := open(t, "joined", 0, 0)
	c.sees("prober")
	c.keys("\x03")
	c.ends("leave")
}

func TestTerminalJoinedLeaves(t *testing.T) {
	t.Parallel()
	c := open(t, "joined ascii ssh", 200, 60, "NO_COLOR=1")
	c.sees("1 Agents")
	c.keys("\x03")
	c.ends("leave")
}

func TestTerminalResizeStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	for i := range uint16(300) {
		c.resize(1+i*37%211, 1+i*13%67)
		if i%10 == 0 {
			c.keys("\t")
		}
	}
	c.resize(1, 1)
	c.resize(120, 40)
	c.keys("\x0c")
	c.sees(": palette")
	c.keys("q")
	c.sees("keep the city running in the background")
	c.answer("s")
	c.sees("type 6")
	c.answer("6")
	c.keys("\r")
	c.ends("stop city")
}

func (c *console) descriptors() int {
	c.t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.cmd.Process.Pid))
	if err != nil {
		c.t.Fatal(err)
	}
	return len(list)
}

func TestTerminalAttachAndLeave(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	c.keys("jjjjjj")
	c.sees("0 builder")
	first := 0
	for i := range 6 {
		c.keys("a")
		c.sees("hello from builder at 80x23")
		c.sees("ctrl+q detaches")
		c.keys("xy")
		c.sees("echo:xy")
		c.sees("ctrl+q detaches") // still visible, because the agent does not use the last row
		if i == 2 {
			c.resize(90, 30)
			c.sees("size:90x29")
			c.sees("ctrl+q detaches")
			c.resize(80, 24)
			c.sees("size:80x23")
		}
		if i%2 == 0 {
			c.keys("\x1b[113;5u") // ctrl+q in the Kitty keyboard protocol, which the agent has turned on
		} else {
			c.keys("\x11")
		}
		c.sees("detached from builder; it keeps running")
		c.sees("0 builder following")
		switch n := c.descriptors(); {
		case i == 1:
			first = n
		case i > 1 && n > first+1: // the pane might be opening a stream
			t.Errorf("after %d visits: got %d open descriptors, after two %d", i+1, n, first)
		}
	}
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}

func TestTerminalHangup(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

// A hangup cancels the drains of a departure, so that the agents keep running.
func TestTerminalHangupDuringDeparture(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting few", 120, 40)
	c.sees("3 running")
	c.keys("q")
	c.sees("Quit bright-lights?")
	c.answer("d")
	c.sees("Drain 3 agents, then quit?")
	c.answer("y")
	c.sees("quitting when all agents have finished")
	c.signal(syscall.SIGHUP)
	c.ends("hangup <nil>")
	got, err := os.ReadFile(c.report)
	if want := ", undrain builder, undrain chatty, undrain idle"; err != nil || !strings.HasSuffix(string(got), want) {
		t.Errorf("commands: got %q, %v; want the suffix %q", got, err, want)
	}
}

// The room exits if its terminal disappears, even during an attach.
func TestTerminalGone(t *testing.T) {
	for _, attached := range []bool{false, true} {
		t.Run(fmt.Sprint(attached), func(t *testing.T) {
			t.Parallel()
			c := open(t, "hosting", 80, 24)
			c.sees("prober")
			if attached {
				c.keys("jjjjjja")
				c.sees("hello from builder")
			}
			if err := c.master.Close(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
			_ = c.cmd.Wait() // its message cannot be written anywhere
			if !timer.Stop() {
				t.Fatal("the control room did not notice the hangup")
			}
			if got, err := os.ReadFile(c.report); err != nil || !strings.HasPrefix(string(got), "hangup") {
				t.Errorf("exit report: got %q, %v", got, err)
			}
		})
	}
}

func TestTerminalTermDuringAttach(t *testing.T) {
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	c.keys("jjjjjja")
	c.sees("hello from builder")
	c.signal(syscall.SIGTERM)
	c.ends("terminated <nil>")
}

func TestTerminalContextEnds(t *testing.T) {
	t.Parallel()
	c := open(t, "joined", 80, 24)
	c.sees("prober")
	c.signal(syscall.SIGUSR1) // makes the child cancel its context
	c.ends("ended <nil>")
}

func TestTerminalPanicInACommand(t *testing.T) {
	t.Parallel()
	c := open(t, "panic", 100, 30)
	c.sees("prober")
	c.keys("u")
	c.ends("ended the control room panicked in command")
}

func TestTerminalPanicInTheModel(t *testing.T) {
	t.Parallel()
	c := open(t, "poison", 100, 30)
	c.ends("ended the control room panicked in view")
}

// An agent that floods its terminal does not prevent keys from working.
func TestTerminalFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("prints a lot")
	}
	t.Parallel()
	c := open(t, "flood", 100, 30)
	c.sees("prober")
	c.keys("jjjjjj")
	c.sees("0 builder")
	c.sees("flood line")
	c.keys("0\x15\x15")
	c.sees("new, G follows")
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}

func TestTerminalFailedAttachIsReported(t *testing.T) {
	t.Parallel()
	c := open(t, "refuse", 100, 30)
	c.sees("prober")
	c.keys("jjjjjja")
	c.sees("builder: its holder does not answer")
	c.signal(syscall.SIGHUP)
	c.ends("hangup")
}

// A room that was stopped and continued takes the terminal back from the shell, also during an attach, and even if the
// controller has restarted meanwhile. On SIGTSTP, the room also restores the terminal before it stops.
func TestTerminalContinued(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	for sig, mode := range map[syscall.Signal]string{syscall.SIGSTOP: "hosting", syscall.SIGTSTP: "hosting restarting"} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			c := open(t, mode, 80, 24, "TUI_SHELL="+pid)
			c.pid = func() int { return readPID(t, pid) }
			c.sees("prober")
			c.keys("jjjjjj")
			c.sees("0 builder")
			c.useShell(sig)
			c.sees("0 builder")
			c.keys("a")
			c.sees("hello from builder at 80x23")
			c.useShell(sig)
			c.sees("hello from builder at 80x23")
			c.keys("xy")
			c.sees("echo:xy")
			c.keys("\x11")
			c.sees("detached from builder; it keeps running")
			c.keys("q")
			c.insist("h", "exit: ")
			c.ends("hand over")
		})
	}
}

// shell runs this binary again in its own process group, as a shell does, and writes the process ID to a file.
func shell(file string) int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TUI_SHELL=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		return 1
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil || cmd.Wait() != nil {
		return 1
	}
	return 0
}

func readPID(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// Without a shell that could continue the room, SIGTSTP does not stop it.
func TestTerminalStopWithoutShell(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting", 80, 24)
	c.sees("prober")
	c.signal(syscall.SIGTSTP)
	c.keys("jjjjjj")
	c.sees("0 builder")
	c.signal(syscall.SIGTERM)
	c.ends("terminated")
}

// useShell stops the room with a signal, uses its terminal like a shell, and continues the room.
func (c *console) useShell(sig syscall.Signal) {
	c.t.Helper()
	raw, err := term.GetState(c.tty.Fd())
	if err != nil {
		c.t.Fatal(err)
	}
	c.signal(sig)
	eventually.True(c.t, "the stop", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.pid()))
		return err == nil && bytes.Contains(stat, []byte(") T "))
	})
	if now, err := term.GetState(c.tty.Fd()); sig == syscall.SIGTSTP && !reflect.DeepEqual(now, c.before) {
		c.t.Errorf("%v did not restore the terminal: %+v, %v", sig, now, err)
	}
	if err := term.Restore(c.tty.Fd(), c.before); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.tty.WriteString("\x1b[2J\x1b[H$ fg\r\n"); err != nil {
		c.t.Fatal(err)
	}
	c.sees("$ fg")
	if sig == syscall.SIGTSTP {
		c.sane()
	}
	c.signal(syscall.SIGCONT)
	eventually.True(c.t, "raw mode", func() bool {
		now, err := term.GetState(c.tty.Fd())
		return err == nil && reflect.DeepEqual(now, raw)
	})
}
