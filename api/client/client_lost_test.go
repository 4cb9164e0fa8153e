package client

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// The error for a lost connection names the program that closed it.
func TestLostConnectionNamesTheServer(t *testing.T) {
	c := &Client{serverName: "supervisor"}
	err := c.failed(context.Background(), fmt.Errorf("read unix @->/x: %w", syscall.ECONNRESET))
	if !errors.Is(err, ErrEnded) || err.Error() != "the supervisor closed the connection" {
		t.Errorf("%v", err)
	}
}
