package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// A process that a shell has started with & cannot use the terminal.
func TestInBackground(t *testing.T) {
	const inside = "TEST_IN_BACKGROUND"
	if os.Getenv(inside) != "" {
		fmt.Printf("in the background: %t", InBackground(os.Stdin.Fd()))
		return
	}
	for end, want := range map[string]bool{"": false, "& wait": true} {
		c := exec.Command("sh", "-mc", os.Args[0]+" -test.run=^TestInBackground$ "+end)
		c.Env = append(os.Environ(), inside+"=1")
		tty, err := pty.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := io.ReadAll(tty) // EIO: the shell has exited
		tty.Close()
		if err := c.Wait(); err != nil {
			t.Errorf("%q: %v", end, err)
		}
		if want := fmt.Sprintf("in the background: %t", want); !strings.Contains(string(out), want) {
			t.Errorf("%q: got %q, want %q", end, out, want)
		}
	}
}
