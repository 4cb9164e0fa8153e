// Package detach knows the key that leaves an attached terminal: how a person writes it, and how terminals send it.
package detach

import (
	"fmt"
	"strings"
)

// Key is a key that leaves. The zero value is Usual.
type Key struct{ letter byte }

// Usual is the default key.
const Usual = "ctrl+q"

// Parse reads a key such as "ctrl+q". Letters and \ ] ^ _ are possible, except those that a terminal cannot
// distinguish from another key or that every program in it needs. The error says what to write instead. "" is
// Usual.
func Parse(text string) (Key, error) {
	if text == "" {
		text = Usual
	}
	rest, ok := strings.CutPrefix(strings.ToLower(text), "ctrl+")
	if !ok || len(rest) != 1 || !strings.Contains(`abcdefghijklmnopqrstuvwxyz\]^_`, rest) {
		return Key{}, fmt.Errorf("%q cannot leave a terminal; write ctrl+ and a letter or one of "+
			"\\ ] ^ _, like %q", text, Usual)
	}
	k := Key{rest[0]}
	taken := map[byte]string{'i': "tab", 'm': "enter", 'h': "backspace", 'j': "enter",
		'c': "what interrupts a program",
		'd': "the end of input"}
	if what := taken[k.letter]; what != "" {
		return Key{}, fmt.Errorf("%q is %s in a terminal; take another key, like %q", text, what,
			Usual)
	}
	return k, nil
}

// String is the key as it is written: "ctrl+q".
func (k Key) String() string { return "ctrl+" + string(rune(k.code())) }

// code is the character that is held with ctrl.
func (k Key) code() byte {
	if k.letter == 0 {
		return 'q'
	}
	return k.letter
}

// plain is the byte that terminals send for it, unless they were asked for more.
func (k Key) plain() byte { return k.code() & 0x1f }
