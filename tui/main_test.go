package tui

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/themes"
)

// TestMain runs the control room itself when a test starts this binary again in a terminal of its own.
func TestMain(m *testing.M) {
	if mode := os.Getenv("TUI_CHILD"); mode != "" {
		os.Exit(child(mode))
	}
	os.Exit(m.Run())
}

// child runs a control room over a fake city and says on its last line how it ended.
func child(mode string) int {
	f := newFakeCity(time.Now())
	f.ticker = func(agent string, n int) []byte {
		if agent != "chatty" {
			return nil
		}
		return fmt.Appendf(nil, "%s line %d \x1b[3%dmof a log\x1b[m that never ends\r\n", time.Now().Format("15:04:05"), n, 1+n%6)
	}
	o := Options{City: f, Mode: Hosting}
	o.NoColor = os.Getenv("NO_COLOR") != ""
	for _, word := range strings.Fields(mode) {
		switch word {
		case "joined":
			o.Mode = Joined
		case "readonly":
			o.Mode = ReadOnly
		case "ascii":
			o.ASCII = true
		case "ssh":
			o.OverSSH = true
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
	if path := os.Getenv("TUI_LOG"); path != "" {
		log, err := os.Create(path)
		if err != nil {
			panic(err)
		}
		o.Logger = slog.New(slog.NewTextHandler(log, nil))
	}
	exit, err := Run(context.Background(), o)
	fmt.Printf("exit: %s %v\n", exit, err)
	return 0
}
