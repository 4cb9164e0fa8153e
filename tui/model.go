package tui

import (
	"time"

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

// still is how long after a key the lists keep their order, so that rows do not move while the user works.
const still = 3 * time.Second

// configEdit is the state of an edit of the configuration.
type configEdit struct {
	files   feed.ConfigFile // nil = it cannot be edited
	draft   *feed.Draft     // edited configuration that the user has not decided about; nil = none
	judging bool            // the draft is being checked
	judged  *feed.Edited    // result of the check, until the user has been asked; nil = none
}

// appearance determines the look of the room: the user's preferences, the theme and the terminal's background.
type appearance struct {
	around  surroundings
	person  feed.Person
	theme   themes.Theme // theme in use
	ASCII   bool
	glanced bool     // the terminal was asked for its background
	tried   string   // the theme chosen in the palette, "" = none
	preview string   // the theme that the finder previews, "" = none
	unbound []string // problems of the user's key bindings
}

// visitMemory is the state that is stored between visits.
type visitMemory struct {
	recalled feed.Memory // the stored state of the last visit
	noted    []byte      // the state stored last
	notedAt  time.Time
	greeting bool // the hint of the first visit is shown
	greeted  bool // the hint was dismissed, now or in an earlier visit
}

// knownCity is the last known state of the city.
type knownCity struct {
	snap  *city.Snapshot
	waves city.Waves
	wave  city.Wave // computed from snap
	gone  string    // why the city does not answer; "" = it answers
	lone  time.Time // when it stopped answering
}

// screenState is the view that the user has chosen, and the size of the screen.
type screenState struct {
	w, h   int
	UI     uint64 // incremented by every message that may change the screen, except new data
	focus  panel.ID
	before panel.ID // the focus to go back to
	trail  panel.ID // the panel with the row that led to a filtered list; "" = none
	slot   panel.ID // the panel with Slot set that had the focus last
	zoomed bool
	hidden bool // the pane is hidden
	below  bool // the pane is below the lists, on wide screens
	onRuns bool // the pane shows an automation; see showsRun

	attention bool  // only what needs attention is shown
	sifted    int64 // the Unix time of the last fill of the lists
}

// paneState is the pane and its content.
type paneState struct {
	peek    terminal.Pane
	watched feed.Watch   // the target of the viewer goroutine
	stayed  stay         // the last visit to a terminal
	pane    widget.Cache // cached lines of the pane
}

// outgoing is the mail and texts that the user has written.
type outgoing struct {
	drafts    []draftTo      // unsent texts, oldest first
	posted    []posting      // mail that is being sent
	sent      []string       // texts that went to agents, oldest first
	following []followedText // sent texts that are being followed, oldest first
	followed  int            // ID of the action with the texts that the status line reports on
	// time of the last key of a text that could not be typed; zero = none
	refusedText time.Time
}

// actionLog is the record of actions: the status line, the undo, the messages and the number of requests.
type actionLog struct {
	scaled     scaling // the size requested last
	fired      firing  // the automation fired last
	status     status
	undo       undo
	departure  departure
	messages   []details.Message // oldest first
	history    []string          // lines of the palette, oldest first
	copiedLast panel.Copied
	actions    int // the number of actions started
	seeks      int // the number of requests to the city
}

// handState is the recent input from the keyboard and the mouse.
type handState struct {
	aim     []string  // agents named for the current verb
	aside   string    // the agent selected before Quarantine got the focus; "" = none
	keyed   time.Time // time of the last key
	mouse   string    // the user's choice: "on" or "off"; "" = by the preferences
	pressed press
	unasked time.Time // time of the last action that may ask a question and did not
}

// model is the control room's whole state. Messages change it; View only reads it (and caches drawn lines).
type model struct {
	mode    Mode
	look    widget.Styles
	keys    *registry
	calm    bool // reduced motion
	remote  bool // over SSH
	confirm confirm

	configEdit
	appearance
	visitMemory
	otherCities
	knownCity
	panel.Lists
	screenState
	paneState
	outgoing
	actionLog
	handState

	now     time.Time // time of the last message
	dialogs dialogs
	todo    []feed.Effect // effects queued during the current update
}

// snapshot applies a new snapshot of the city.
func (m *model) snapshot(s *city.Snapshot) {
	if m.snap != nil && s.Started.Equal(m.snap.Started) && s.Rev < m.snap.Rev {
		return // older than the current snapshot
	}
	if m.snap != nil && m.snap.Rev == s.Rev && m.snap.Started.Equal(s.Started) && m.settledOrder() {
		if s.Patrol.Last.After(m.snap.Patrol.Last) {
			m.snap = s // only the time of the patrol is new
		}
		return
	}
	m.snap, m.wave = s, m.waves.See(s)
	relook(m)
	m.relist()
	noteCrash(m)
}

// zone returns the zone of the focused panel.
func (m *model) zone() keymap.Zone {
	if m.focus == panel.IDPeek {
		return keymap.InPeek
	}
	return m.focused().About().Zone
}

// confirm is the user's preference for confirmation questions.
type confirm int

const (
	confirmNormal confirm = iota // ask before actions that do harm or cannot be undone
	confirmAlways                // ask before every verb
	confirmNever                 // ask only if the user must type something or see a plan
)

// otherCities is the state of a room about the other cities.
type otherCities struct {
	directory bool        // a list of cities exists
	registrar bool        // cities can be registered and unregistered
	fleet     *fleet.List // nil = not received yet
	fleetRoom bool        // the room shows all cities and belongs to none
	all       bool        // the program was started for all cities
	at        string      // the city's name in the list, "" = not listed
	under     string      // its name when it was opened from the list; "" = not from the list
	folder    string      // folder of the city, without symbolic links; "" = unknown
	// name of the home city, for which the program was started, if the room shows a different city
	home string
	// last snapshot of the home city, and when it was received
	homeSnap *city.Snapshot
	homeSeen time.Time
	homeAt   string          // folder of the home city; "" = started for all cities
	hosts    bool            // home is set, and this program runs the home city's controller
	from     feed.SwitchCity // the room from which the user opened the room of all cities
	going    citySwitch
	arrived  time.Time

	cities     widget.Table[fleet.City, *fleet.City]
	cityFilter widget.Filter
	needAt     int
	needOffset int
	needOf     [2]string // the city and the agent under the cursor
	onNeeds    bool      // the cursor is among the agents
}

// citySwitch is a switch to another city in progress.
type citySwitch struct {
	id     int // ID of its status line; 0 = no switch in progress
	name   string
	before status // the status line before the switch
}

// press is the last click, to detect double clicks.
type press struct {
	at   time.Time
	x, y int
	shut bool // the click closed its target, so a second click would hit another one
}

// Mode determines what the user may do and what happens on leaving.
type Mode int

const (
	Hosting  Mode = iota // the controller runs in this process
	Joined               // the controller runs in another process
	ReadOnly             // like Joined, but every verb is refused
)

// String returns the mode as the header shows it.
func (m Mode) String() string { return [...]string{"runs here", "joined", "read-only"}[m] }

// word is a completion.
type word = palette.Word
