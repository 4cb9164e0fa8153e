package env_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gcity/api/client"
	"gcity/cli/env"
)

func envOf(t *testing.T, reach func() (*env.Link, error)) *env.Env {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := &env.Env{Dir: dir, Reach: func(context.Context, string) (*env.Link, error) {
		return reach()
	}}
	e.Getenv = func(string) string { return "" }
	return e
}

func liveLink() *env.Link { return &env.Link{Live: true, Close: func() {}} }

// Follow continues if the controller restarts again and again, because each stream lasts for a while.
func TestFollowRepeatedRestarts(t *testing.T) {
	e := envOf(t, func() (*env.Link, error) { return liveLink(), nil })
	synctest.Test(t, func(t *testing.T) {
		streams := 0
		err := e.Follow(t.Context(), liveLink(), func(context.Context, *env.Link) error {
			if streams++; streams == 20 {
				return nil
			}
			time.Sleep(2 * time.Second)
			return client.ErrEnded
		})
		if err != nil || streams != 20 {
			t.Errorf("got %v after %d streams", err, streams)
		}
	})
}

// Follow ends if the city cannot be opened again, or if every stream ends at once.
func TestFollowGivesUp(t *testing.T) {
	for name, reach := range map[string]func() (*env.Link, error){
		"not opened": func() (*env.Link, error) { return nil, client.ErrNotRunning },
		"ends":       func() (*env.Link, error) { return liveLink(), nil },
	} {
		e := envOf(t, reach)
		synctest.Test(t, func(t *testing.T) {
			err := e.Follow(t.Context(), liveLink(), func(context.Context, *env.Link) error {
				return client.ErrNotRunning
			})
			if !errors.Is(err, client.ErrNotRunning) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}
