package shell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
)

type onlooker struct {
	seen  bytes.Buffer // needs no lock, because Run makes one Write call at a time
	react func(seen string)
	err   error
}

func (o *onlooker) Write(p []byte) (int, error) {
	o.seen.Write(p)
	if o.react != nil {
		o.react(o.seen.String())
	}
	return len(p), o.err
}

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	t.Cleanup(cancel)
	return ctx
}

// The tee receives output immediately.
func TestTeeSeesOutputAsItArrives(t *testing.T) {
	for _, split := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "go-on")
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		fifo, err := os.OpenFile(path, os.O_RDWR, 0) // with O_RDWR, opening a FIFO does not wait for the other end
		if err != nil {
			t.Fatal(err)
		}
		defer fifo.Close()
		o := &onlooker{}
		told := false
		o.react = func(seen string) {
			if !told && strings.Contains(seen, "one\n") && strings.Contains(seen, "two\n") {
				told = true
				if _, err := fifo.WriteString("go on\n"); err != nil {
					t.Error(err)
				}
			}
		}
		res, err := Run(patient(t), Line{
			Text: "echo one; echo two >&2; read word <" + path + "; echo $word", Env: os.Environ(), Split: split, Tee: o,
		})
		if err != nil || !told || o.seen.String() != string(res.Output) || !strings.HasSuffix(string(res.Output), "go on\n") {
			t.Errorf("split %v: got %q of %q, %v", split, o.seen.String(), res.Output, err)
		}
	}
}

// Errors of the tee do not affect the line.
func TestFailingTee(t *testing.T) {
	o := &onlooker{err: errors.New("no room")}
	res, err := Run(t.Context(), Line{Text: "echo one; echo two", Env: []string{"PATH="}, Tee: o})
	if err != nil || string(res.Output) != "one\ntwo\n" || o.seen.String() != "one\ntwo\n" {
		t.Errorf("got %q, copied %q, %v", res.Output, o.seen.String(), err)
	}
}

// The tee receives all output, including output that the result omits.
func TestTeeSeesAll(t *testing.T) {
	o := &onlooker{}
	res, err := Run(patient(t), Line{Text: "yes | head -c 1000000", Env: os.Environ(), Tee: o})
	if err != nil || res.Dropped+int64(len(res.Output)) != 1000000 || o.seen.Len() != 1000000 {
		t.Errorf("kept %d bytes, dropped %d, copied %d, %v",
			len(res.Output), res.Dropped, o.seen.Len(), err)
	}
}
