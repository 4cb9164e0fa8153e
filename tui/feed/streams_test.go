package feed

import (
	"fmt"
	"testing"

	"gcity/city"
)

// The reason why a city is unreachable does not contain the path of its socket.
func TestUnreachableReasonHasNoSocket(t *testing.T) {
	err := fmt.Errorf("cannot join: %w", &city.NotRunning{Program: "controller", Socket: "/a/b.sock"})
	if got := unreachableReason(err); got != NotRunning {
		t.Errorf("got %q, want %q", got, NotRunning)
	}
}
