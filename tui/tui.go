package tui

import (
	"log/slog"
	"os"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/feed"
)

// Mode says what the person in front of the screen may do, and what leaving means.
type Mode int

const (
	Hosting  Mode = iota // the controller runs in this process
	Joined               // the controller runs elsewhere
	ReadOnly             // joined, and every verb is refused
)

// String is the mode as the header shows it.
func (m Mode) String() string { return [...]string{"hosting", "joined", "read-only"}[m] }

// Options say what to show and where.
type Options struct {
	City   city.Control
	Mode   Mode
	Folder string          // of the city, absolute, no links in it; "" = not known
	Config feed.ConfigFile // nil = it cannot be edited from here
	// where neither the person nor the city asks for another; the zero value is themes.Default
	Theme themes.Theme

	NoColor bool // weight only, whatever the theme
	ASCII   bool // no sign beyond ASCII of our own
	// nothing moves that does not have to: clocks by the minute where they can
	ReducedMotion bool
	OverSSH       bool               // fewer frames, the pane below, full width
	Person        feed.Person        // who sits in front of it
	Changes       <-chan feed.Person // the same anew, when it has changed; nil = it never does
	// file that keeps how the room was left, "" = nothing is kept; its folder is made
	Memory string

	// Cities lists the cities that can be looked at from here, nil = there is no list. With a list and no City the
	// room shows all of them first; the Mode is then that of each.
	Cities city.Directory
	// of a city of the list, nil = cannot be edited
	ConfigOf func(folder string, c city.Control) feed.ConfigFile
	// the same as Memory, of a city of the list; nil = nothing is kept
	MemoryOf func(folder string) string

	// most frames a second, which is how soon a key is answered; 0 = 60, over SSH 30. What comes in is paced apart
	// from it
	FPS int

	// Interrupts brings SIGINT to a room whose process means something else by it; nil = the room listens itself.
	// One that was typed while the terminal was somebody else's is swallowed, any other ends the room.
	Interrupts <-chan os.Signal

	In      *os.File     // the terminal; nil = os.Stdin
	Out     *os.File     // the terminal; nil = os.Stdout
	Environ []string     // nil = os.Environ()
	Logger  *slog.Logger // a file, never the screen; nil = nothing is logged

	// Clock gives what the room takes for the time; nil = time.Now. Called from several goroutines. How often it
	// draws and asks does not follow it.
	Clock func() time.Time
}

// withDefaults fills in what the zero value leaves out.
func (o Options) withDefaults() (Options, error) {
	if o.Theme.Name == "" {
		t, err := themes.Load(themes.Default)
		if err != nil {
			return o, err
		}
		o.Theme = t
	}
	if o.Person.Themes == nil {
		for _, name := range themes.Names() {
			t, err := themes.Load(name)
			if err != nil {
				return o, err
			}
			o.Person.Themes = append(o.Person.Themes, t)
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
