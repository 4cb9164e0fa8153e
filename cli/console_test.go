package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/controller"
)

// If another process starts the city after `gcity` has looked for a controller, the room joins it. If that controller
// cannot be reached, the error says that it is running.
func TestRoomJoinsAfterALostRace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\nname = \"town\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hold, err := controller.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Release()
	for _, live := range []bool{true, false} {
		looks := 0
		ctx, cancel := context.WithCancel(t.Context())
		e := &env.Env{Dir: dir, InTTY: true, Printer: output.Printer{Out: io.Discard, Err: io.Discard,
			OutTTY: true, Now: time.Now, Getenv: func(string) string { return "" }}}
		e.Reach = func(context.Context, string) (*env.Link, error) {
			if looks++; looks > 1 {
				cancel() // the room does not open, or closes at once
			}
			return &env.Link{Control: citytest.NewFake("town"), Dir: dir, Live: live && looks > 1, Close: func() {}}, nil
		}
		err := console(ctx, e)
		if joined := !exit.AlreadyRunning(err); joined != live || looks < 2 {
			t.Errorf("live %v: looked %d times, got %v", live, looks, err)
		}
		cancel()
	}
}
