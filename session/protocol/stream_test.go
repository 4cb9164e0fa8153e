package protocol

import (
	"errors"
	"io"
	"net"
	"testing"

	"gcity/session"
)

// Output that a viewer no longer reads does not end the terminal, because the viewer's input may still be waiting.
func TestOutputAfterViewer(t *testing.T) {
	near, far := net.Pipe()
	far.Close()
	defer near.Close()
	term := &printing{}
	toViewer(near, term)
	if term.reads != 3 {
		t.Errorf("read the output %d times, want 3", term.reads)
	}
}

// printing prints twice before it ends.
type printing struct {
	session.Terminal
	reads int
}

func (p *printing) Read(b []byte) (int, error) {
	if p.reads++; p.reads > 3 {
		return 0, errors.New("read after the end")
	}
	if p.reads == 3 {
		return 0, io.EOF
	}
	return copy(b, "x"), nil
}
