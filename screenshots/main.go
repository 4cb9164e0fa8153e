// Command screenshots photographs the control room: it runs the real program in a real terminal on a copy of the demo
// city, types what a shot's script says, and draws what the terminal then shows. `make screenshots` calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"

	"gcity/internal/screen"
)

// shot is one picture.
type shot struct {
	name       string
	cols, rows int
	env        []string
	keys       []string // typed one after the other, each after a moment
	light      bool     // drawn as on a light terminal
}

var shots = []shot{
	{name: "room-200x60", cols: 200, rows: 60, keys: []string{"j", "j", "j"}},
	{name: "room-120x36", cols: 120, rows: 36, keys: []string{"j"}},
	{name: "room-80x24", cols: 80, rows: 24},
	{name: "pools-120x36", cols: 120, rows: 36, keys: []string{"2"}},
	{name: "light-120x36", cols: 120, rows: 36, keys: []string{"j"}, light: true},
	{name: "plain-120x36", cols: 120, rows: 36, keys: []string{"j"}, env: []string{"NO_COLOR=1"}},
	{name: "help-120x36", cols: 120, rows: 36, keys: []string{"?"}},
	{name: "quit-80x24", cols: 80, rows: 24, keys: []string{"q"}},
}

const (
	patience = 30 * time.Second
	moment   = 700 * time.Millisecond // between a key and what it shows
	drama    = 12 * time.Second       // until the demo city has something to tell
)

func main() {
	bin := flag.String("gcity", "bin/gcity", "the program to photograph")
	demo := flag.String("demo", "examples/demo", "the city to run it on")
	out := flag.String("out", "screenshots", "where the pictures go")
	flag.Parse()
	if err := run(*bin, *demo, *out); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func run(bin, demo, out string) (err error) {
	bin, err = filepath.Abs(bin)
	if err != nil {
		return err
	}
	pen, err := newPen()
	if err != nil {
		return err
	}
	city, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(city)) }()
	if err := os.CopyFS(city, os.DirFS(demo)); err != nil {
		return err
	}
	ctl := exec.Command(bin, "--headless", "--city", city)
	ctl.Env = environ()
	if err := ctl.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, ctl.Process.Signal(syscall.SIGTERM), ctl.Wait())
	}()
	time.Sleep(drama)
	for _, s := range shots {
		if err := s.take(bin, city, filepath.Join(out, s.name+".png"), pen); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// environ is the same on every machine.
func environ(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor",
		"XDG_STATE_HOME=" + filepath.Join(os.TempDir(), "gcity-screenshots"),
	}, more...)
}

// take runs the control room in a terminal of the shot's size and draws it.
func (s shot) take(bin, city, file string, p *pen) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, "--city", city)
	cmd.Env = environ(s.env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(s.cols), Rows: uint16(s.rows)})
	if err != nil {
		return err
	}
	defer tty.Close()
	scr := screen.New(s.cols, s.rows, 0)
	defer scr.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(scr, tty) // ends with the program
	}()
	time.Sleep(3 * moment)
	for _, key := range s.keys {
		if _, err := io.WriteString(tty, key); err != nil {
			return err
		}
		time.Sleep(moment)
	}
	lines := scr.Lines(s.cols, s.rows)
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		return errors.New("the screen stayed empty")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-done
	cmd.Wait() // its exit code says that it was ended
	return save(file, p, lines, s)
}

func save(file string, p *pen, lines []string, s shot) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, p.draw(lines, s.cols, s.rows, s.light)), f.Close())
}
