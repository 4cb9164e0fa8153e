// Package state implements the state of one city's control room: the last known data about the city, the lists, the
// focus, the open dialogs, the status line, and what was sent. It also implements the rules that keep this state
// consistent: what is selected, what fits on the screen, and how new data from the city changes the lists.
//
// It draws nothing and defines no action. Its functions return effects, which package feed carries out.
package state

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/palette"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// IdleAfter is how long rows keep their places after a key press or after a dialog closes.
const IdleAfter = 3 * time.Second

// ConfigEdit is the state of editing the configuration.
type ConfigEdit struct {
	Files    feed.ConfigFile // nil = the configuration cannot be edited
	Draft    *feed.Draft     // edited configuration that awaits a decision; nil = none
	Checking bool
	Checked  *feed.Edited // result of the check, until the user has been asked; nil = none
}

// Appearance determines what the room looks like.
type Appearance struct {
	Terminal          TerminalDefaults
	Preferences       feed.Preferences
	Theme             themes.Theme
	ASCII             bool
	BackgroundQueried bool
	ChosenTheme       string   // the theme chosen in the palette; "" = none
	PreviewedTheme    string   // the theme that the finder previews; "" = none
	Unbound           []string // problems with the user's key bindings
}

type savedState struct {
	restored      feed.SavedRoom // the state that the previous visit stored
	Saved         []byte
	SavedAt       time.Time
	ShowHint      bool
	HintDismissed bool // the hint was dismissed, now or in an earlier visit
}

type knownCity struct {
	Snap        *city.Snapshot
	waves       city.Waves
	Wave        city.Wave
	Unreachable string    // why the city does not respond; "" = it responds
	SilentSince time.Time // when it stopped responding
}

// ScreenState is the view that the user has chosen, and the size of the screen.
type ScreenState struct {
	W, H          int
	UI            uint64 // changes with every change of the view, but not with new data
	Focus         panel.ID
	PreviousFocus panel.ID // the focus to go back to
	FilterSource  panel.ID // the panel from which a filtered list was opened; "" = none
	Led           panel.ID // the filtered list opened from FilterSource; "" = none
	lastShared    panel.ID
	Zoomed        bool
	Hidden        bool
	Below         bool // the pane is below the lists, on wide screens
	ShowRuns      bool // the pane shows an automation; see ShowsRun
	LogsFromList  bool // the logs were opened from a list

	OnlyAttention bool
	FilledAt      int64 // the Unix time when the lists were last filled
	firstFrame    time.Time
}

type paneState struct {
	Peek      terminal.Pane
	Watched   feed.Watch // the target of the viewer goroutine
	LastVisit Visit
	paneAgent string
	paneRow   panel.Ref
	Pane      widget.Cache
}

type outgoing struct {
	Drafts    []DraftTo // unsent messages, oldest first
	Sending   []SendingText
	Sent      []string // messages that were sent to agents, oldest first
	Following []*followedText
	followed  int // ID of the sending action that the status line shows
	// when text was last typed for an input that did not open or that closed by itself; zero = never
	RejectedTextAt time.Time
}

type actionLog struct {
	Scaled     Scaling
	Fired      Firing
	Status     Status
	Undo       Undo
	UndoKey    UndoKey
	Departure  Departure
	Messages   []details.Message // oldest first
	History    []string          // lines of the palette, oldest first
	CopiedLast panel.Copied
	Actions    int
	Requests   int
}

type inputState struct {
	NamedAgents []string // agents that the current palette line names
	LastKey     time.Time
	Mouse       string // the user's choice: "on" or "off"; "" = per preferences
	Pressed     Press
	// time of the latest action that could have asked for confirmation but did not, or when a question closed by itself
	UnaskedAt time.Time
	// key of the row under the cursor when the user last chose an action that removes rows; "" = never
	RemovedKey string
	// the session ended during the latest attach
	SessionEnded bool
	// when the user last pressed a key for the ended session, or when the room resumed; zero = not resumed yet
	StrayKeyAt time.Time
}

