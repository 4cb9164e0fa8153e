package session

import (
	"syscall"
	"testing"
)

func TestParseSignal(t *testing.T) {
	for name, want := range map[string]syscall.Signal{
		"interrupt": syscall.SIGINT, "int": syscall.SIGINT, "hup": syscall.SIGHUP, "SIGTERM": syscall.SIGTERM, "Usr1": syscall.SIGUSR1,
		"": 0, "15": 0, "SIG": 0, "hang": 0,
	} {
		if got := ParseSignal(name); got != want {
			t.Errorf("%q: got %d, want %d", name, got, want)
		}
	}
}
