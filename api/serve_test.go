package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// If there are too many connections, the oldest one without a request is closed.
func TestTooManyConnections(t *testing.T) {
	c := newConns()
	open := func() (server, client net.Conn) {
		server, client = net.Pipe()
		c.changed(server, http.StateNew)
		return server, client
	}
	closed := func(client net.Conn) bool {
		if client.SetReadDeadline(time.Now()) != nil {
			return true
		}
		_, err := client.Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	}
	var servers, clients []net.Conn
	for range maxConns {
		s, k := open()
		servers, clients = append(servers, s), append(clients, k)
	}
	c.changed(servers[0], http.StateActive)
	c.asks(servers[0], true)
	c.changed(servers[1], http.StateActive) // the connection has sent only part of a request
	extra, client := open()
	if closed(clients[0]) || !closed(clients[1]) || closed(clients[2]) || closed(client) {
		t.Error("the closed connection is not the oldest one without a request")
	}
	c.changed(servers[1], http.StateClosed)
	for _, s := range append(servers[2:], extra) {
		c.asks(s, true)
	}
	last, client := open()
	if !closed(client) {
		t.Error("a connection beyond the limit was accepted")
	}
	c.changed(last, http.StateClosed)
	c.changed(servers[0], http.StateClosed)
	if _, client = open(); closed(client) {
		t.Error("a connection within the limit was closed")
	}
	if active, all, _ := c.count(); active != 0 || all != maxConns {
		t.Errorf("got %d active connections, %d in total", active, all)
	}
}