// Room is the entire state of the control room. Drawing changes only cached lines and list offsets.
type Room struct {
	Mode          Mode
	Look          widget.Styles
	Keys          *Registry
	ReducedMotion bool
	Remote        bool // the user is connected over SSH
	Confirm       Confirm

	ConfigEdit
	Appearance
	savedState
	otherCities
	knownCity
	panel.Lists
	ScreenState
	paneState
	outgoing
	actionLog
	inputState

	Now     time.Time // time of the latest message
	Dialogs dialogs
	Todo    []feed.Effect // effects queued during the current update
}

// Snapshot applies a new snapshot of the city.
func (m *Room) Snapshot(s *city.Snapshot) {
	if m.Snap != nil && s.Started.Equal(m.Snap.Started) && s.Rev < m.Snap.Rev {
		return // older than the current snapshot
	}
	if m.Snap != nil && m.Snap.Rev == s.Rev && m.Snap.Started.Equal(s.Started) &&
		m.OrderIsCurrent() {
		if s.Patrol.Last.After(m.Snap.Patrol.Last) {
			m.Snap = s // only the time of the patrol has changed
		}
		return
	}
	m.Snap, m.Wave = s, m.waves.See(s)
	ApplyTheme(m)
	m.Relist()
	NoteCrash(m)
}

// Zone returns the zone of the focused panel.
func (m *Room) Zone() keymap.Zone {
	if m.Focus == panel.IDPeek {
		return keymap.InPeek
	}
	return m.Focused().About().Zone
}

// Confirm is the user's preference about confirmations.
type Confirm int

const (
	confirmNormal Confirm = iota // ask before actions that do harm or cannot be undone
	ConfirmAlways                // ask before every verb
	ConfirmNever                 // ask only if the user must type something, choose, or see a plan
)

type otherCities struct {
	Directory bool        // a list of cities exists
	Registrar bool        // cities can be registered and unregistered
	Fleet     *fleet.List // nil = not received yet
	FleetRoom bool        // the room shows all cities
	All       bool        // the program was started for all cities
	At        string      // the city's name in the list; "" = the city is not listed
	OpenedAs  string      // the name under which the city was opened from the list; "" = none
	Folder    string      // folder of the city, without symbolic links; "" = unknown
	// the part of Folder that distinguishes the city from others of the same name; "" = the name is unique
	sameName string
	// name of the home city, for which the program was started; "" = started for all cities, or this room shows the
	// home city
	Home string
	// like sameName, for the home city
	homeSameName string
	// latest snapshot of the home city, and when it was received
	HomeSnap   *city.Snapshot
	HomeSeen   time.Time
	HomeFolder string          // folder of the home city; "" = started for all cities
	HostsHome  bool            // Home is set, and this program runs the home city's controller
	OpenedFrom feed.SwitchCity // the room from which the user opened the all-cities room
	Switch     CitySwitch
	ArrivedAt  time.Time
	// when the open list of cities was last requested; zero = the list is not open
	citiesReadAt time.Time
	// when the list of cities, or the text in its place, was opened
	CitiesOpenedAt time.Time

	Cities     widget.Table[*fleet.City]
	CityFilter widget.Filter
	NeedCursor int
	NeedOffset int
	NeedOf     [2]string // the key of the city and the name of the agent under the cursor
	OnNeeds    bool      // the cursor is among the agents
}

// CitySwitch is an ongoing switch to another city.
type CitySwitch struct {
	ID     int // ID of its status line; 0 = no switch in progress
	Name   string
	Starts bool   // it starts the city first
	Before Status // the status line before the switch
	Keys   []tea.KeyPressMsg
}

// Press is the latest click, for detecting double clicks.
type Press struct {
	At           time.Time
	X, Y         int
	ClosedTarget bool // a second click would hit a different target
}

// Mode determines what the user is allowed to do, and what happens when the user leaves.
type Mode int

const (
	Hosting  Mode = iota // the controller runs in this process
	Joined               // the controller runs in another process
	ReadOnly             // another process runs the controller, and no verb is allowed
)

// String returns the mode as shown in the header.
func (m Mode) String() string { return [...]string{"runs here", "joined", "read-only"}[m] }

// Word is a completion.
type Word = palette.Word
