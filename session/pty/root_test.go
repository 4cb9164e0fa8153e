package pty

import (
	"os"
	"path/filepath"
	"testing"
)

// The sessions' folder of a city in / is below the stable path.
func TestCityInRoot(t *testing.T) {
	at := t.TempDir()
	p, err := New(Options{City: "/", At: at, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := os.Stat(filepath.Join(at, ".gc/sessions")); err != nil {
		t.Error(err)
	}
}
