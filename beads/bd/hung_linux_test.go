package bd_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gcity/beads"
	"gcity/beads/bd"
	"gcity/beads/guard"
	"gcity/internal/eventually"
	"gcity/internal/hungfs"
)

// A call to a store in a folder that does not respond ends with its context.
func TestHungFolder(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	with(t, "")
	hung, blocked, _ := hungfs.Mount(t, true)
	s, err := bd.Open(bd.Options{Dir: filepath.Join(hung, "rig"), Prefix: "x", Environ: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	g := guard.New(func(guard.Report) {}).StoreFor("rig", s)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { _, err := g.List(ctx, beads.Query{}); ended <- err }()
	eventually.Receive(t, "the blocked call", blocked)
	cancel()
	if err := eventually.Receive(t, "the error", ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
