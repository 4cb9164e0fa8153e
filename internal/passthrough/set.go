// Package passthrough filters what a program prints into an attached terminal. Terminals do more than draw: some
// sequences write the user's clipboard, print, or make the terminal type an answer.
//
// The filter drops these sequences unless a Set admits them, and changes no other byte:
//
//   - A sequence is dropped if its answer contains text that the program has chosen, or that is on the user's screen or
//     in the user's clipboard. The answer could reach the user's shell after the attachment has ended.
//   - Queries with a fixed form of answer pass: device attributes, cursor position, modes, sizes, and colours (OSC 4,
//     10, 11 and others with "?"). Programs need them at their start, and the answer cannot contain a command.
//   - OSC and DCS sequences pass only if they are known to draw or to describe: titles, colours, links, notifications,
//     prompt marks, images. Every other number is dropped, because terminals give them any meaning.
//   - A sequence that would change how the terminal reads bytes (another coding than UTF-8, VT52, Tektronix) never
//     passes, because the filter and the terminal would read different things.
package passthrough

import (
	"fmt"
	"strings"
)

// Set is a set of classes of sequences that pass although they do more than draw. The zero value admits none.
type Set uint16

// The classes.
const (
	Answerback Set = 1 << iota // ENQ: the terminal types its answerback string
	Clipboard                  // OSC 52, OSC 1337 Copy: writes the clipboard
	// OSC 52 with "?", OSC 5522: the terminal types the clipboard's content
	ClipboardRead
	DCS          // every DCS but requests, images and synchronized updates: keys, macros, fonts
	DCSRequest   // DECRQSS and XTGETTCAP: the terminal types a setting
	MediaCopy    // CSI i: prints the screen, or all output
	OSC          // every OSC that no other class names and that is not known to be harmless
	ScreenReport // DECRQCRA: the terminal types a checksum of what is on the screen
	TitleReport  // CSI 20 t and 21 t, OSC 0 to 2 with "?": the terminal types its title

	never Set = 1 << 15 // in no Set
)

// names are the classes as the configuration writes them, in the order of the constants.
var names = [...]string{"answerback", "clipboard", "clipboard-read", "dcs", "dcs-request",
	"media-copy", "osc", "screen-report", "title-report"}

// Names returns the names that Parse knows.
func Names() []string { return names[:] }

// Parse reads names of classes.
func Parse(list []string) (Set, error) {
	var s Set
	for _, name := range list {
		bit := Set(0)
		for i, known := range names {
			if name == known {
				bit = 1 << i
			}
		}
		if bit == 0 {
			return 0, fmt.Errorf("invalid class %q: use %s", name, strings.Join(names[:], ", "))
		}
		s |= bit
	}
	return s, nil
}
