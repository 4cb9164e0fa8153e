package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gcity/city"
)

// The error for a lost connection names the program that closed it.
func TestLostConnectionNamesTheServer(t *testing.T) {
	c := &Client{serverName: "supervisor"}
	err := c.failed(context.Background(), fmt.Errorf("read unix @->/x: %w", syscall.ECONNRESET))
	if !errors.Is(err, ErrEnded) || err.Error() != "the supervisor closed the connection" {
		t.Errorf("%v", err)
	}
}

// If the controller exits during a command, its error says that the change might have been made.
func TestLostCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "controller.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		conn, err := l.Accept()
		if err == nil {
			_, _ = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
	}()
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	defer l.Close()
	_, err = c.Do(t.Context(), city.Suspend{Agent: "a"})
	if !errors.Is(err, ErrEnded) || !city.HasCode(err, city.Unavailable) || !strings.Contains(err.Error(), "before it responded to suspend, so the change might have been made") {
		t.Errorf("%v", err)
	}
}
