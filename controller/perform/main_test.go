package perform

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"gcity/session/pty"
)

// With the argument "hold", TestMain runs this program as the holder of a session.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		if os.Getenv("GORACE") == "" { // otherwise the race detector delays the exit by a second
			env := append(os.Environ(), "GORACE=atexit_sleep_ms=0")
			fmt.Fprintln(os.Stderr, "cannot execute again:", syscall.Exec(os.Args[0], os.Args, env))
		}
		os.Exit(pty.Hold())
	}
	os.Exit(m.Run())
}
