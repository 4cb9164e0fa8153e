package e2e

import (
	"fmt"
	"os/exec"
	"sync"
	"testing"
)

// Exactly one of several concurrent processes can claim a bead.
func TestOnlyOneClaimSucceeds(t *testing.T) {
	t.Parallel()
	const people = 4
	c := newTown(t, 0, "")
	c.gcity(0, "bead", "create", "dig", "--json")
	id := c.beads()[0].ID
	var wg sync.WaitGroup
	codes := make([]int, people)
	for i := range people {
		wg.Go(func() {
			who := fmt.Sprint("w-", i)
			for _, args := range [][]string{{"--label", who}, {"--claim", "--assignee", who}} {
				cmd := exec.Command(c.bin, append([]string{"--city", c.dir, "bead", "update", id}, args...)...)
				_ = cmd.Run() // only its exit code matters
				codes[i] = cmd.ProcessState.ExitCode()
			}
		})
	}
	wg.Wait()
	done := 0
	for i, code := range codes {
		switch code {
		case 0:
			done++
			if b := c.beads()[0]; b.Assignee != fmt.Sprint("w-", i) {
				t.Errorf("w-%d claimed the bead, but the assignee is %q", i, b.Assignee)
			}
		case 4:
		default:
			t.Errorf("w-%d: exit %d", i, code)
		}
	}
	if done != 1 {
		t.Errorf("got %d successful claims, want 1: %v", done, codes)
	}
}
