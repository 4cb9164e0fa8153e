package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/events"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
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
	ascii   bool
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
	ui     uint64 // incremented by every message that may change the screen, except new data
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

// newModel returns a control room without any data from the city.
func newModel(o Options, now time.Time) *model {
	m := &model{mode: o.Mode, remote: o.OverSSH, now: now, Lists: panel.NewLists(),
		configEdit: configEdit{files: o.Config},
		appearance: appearance{around: newSurroundings(o)},
		screenState: screenState{w: 80, h: 24, below: o.OverSSH,
			focus: panel.IDAgents, before: panel.IDAgents},
	}
	m.cities = widget.NewTable[fleet.City]()
	m.directory = o.Cities != nil
	_, m.registrar = o.Cities.(city.Registrar)
	takePerson(m, o.Person)
	m.noted, m.notedAt = memoryOf(m).Text(), now
	return m
}

// update applies a message to the model and returns effects.
func (m *model) update(now time.Time, msg any) []feed.Effect {
	m.now = now
	m.Events.Seen.Look(m.Events.CursorSeq(), now)
	defer func() { m.Events.Seen.Look(m.Events.CursorSeq(), now) }()
	var todo []feed.Effect
	switch msg := msg.(type) {
	case feed.News:
		m.receive(msg)
	case tea.WindowSizeMsg:
		m.ui++
		m.w, m.h = msg.Width, msg.Height
		if c := m.dialogs.composer(); c != nil {
			c.Fit(m.w, m.h)
		}
	case tea.KeyPressMsg:
		m.ui++
		m.keyed = now
		m.dismissHint()
		if !between(m, msg.String()) {
			todo = m.key(msg)
			if c := m.dialogs.choice(); c != nil && c.Since.Equal(now) {
				c.Asked = true
			}
		}
	case tea.PasteMsg, tea.MouseClickMsg, wheel:
		if between(m, "") {
			break
		}
		todo = hand(m, msg)
	case tea.BackgroundColorMsg:
		lit(m, msg)
	case failure:
		m.ui++
		complain(m, string(msg))
	}
	tellOfEdit(m)
	if s := &m.status; s.while != nil && !s.while(m) {
		m.status = status{}
	}
	previewTheme(m)
	turnPane(m)
	askLists(m)
	todo, m.todo = append(append(todo, m.todo...), keepMemory(m, false)...), nil
	if !m.zoomed || m.focus != panel.IDPeek {
		m.peek.Logs = false
	}
	if w := watching(m); w != m.watched {
		m.watched = w
		todo = append(todo, w)
	}
	return todo
}

// receiveEvents applies events. Events about beads or mail make the lists of beads and mail outdated.
func (m *model) receiveEvents(all []events.Event) {
	if len(all) == 0 {
		return
	}
	m.Events.Add(all)
	if slices.ContainsFunc(all, func(e events.Event) bool {
		return strings.HasPrefix(e.Type, "bead.") || strings.HasPrefix(e.Type, "mail.")
	}) {
		outdate(m)
	}
}

// failure is an error from outside the model, to be shown in the status line.
type failure string

// receive applies the content of the mailbox.
func (m *model) receive(n feed.News) {
	if n.Person != nil {
		reread(m, *n.Person)
	}
	if n.Gone != nil {
		if m.gone == "" {
			m.lone = m.now
		}
		m.gone = widget.Plain(*n.Gone)
	}
	if m.stayed.agent != "" && m.now.After(m.stayed.until) {
		m.stayed = stay{}
		m.relist()
	}
	if n.Snap != nil {
		m.snapshot(n.Snap)
	} else if m.snap != nil && !m.settledOrder() {
		m.snapshot(m.snap)
	}
	// Rows may start to need attention as time passes, without new data.
	if m.attention && m.sifted != m.now.Unix() {
		m.keepUp()
	}
	m.Events.Aim(m.now)
	for _, d := range n.Dug {
		olderLoaded(m, d)
	}
	m.receiveEvents(n.Events)
	for _, r := range n.Results {
		ended(m, r)
	}
	for _, f := range n.Found {
		takeFound(m, f)
	}
	for _, in := range n.Inspected {
		inspected(m, in)
	}
	if n.Pane != nil {
		if n.Pane.Agent != m.peek.News.Agent || n.Pane.Run != m.peek.News.Run {
			endSearch(m)
		}
		m.peek.Take(*n.Pane, bornRule(m))
	}
	if n.Edited != nil {
		m.judged = n.Edited
	}
	if n.Fleet != nil {
		receiveFleet(m, n.Fleet)
	} else if m.fleetRoom && m.sifted != m.now.Unix() {
		m.sifted = m.now.Unix()
		listCities(m)
	}
	leaveWhenDone(m)
	if c := m.dialogs.choice(); c != nil && c.Leaving && lost(m) {
		askLost(m)
	}
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

// key runs the action of a key in the zone of the focused panel, or passes the key to a dialog.
func (m *model) key(k tea.KeyPressMsg) []feed.Effect {
	if m.dialogs.Top() != nil {
		return m.dialogKey(k)
	}
	if answersNothing(m, k) {
		return nil
	}
	if m.fleetRoom {
		if a := m.keys.Find(k, keymap.InFleet); a != nil {
			return m.perform(a)
		}
		return nil
	}
	if typedAfterRefusal(m, k) {
		return nil
	}
	if a := m.keys.Find(k, m.zone(), keymap.Everywhere); a != nil {
		return m.perform(a)
	}
	explainKey(m, k)
	return nil
}

// zone returns the zone of the focused panel.
func (m *model) zone() keymap.Zone {
	if m.focus == panel.IDPeek {
		return keymap.InPeek
	}
	return m.focused().About().Zone
}

// perform runs an action, or says why it is not possible.
func (m *model) perform(a *action) (todo []feed.Effect) {
	if m.status.note {
		if m.status = (status{}); a.ID == backID || a.ID == "fleet.back" {
			return nil
		}
	}
	if why := a.Refused(m); why != "" {
		complain(m, "cannot "+keymap.Verb(a.Title())+": "+why)
		m.status.note, m.status.while = true, isFresh
		if writes(a) || a.Risk == keymap.Typed {
			m.refusedText = m.now
		}
	} else {
		todo = a.Run(m)
	}
	if a.Risk == keymap.Confirmed && m.dialogs.Top() == nil {
		m.unasked = m.now
	}
	return todo
}

// dialogKey runs the action of a key in the zone of the top dialog, or passes the key to that dialog.
func (m *model) dialogKey(k tea.KeyPressMsg) []feed.Effect {
	d := m.dialogs.Top()
	a := m.keys.Find(k, d.Zone())
	switch cancels := a != nil && a.ID == "choice.cancel"; {
	case !cancels && !d.Accepts(k.String(), m.now):
		return nil
	case a != nil:
		return m.perform(a)
	}
	return m.runTasks(d.Key(k, func() { m.dialogs.Close(d) }))
}

// paste inserts text into the line or text being typed. Elsewhere it is ignored: a paste is not a sequence of commands.
func (m *model) paste(text string) {
	if d := m.dialogs.Top(); d != nil {
		d.Paste(text)
	}
}
