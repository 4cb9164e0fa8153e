package feed

import (
	"gcity/internal/detach"
	"gcity/themes"
	"gcity/tui/keymap"
)

// Preferences are the user's preferences. The zero value sets none.
type Preferences struct {
	// name of a theme in Themes, or AutoTheme; "" = not set
	Theme         string
	Themes        []themes.Theme // available themes; nil = the built-in ones
	ASCII         *bool          // overrides the Options; nil = not set
	MouseOff      bool           // the terminal keeps the mouse unless the user turns it on
	ReducedMotion bool           // can also be enabled in the Options
	Columns       []string       // columns of Agents, see ColumnNames; nil = the default columns
	Confirm       string         // "normal", "always" or "never"; "" = normal
	Detach        detach.Key
	OnHangup      string           // "headless", "stop" or "leave"; "" = headless
	Keys          []keymap.Binding // key bindings in the order of the file
	File          string           // file with the preferences, for messages; "" = none
	Problems      []string         // errors in the file, with positions
}

// HangupText says what happens to the city when the control room's terminal is closed.
func (p *Preferences) HangupText() string {
	switch p.OnHangup {
	case "stop":
		return "Closing the terminal stops the city and its agents (on_hangup = stop)."
	case "leave":
		return "Closing the terminal leaves only the agents running (on_hangup = leave)."
	}
	return "Closing the terminal leaves everything running."
}
