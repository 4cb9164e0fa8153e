package tui

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/city"
	"gcity/internal/screen"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

// TestMain runs the control room instead of the tests if a test has started this binary in a terminal.
func TestMain(m *testing.M) {
	if file := os.Getenv("TUI_SHELL"); file != "" {
		os.Exit(shell(file))
	}
	if mode := os.Getenv("TUI_CHILD"); mode != "" {
		os.Exit(child(mode))
	}
	flag.Parse()
	if asked := slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.parallel") }); !asked {
		_ = flag.Set("test.parallel", "4") // tests in terminals spend most of their time waiting
	}
	os.Exit(m.Run())
}

// child runs a control room with a fake city, and prints how it ended.
func child(mode string) int {
	f := newFakeCity(time.Now())
	f.ticker = func(agent string, n int) []byte {
		if agent != "chatty" {
			return nil
		}
		return fmt.Appendf(nil, "%s line %d \x1b[3%dmof a log\x1b[m that never ends\r\n", time.Now().Format("15:04:05"), n, 1+n%6)
	}
	o := Options{City: f, Mode: state.Hosting}
	o.NoColor = os.Getenv("NO_COLOR") != ""
	for _, word := range strings.Fields(mode) {
		switch word {
		case "joined":
			o.Mode = state.Joined
		case "readonly":
			o.Mode = state.ReadOnly
		case "ascii":
			o.ASCII = true
		case "ssh":
			o.OverSSH = true
		case "panic":
			f.fail = map[string]string{"prober": "panic"}
		case "refuse":
			f.fail = map[string]string{"builder": "builder: its holder does not answer"}
		case "flood":
			f.ticker = flood
		case "steady":
			f.ticker = steady
		case "poison":
		case "fleet":
			d := twoCities(filepath.Dir(os.Getenv("TUI_REPORT")))
			o.Cities = d
			o.City, _ = d.City("alpha")
			o.Folder = "/alpha"
		case "all":
			o.City, o.Folder, o.Mode = nil, "", state.Joined
		case "crowd-100", "crowd-200", "crowd-1000":
			var n int
			if _, err := fmt.Sscanf(word, "crowd-%d", &n); err != nil {
				panic(err)
			}
			f.change(func(s *city.Snapshot) { s.Agents = crowd(n).Agents })
		case "few":
			f.change(few)
		case "mute":
			o.City = mute{f}
		case "unanswered":
			o.City = unanswered{f}
		case "restarting":
			o.City = &restarting{fakeCity: f}
		case "ill-snapshots", "ill-events", "ill-watch", "ill-beads", "ill-attach":
			o.City = ill{f, strings.TrimPrefix(word, "ill-")}
		case "pools":
			f.change(withPools)
		case "automations":
			f.change(withAutomations)
			f.beads = someWork()
		case "empty":
			f.change(func(s *city.Snapshot) { s.Agents = nil })
		case "sick":
			f.change(func(s *city.Snapshot) {
				s.Config.Rejected = `city.toml:12:3: unknown key "comand"; did you mean "command"?`
				s.Degraded = []string{"the event log cannot be written: no space left on device"}
			})
		default:
			if t, err := themes.Load(word); err == nil {
				o.Theme = t
			}
		}
	}
	if path := os.Getenv("TUI_CONFIG"); path != "" {
		o.Config = textFile{path}
	}
	if path := os.Getenv("TUI_LOG"); path != "" {
		log, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGUSR1)
	defer stop()
	fresh := terminal.NewScreen
	if strings.Contains(mode, "poison") {
		fresh = func(cols, rows, scrollback int) terminal.Screen {
			return poison{terminal.NewScreen(cols, rows, scrollback)}
		}
		f.screens["prober"] = []byte("x")
	}
	o, err := o.withDefaults()
	if err != nil {
		panic(err)
	}
	exit, err := run(ctx, o, fresh)
	if exit == feed.Hangup { // a shell sends a second SIGHUP, after that of the kernel
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			panic(err)
		}
	}
	if path := os.Getenv("TUI_REPORT"); path != "" {
		report := fmt.Appendf(nil, "%s %v", exit, err)
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, c := range f.done {
			report = fmt.Appendf(report, ", %s %s", c.Verb(), c.Target())
		}
		if err := os.WriteFile(path, report, 0o600); err != nil {
			panic(err)
		}
	}
	fmt.Printf("exit: %s %v\r\n", exit, err)
	return 0
}

// poison is a terminal screen that panics when it is read.
type poison struct{ terminal.Screen }

func (poison) Shot(int) screen.Shot { panic("poisoned") }

func flood(_ string, n int) []byte {
	return bytes.Repeat(fmt.Appendf(nil, "flood line %d \x1b[3%dmof very many\x1b[m\r\n", n, n%8), 4000)
}

func steady(_ string, n int) []byte {
	var b []byte
	for i := range 3 {
		b = fmt.Appendf(b, "%s line %d \x1b[3%dmof a log\x1b[m that goes on and on, as logs do\r\n", time.Now().Format("15:04:05.000"), 3*n+i, i)
	}
	return b
}
