package perform

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"gcity/session/pty"
)

// TestMain plays the holder of a session when a test starts this program as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		if os.Getenv("GORACE") == "" { // or it ends a second late under the race detector
			env := append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			fmt.Fprintln(os.Stderr, "cannot start anew:", syscall.Exec(os.Args[0], os.Args, env))
		}
		os.Exit(pty.Hold())
	}
	os.Exit(m.Run())
}
