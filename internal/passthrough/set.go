// Package passthrough filters what a program prints to an attached terminal. Terminals do more than draw: some
// sequences write to the user's clipboard, print, or make the terminal send a reply as if the user had typed it.
//
// The filter drops these sequences unless a Set allows them, and leaves all other bytes unchanged:
//
//   - A query is dropped if the terminal's reply contains text that the program has chosen, or text from the user's
//     screen or clipboard. The reply could reach the user's shell after the attachment has ended.
//   - A query passes if its reply has a fixed form: device attributes, cursor position, modes, sizes, and colors
//     (OSC 4, 10, 11 and others with "?"). Programs need such queries at startup, and the reply cannot contain a
//     command.
//   - An OSC or DCS sequence passes only if it is known to draw or to describe: titles, colors, links, notifications,
//     prompt marks, images. All other numbers are dropped, because terminals can give them any meaning.
//   - A sequence never passes if it changes how the terminal reads bytes (encodings other than UTF-8, VT52,
//     Tektronix). The filter and the terminal would interpret the following bytes differently.
package passthrough

import (
	"fmt"
	"strings"
)

// Set contains the classes of control sequences that are passed on, although they do more than draw.
type Set uint16

const (
	Answerback Set = 1 << iota // ENQ: the terminal types its answerback string
	Clipboard                  // OSC 52, OSC 1337 Copy: writes to the clipboard
	// OSC 52 with "?", OSC 5522: the terminal types the clipboard's content
	ClipboardRead
	DCS          // every DCS (keys, fonts and so on) except requests, images, synchronized updates
	DCSRequest   // DECRQSS and XTGETTCAP: the terminal types a setting
	MediaCopy    // CSI i: prints the screen, or all output
	OSC          // every OSC that belongs to no other class and is not known to be harmless
	ScreenReport // DECRQCRA: the terminal types a checksum of what is on the screen
	TitleReport  // CSI 20 t and 21 t, OSC 0 to 2 with "?": the terminal types its title

	never Set = 1 << 15 // sequences that no Set allows
)

// names lists the classes in the order of the constants.
var names = [...]string{"answerback", "clipboard", "clipboard-read", "dcs", "dcs-request",
	"media-copy", "osc", "screen-report", "title-report"}

// Names returns the names that Parse accepts.
func Names() []string { return names[:] }

// Parse parses a list of class names.
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
