package agents

import (
	"bytes"
	"strings"
	"testing"

	"gcity/internal/detach"
)

func TestDetach(t *testing.T) {
	for in, want := range map[string]string{
		"abc\x11def": "abc", "\x11": "", "x\x1b[113;5uy": "x", "\x1b[27;5;113~": "",
		"a\x1b[113;5u\x11": "a",
		"q":                "q", "\x1b[113;6u": "\x1b[113;6u", "\x13": "\x13", "\x1b": "\x1b",
	} {
		var far bytes.Buffer
		if err := copyKeys(&far, strings.NewReader(in), detach.Key{}); err != nil ||
			far.String() != want {
			t.Errorf("%q arrives at the agent as %q, %v; want %q", in, far.String(), err, want)
		}
	}
}
