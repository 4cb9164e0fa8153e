package feed

import (
	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/keymap"
)

// Person is what belongs to whoever sits in front of the screen. It may change while the room is open; nothing in it is
// changed by the room. The zero value asks for nothing.
type Person struct {
	// one of Themes by name, AutoTheme, or "" = the city's, else that of the Options
	Theme         string
	Themes        []themes.Theme   // that can be chosen; nil = those that come with gcity
	ASCII         *bool            // nil = as the Options say
	ReducedMotion bool             // besides what the Options say
	Columns       []string         // of agents, see ColumnNames; nil = the usual ones
	Confirm       string           // "normal", "always" or "never"; "" = normal
	Detach        detach.Key       // leaves an attached terminal
	Keys          []keymap.Binding // in the order in which they were written
	File          string           // where all of this is written, "" = nowhere; for texts
	Problems      []string         // what could not be read of it, each with its place
}
