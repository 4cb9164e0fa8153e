package topology

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"
)

// Limits on the size of a repository.
const (
	maxSize      = 256 << 20 // bytes in the repository and the checked-out files
	maxFiles     = 50_000
	sizeInterval = 200 * time.Millisecond
)

type bounds struct {
	size     int64
	files    int
	interval time.Duration
}

// watch calls a function with a context that is canceled when the folder exceeds the bounds. An error about the
// bounds replaces the function's error.
func (b bounds) watch(ctx context.Context, dir string, do func(ctx context.Context) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	done := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(b.interval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := b.check(dir); err != nil {
					stop(err)
					return
				}
			}
		}
	})
	err := do(ctx)
	close(done)
	wg.Wait()
	defer stop(nil)
	if _, over := errors.AsType[*tooLarge](context.Cause(ctx)); over {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	return b.check(dir)
}

type tooLarge struct{ what string }

func (e *tooLarge) Error() string {
	return fmt.Sprintf("the repository is larger than %s, the limit for a topology: use a "+
		"smaller repository, or clone it yourself and use its path", e.what)
}

func (b bounds) check(dir string) error {
	var size int64
	files := 0
	return filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			size += info.Size()
		}
		files++
		switch {
		case size > b.size:
			return &tooLarge{fmt.Sprintf("%d MiB", b.size>>20)}
		case files > b.files:
			return &tooLarge{fmt.Sprintf("%d files", b.files)}
		}
		return nil
	})
}
