package api

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/internal/deadline"
)

// A token stays valid for a while if its file stops responding.
func TestTokenOfHungFile(t *testing.T) {
	const secretToken = "0123456789abcdef"
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(path, []byte(secretToken), 0o600); err != nil {
			t.Fatal(err)
		}
		k := &listenerKeeper{files: deadline.New[secret](tokensAtOnce), read: map[string]secret{}}
		read := func() string {
			got, err := k.readToken(t.Context(), path, false)
			if err != nil {
				return err.Error()
			}
			return got
		}
		if got := read(); got != secretToken {
			t.Fatal(got)
		}
		responds := make(chan struct{})
		if err := k.files.Start(path, func() secret { <-responds; return secret{} }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(tokenGrace - time.Millisecond)
		if got := read(); got != secretToken {
			t.Errorf("before the end of the grace period: got %s", got)
		}
		time.Sleep(time.Millisecond)
		if got := read(); !strings.HasPrefix(got, "timeout while reading the token file") {
			t.Errorf("after the grace period: got %s", got)
		}
		close(responds)
	})
}
