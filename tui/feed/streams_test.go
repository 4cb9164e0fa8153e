package feed

import (
	"fmt"
	"testing"

	"gcity/city"
)

func TestUnreachableReasonHasNoSocket(t *testing.T) {
	err := fmt.Errorf("cannot join: %w", &city.NotRunning{Program: "controller", Socket: "/a/b.sock"})
	if got := unreachableReason(err); got != NotRunning {
		t.Errorf("got %q, want %q", got, NotRunning)
	}
}
