package agents

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDetach(t *testing.T) {
	for in, want := range map[string]string{
		"abc\x11def": "abc", "\x11": "", "x\x1b[113;5uy": "x", "\x1b[27;5;113~": "",
		"a\x1b[113;5u\x11": "a",
		"q":                "q", "\x1b[113;6u": "\x1b[113;6u", "\x13": "\x13", "\x1b": "\x1b",
	} {
		var far bytes.Buffer
		if err := copyKeys(&far, strings.NewReader(in), &input{}); err != nil ||
			far.String() != want {
			t.Errorf("%q arrives at the agent as %q, %v; want %q", in, far.String(), err, want)
		}
	}
}

// broken is a connection that accepts some bytes and then fails.
type broken struct {
	bytes.Buffer
	accepts int
}

func (b *broken) Write(p []byte) (int, error) {
	n, _ := b.Buffer.Write(p[:min(len(p), b.accepts)]) // cannot fail
	return n, io.ErrClosedPipe
}

// If the connection to the agent is replaced within a paste, the rest of the paste is still a paste, and may contain the
// detach key. Input that the earlier connection did not accept is sent over the next one.
func TestPasteContinuesOnTheNextConnection(t *testing.T) {
	var typed input
	crashed := broken{accepts: 9}
	err := copyKeys(&crashed, strings.NewReader("\x1b[200~one\r"), &typed)
	got := crashed.String() + "|"
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	for _, in := range []string{"\x11two\r", "\x1b[201~x", "y"} {
		var far bytes.Buffer
		if err := copyKeys(&far, strings.NewReader(in), &typed); err != nil {
			t.Fatal(err)
		}
		got += far.String() + "|"
	}
	if want := "\x1b[200~one|\x1b[200~\r\x11two\r|\x1b[200~\x1b[201~x|y|"; got != want {
		t.Errorf("the agent received %q, want %q", got, want)
	}
}

// A paste whose end was lost does not disable the detach key.
func TestDetachAfterLostEndOfPaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, terminal := io.Pipe()
		ended := make(chan error, 1)
		var far bytes.Buffer
		go func() { ended <- copyKeys(&far, keys, &input{}) }()
		for _, text := range []string{"\x1b[200~hello\x11", "\x11"} {
			if _, err := io.WriteString(terminal, text); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		if err := <-ended; err != nil || far.String() != "\x1b[200~hello\x11" {
			t.Errorf("the agent received %q, %v", far.String(), err)
		}
	})
}
