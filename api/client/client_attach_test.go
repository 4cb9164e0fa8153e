package client

import (
	"io"
	"net"
	"testing"

	"gcity/api/wire"
)

// If the connection ends within a long input, Write says how much was sent, so that no part of it is sent twice.
func TestWriteCountsCompleteFrames(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	const header = 5
	go func() {
		_, _ = io.CopyN(io.Discard, far, header+wire.MaxFrame+header+1)
		far.Close()
	}()
	term := &Terminal{Conn: near, F: wire.Framer{R: near, W: near}}
	if n, err := term.Write(make([]byte, 2*wire.MaxFrame)); n != wire.MaxFrame || err == nil {
		t.Errorf("%d bytes, %v", n, err)
	}
}
