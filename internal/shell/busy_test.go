package shell

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// A delayed reader loses no output.
func TestLateReaderLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("keeps every CPU busy")
	}
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for range 60 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	defer busy.Wait()
	defer close(stop)
	var lines sync.WaitGroup
	for i := range 4 {
		lines.Go(func() {
			res, err := Run(context.Background(), Line{Text: fmt.Sprintf("echo %d", i), Env: []string{"PATH=/usr/bin:/bin"}, Split: true})
			if want := fmt.Sprintln(i); err != nil || string(res.Stdout) != want {
				t.Errorf("printed %q, %v; want %q", res.Stdout, err, want)
			}
		})
	}
	lines.Wait()
}
