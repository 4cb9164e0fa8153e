package feed

import (
	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/keymap"
)

// Person holds the preferences of the user. They may change while the room is open; the room never changes them.
// The zero value has no preferences.
type Person struct {
	// a name of Themes, AutoTheme, or "" = the city's, else that of the Options
	Theme         string
	Themes        []themes.Theme   // the available ones; nil = those built into gcity
	ASCII         *bool            // nil = as in the Options
	ReducedMotion bool             // in addition to the Options
	Columns       []string         // of agents, see ColumnNames; nil = the default ones
	Confirm       string           // "normal", "always" or "never"; "" = normal
	Detach        detach.Key       // leaves an attached terminal
	Keys          []keymap.Binding // in the order of the file
	File          string           // the file of the preferences, "" = none; for texts
	Problems      []string         // what could not be read, with positions
}
