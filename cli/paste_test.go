package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/config"
)

// Pasted lines do not answer a question. The shell runs them afterwards.
func TestPastedLinesAreNotAnswers(t *testing.T) {
	for name, run := range map[string]func(*env.Env) error{
		"init":       func(e *env.Env) error { return initCity(e, ".", "", false) },
		"no command": firstContact,
		"foreground": func(e *env.Env) error { return foreground(t.Context(), e, false) },
		"trust": func(e *env.Env) error {
			shown, err := consent.DescribeTrust(func() (*config.City, error) { return &config.City{}, nil })
			if err != nil || consent.AskTrust(e, shown) {
				return err
			}
			return errors.New("not trusted")
		},
	} {
		t.Run(name, func(t *testing.T) {
			terminal, tty, err := pty.Open()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = terminal.Close(), tty.Close() })
			if _, err := terminal.WriteString("gcity status\n"); err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			var said strings.Builder
			err = run(&env.Env{In: tty, InTTY: true, Printer: output.Printer{Out: io.Discard, Err: &said,
				OutTTY: true, ErrTTY: true, Now: time.Now, Getenv: func(string) string { return "" }}})
			if strings.Contains(strings.ToLower(said.String()), "[y/n]") {
				t.Errorf("the command asked a question: %s", said.String())
			}
			_, missing := os.Stat("city.toml")
			if wrote := missing == nil; wrote != (name == "init") || wrote != (err == nil) {
				t.Errorf("wrote %v, returned %v", wrote, err)
			}
			if line, err := bufio.NewReader(tty).ReadString('\n'); line != "gcity status\n" {
				t.Errorf("remaining input: got %q, %v", line, err)
			}
		})
	}
}
