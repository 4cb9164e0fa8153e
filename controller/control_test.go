package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"gcity/city"
)

// A command is performed even if its client gave up before the controller read it.
func TestGivenUpCommand(t *testing.T) {
	const agents = 20
	var text strings.Builder
	for i := range agents {
		fmt.Fprintf(&text, "[[agents]]\nname = \"a%d\"\nstart_command = \"x\"\n", i)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, text.String())
		defer w.begin()()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range agents {
			_, _ = w.Do(ctx, city.Suspend{Agent: fmt.Sprintf("a%d", i)}) // may fail, because it races with the cancellation
		}
		synctest.Wait()
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Agents {
			if !a.Suspended {
				t.Errorf("%s is not suspended", a.Name)
			}
		}
	})
}
