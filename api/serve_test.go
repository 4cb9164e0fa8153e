package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// N6: one connection too many is closed; when others have gone there is room again.
func TestTooManyConnections(t *testing.T) {
	c := newConns()
	open := func() (server, client net.Conn) {
		server, client = net.Pipe()
		c.changed(server, http.StateNew)
		return server, client
	}
	var first net.Conn
	for i := range maxConns {
		if s, _ := open(); i == 0 {
			first = s
		}
	}
	extra, client := open()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("one too many: %v", err)
	}
	c.changed(extra, http.StateClosed)
	c.changed(first, http.StateClosed)
	_, client = open()
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
		t.Error("there is room, and it was closed")
	}
	if active, all, _ := c.count(); active != 0 || all != maxConns {
		t.Errorf("%d active, %d in all", active, all)
	}
}
