package tmux

import (
	"context"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/sessiontest"
)

func TestFewFiles(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	sessiontest.FewFiles(t, newProvider(t, city), func(name string) session.Spec {
		return spec(city, name, "exec sleep 1000")
	}, "few-files", city)
}

// adoptWithFewFiles is the child process of TestFewFiles.
func adoptWithFewFiles(city string) int {
	err := examineWithoutFiles(city)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = sessiontest.AdoptWithFewFiles(func() (session.Provider, func(), error) {
		p, err := New(Options{City: city, Binary: os.Args[0]})
		return p, func() { p.Close() }, err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// examineWithoutFiles compares the sessions with what tmux reports, while the process cannot open a file.
func examineWithoutFiles(city string) error {
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err != nil {
		return err
	}
	defer p.Close()
	v, err := p.snapshot(context.Background(), nil)
	if err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: limit.Max}); err != nil {
		return err
	}
	suspects := 0
	for _, e := range p.reg.All() {
		if p.compare(e, v) {
			suspects++
		}
	}
	_, _, recallErr := p.files.recall("a0")
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	if suspects > 0 || !proc.Exhausted(recallErr) {
		return fmt.Errorf("%d sessions seem to have ended, and reading a record returned %v", suspects,
			recallErr)
	}
	return nil
}
