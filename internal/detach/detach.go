// Package detach implements the key that detaches a user from an attached terminal, and contains the sequences that
// reset the user's terminal afterwards.
package detach

import (
	"fmt"
	"strings"
)

// Key is a detach key. The zero value is Default.
type Key struct{ letter byte }

// Default is the default detach key.
const Default = "ctrl+q"

// Parse parses a key such as "ctrl+q". It rejects keys that terminals cannot distinguish and keys that programs need.
// Parse("") returns Default.
func Parse(text string) (Key, error) {
	if text == "" {
		text = Default
	}
	rest, ok := strings.CutPrefix(strings.ToLower(text), "ctrl+")
	if !ok || len(rest) != 1 || !strings.Contains(`abcdefghijklmnopqrstuvwxyz\]^_`, rest) {
		return Key{}, fmt.Errorf("%q cannot be the detach key; use ctrl+ and a "+
			"letter or one of \\ ] ^ _, like %q", text, Default)
	}
	k := Key{rest[0]}
	taken := map[byte]string{'i': "tab", 'm': "enter", 'h': "backspace", 'j': "enter",
		'c': "the key that interrupts a program",
		'd': "the end of input"}
	if what := taken[k.letter]; what != "" {
		return Key{}, fmt.Errorf("%q is %s in a terminal; use another key, like %q", text, what,
			Default)
	}
	return k, nil
}

// String returns the key as users write it: "ctrl+q".
func (k Key) String() string { return "ctrl+" + string(rune(k.code())) }

func (k Key) code() byte {
	if k.letter == 0 {
		return 'q'
	}
	return k.letter
}

func (k Key) plain() byte { return k.code() & 0x1f }
