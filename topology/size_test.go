package topology

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fetch is canceled when the repository exceeds the bounds. A fetch that ends earlier is rejected.
func TestBounds(t *testing.T) {
	small := bounds{size: 1000, files: 10, interval: time.Millisecond}
	dir := t.TempDir()
	fill := func(name string, n int) {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fill("a", 900)
	if err := small.watch(t.Context(), dir, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	cause := errors.New("git failed")
	if err := small.watch(t.Context(), dir, func(context.Context) error { return cause }); !errors.Is(err, cause) {
		t.Error(err)
	}
	err := small.watch(t.Context(), dir, func(ctx context.Context) error {
		fill("b", 200)
		<-ctx.Done() // watch cancels the context
		return ctx.Err()
	})
	if err == nil || !strings.Contains(err.Error(), "the limit for a topology") {
		t.Error(err)
	}
	slow := bounds{size: 1000, files: 10, interval: time.Hour}
	if err := slow.watch(t.Context(), dir, func(context.Context) error { return nil }); err == nil {
		t.Error("the size was not checked at the end")
	}
	many := bounds{size: 1 << 20, files: 2, interval: time.Hour}
	if err := many.watch(t.Context(), dir, func(context.Context) error { return nil }); err == nil || !strings.Contains(err.Error(), "2 files") {
		t.Error(err)
	}
}
