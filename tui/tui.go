package tui

import (
	"log/slog"
	"os"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// Options configure the control room.
type Options struct {
	City   city.Control
	Mode   state.Mode
	Folder string          // folder of the city, absolute, without symbolic links; "" = unknown
	Config feed.ConfigFile // nil = the configuration cannot be edited here
	// the theme if neither the user nor the city sets one; the zero value is themes.Default
	Theme themes.Theme

	NoColor bool // no colors, only bold, faint and reversed text
	ASCII   bool
	// less motion: clocks change once a minute where possible
	ReducedMotion bool
	// fewer frames; the pane is below the lists, at full width
	OverSSH     bool
	Preferences feed.Preferences
	Changes     <-chan feed.Preferences // delivers changed preferences; nil = they never change
	// file that stores the state of the room; "" = the state is not stored
	StateFile string

	// Cities lists the cities that can be opened here; nil = no list. With a list and no City, the all-cities room is
	// shown first.
	Cities city.Directory
	// ConfigOf returns Config for a city in the list; nil = the configurations of listed cities cannot be edited here
	ConfigOf func(folder string, c city.Control) feed.ConfigFile
	// StateFileOf returns StateFile for a city in the list; nil = the state is not stored
	StateFileOf func(folder string) string

	// CheckLeave returns an error if the room must stay open instead of leaving in this way. The room shows the error.
	// CheckLeave may take a second, and may be nil.
	CheckLeave func(feed.Exit) error
	// OnLeave is called before Run returns, with the city that the room showed last; nil = it is not called
	OnLeave func(ShownCity)

	// maximum frames per second; 0 = 60, or 30 over SSH
	FPS int

	// Interrupts delivers SIGINT; nil = the room itself listens for SIGINT. While another program uses the terminal,
	// SIGINT is ignored, because Ctrl+C is meant for that program.
	Interrupts <-chan os.Signal

	In      *os.File     // nil = os.Stdin
	Out     *os.File     // nil = os.Stdout
	Environ []string     // nil = os.Environ()
	Logger  *slog.Logger // must not write to the terminal; nil = no logging
	LogFile string       // the file that Logger writes to; "" = unknown

	// Clock returns the time that the room shows; nil = time.Now. It is called from several goroutines.
	Clock func() time.Time
}

// ShownCity is the last known state of the city that a room shows.
type ShownCity struct {
	Name   string // safe to print
	Folder string // "" = the room shows all cities
	Agents int    // number of running agents
	Mode   string // how the city runs, as in city.Snapshot; "" = unknown
	// whether the controller responds; false = the city has stopped or its state is unknown
	Responds bool
}

func shownCity(m *state.Room) ShownCity {
	if m.FleetRoom {
		return ShownCity{}
	}
	c := ShownCity{Name: state.CityName(m), Folder: m.Folder, Agents: state.RunningAgents(m),
		Responds: m.Unreachable == "" && m.Snap != nil && !m.Snap.ShutDown}
	if m.Snap != nil {
		c.Mode = m.Snap.Mode
	}
	return c
}

func (o Options) withDefaults() (Options, error) {
	if o.Theme.Name == "" {
		t, err := themes.Load(themes.Default)
		if err != nil {
			return o, err
		}
		o.Theme = t
	}
	if o.Preferences.Themes == nil {
		for _, name := range themes.Names() {
			t, err := themes.Load(name)
			if err != nil {
				return o, err
			}
			o.Preferences.Themes = append(o.Preferences.Themes, t)
		}
	}
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.FPS <= 0 {
		o.FPS = 60
		if o.OverSSH {
			o.FPS = 30
		}
	}
	return o, nil
}
