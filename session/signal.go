package session

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ParseSignal returns the signal with a name such as "hup" or "SIGTERM", in upper or lower case. It returns 0 if the
// name is unknown.
func ParseSignal(name string) syscall.Signal {
	name = strings.ToUpper(name)
	if name == "INTERRUPT" {
		return unix.SIGINT
	}
	return unix.SignalNum("SIG" + strings.TrimPrefix(name, "SIG"))
}
