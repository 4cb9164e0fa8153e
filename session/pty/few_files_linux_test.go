package pty

import (
	"fmt"
	"os"
	"testing"

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
	err := sessiontest.AdoptWithFewFiles(func() (session.Provider, func(), error) {
		p, err := New(Options{City: city, Binary: os.Args[0]})
		return p, func() { p.Close() }, err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
