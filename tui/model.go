package tui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

// still is how long after a key the lists keep their order: nothing moves under the hands.
const still = 3 * time.Second

// model is the control room's whole state. Messages change it; View only reads it (and remembers lines it has drawn).
type model struct {
	mode    Mode
	look    widget.Styles
	keys    *registry
	calm    bool // reduced motion
	remote  bool // over SSH
	confirm confirm

	refusedText time.Time // of the last letter of a text that nobody takes; zero = none is typed

	files   ConfigFile // of the configuration, nil = it cannot be edited
	draft   *draft     // a configuration that was edited, and nothing was decided about; nil = none
	judging bool       // it is looked at just now
	judged  *edited    // what came of that, while nobody was told; nil = nothing

	around   surroundings
	person   Person
	theme    themes.Theme // as painted now
	ascii    bool
	glanced  bool     // the terminal was asked how bright it is
	tried    string   // the theme chosen in the palette, "" = none
	preview  string   // the theme that the finder shows just now, "" = none
	unbound  []string // what is wrong with the person's keys
	recalled memory   // how the room was left last
	noted    []byte   // how it stood when that was written last
	notedAt  time.Time

	abroad

	now  time.Time // of the last message
	w, h int
	ui   uint64 // grows with every message that may change what is shown besides data

	snap *city.Snapshot
	gone string    // why the city cannot be heard, "" = it can
	lone time.Time // since when it cannot

	panel.Lists
	attention bool
	sifted    int64     // second in which the lists were filled
	aim       []string  // agents that were named for the verb that is run just now
	keyed     time.Time // of the last key

	peek    terminal.Pane
	watched watch // what the viewer was last told
	stayed  stay  // the last visit to a terminal

	focus  panel.ID
	before panel.ID // the focus to go back to
	zoomed bool
	hidden bool // the pane
	below  bool // the pane, on wide screens
	onRuns bool // the pane is about automations, see showsRun

	scaled     scaling // the size asked for last
	fired      firing  // the automation fired last
	dialogs    dialogs
	drafts     []draftTo // of texts to agents, the newest last
	posted     []posting // mail that is being sent
	sent       []string  // texts that went to agents, oldest first
	letters    []letter  // that are still on their way, oldest first
	followed   int       // the action whose letters the status line tells of
	work       *work
	inbox      *inbox
	status     status
	undo       undo
	departure  departure
	messages   []message // oldest first
	history    []string  // of the palette, oldest first
	copiedLast panel.Copied
	mouse      bool // it is taken for clicks and wheel
	pressed    press
	actions    int      // counts actions begun
	seeks      int      // counts questions asked
	todo       []effect // what followed from what was heard

	pane widget.Cache // what the pane was drawn as
}

// newModel is a control room that has heard nothing yet.
func newModel(o Options, now time.Time) *model {
	m := &model{mode: o.Mode, remote: o.OverSSH, files: o.Config, below: o.OverSSH,
		now: now, w: 80, h: 24, around: newSurroundings(o),
		Lists: panel.NewLists(), focus: panel.IDAgents, before: panel.IDAgents,
	}
	m.cities = widget.NewTable[sister]()
	m.directory = o.Cities != nil
	_, m.registrar = o.Cities.(city.Registrar)
	m.takePerson(o.Person)
	m.noted, m.notedAt = m.memory().text(), now
	return m
}

// update takes a message in and says what is to be done.
func (m *model) update(now time.Time, msg any) []effect {
	m.now = now
	m.Events.Seen.Look(m.Events.CursorSeq(), now)
	defer func() { m.Events.Seen.Look(m.Events.CursorSeq(), now) }()
	var todo []effect
	switch msg := msg.(type) {
	case news:
		m.hear(msg)
	case tea.WindowSizeMsg:
		m.ui++
		m.w, m.h = msg.Width, msg.Height
		if c := m.dialogs.composer(); c != nil {
			c.Fit(m.w, m.h)
		}
	case tea.KeyPressMsg:
		m.ui++
		m.keyed = now
		if !m.between(msg.String()) {
			todo = m.key(msg)
		}
	case tea.PasteMsg, tea.MouseClickMsg, wheel:
		if m.between("") {
			break
		}
		todo = m.hand(msg)
	case tea.BackgroundColorMsg:
		m.lit(msg)
	case failure:
		m.ui++
		m.complain(string(msg))
	}
	m.tellOfEdit()
	if s := &m.status; s.while != nil && !s.while(m) {
		m.status = status{}
	}
	m.previewTheme()
	m.turnPane()
	todo, m.todo = append(append(todo, m.todo...), m.keepMemory(false)...), nil
	if !m.zoomed || m.focus != panel.IDPeek {
		m.peek.Logs = false
	}
	if w := m.watching(); w != m.watched {
		m.watched = w
		todo = append(todo, w)
	}
	return todo
}

// failure is something that went wrong outside, to be shown.
type failure string

// hear takes in what the mailbox held.
func (m *model) hear(n news) {
	if n.person != nil {
		m.reread(*n.person)
	}
	if n.gone != nil {
		if m.gone == "" {
			m.lone = m.now
		}
		m.gone = widget.Plain(*n.gone)
	}
	if m.stayed.agent != "" && m.now.After(m.stayed.until) {
		m.stayed = stay{}
		m.relist()
	}
	if n.snap != nil {
		m.snapshot(n.snap)
	} else if m.snap != nil && !m.settledOrder() {
		m.snapshot(m.snap)
	}
	if m.attention && m.sifted != m.now.Unix() { // time alone makes things need attention
		m.keepUp()
	}
	m.Events.Aim(m.now)
	for _, d := range n.dug {
		m.unearthed(d)
	}
	if len(n.events) > 0 {
		m.Events.Add(n.events)
	}
	for _, r := range n.results {
		m.ended(r)
	}
	for _, f := range n.found {
		m.answered(f)
	}
	for _, in := range n.inspected {
		m.heardAbout(in)
	}
	if n.pane != nil {
		if n.pane.Agent != m.peek.News.Agent || n.pane.Run != m.peek.News.Run {
			m.endSearch()
		}
		m.peek.Take(*n.pane, m.bornRule())
	}
	if n.edited != nil {
		m.judged = n.edited
	}
	if n.fleet != nil {
		m.hearFleet(n.fleet)
	} else if m.lobby && m.sifted != m.now.Unix() {
		m.sifted = m.now.Unix()
		m.listCities()
	}
	m.leaveWhenDone()
	if c := m.dialogs.choice(); c != nil && c.Leaving && m.lost() {
		m.askLost()
	}
}

// snapshot takes a new state of the city in.
func (m *model) snapshot(s *city.Snapshot) {
	if m.snap != nil && s.Started.Equal(m.snap.Started) && s.Rev < m.snap.Rev {
		return // overtaken
	}
	if m.snap != nil && m.snap.Rev == s.Rev && m.snap.Started.Equal(s.Started) && m.settledOrder() {
		if s.Patrol.Last.After(m.snap.Patrol.Last) {
			m.snap = s // only the loop's pulse is new
		}
		return
	}
	m.snap = s
	m.relook()
	m.relist()
}

// key finds out what a key means where it was pressed.
func (m *model) key(k tea.KeyPressMsg) []effect {
	switch {
	case m.dialogs.Top() != nil:
		return m.dialogKey(k)
	case m.inbox != nil:
		if a := m.keys.Find(k, keymap.InMail); a != nil {
			return m.perform(a)
		}
		return nil
	case m.work != nil:
		if a := m.keys.Find(k, keymap.InWork); a != nil {
			return m.perform(a)
		}
		return nil
	}
	if m.lobby {
		if a := m.keys.Find(k, keymap.InFleet); a != nil {
			return m.perform(a)
		}
		return nil
	}
	if m.blurted(k) {
		return nil
	}
	if a := m.keys.Find(k, m.zone(), keymap.Everywhere); a != nil {
		return m.perform(a)
	}
	return nil
}

// zone is the zone of the focused panel.
func (m *model) zone() keymap.Zone {
	if m.focus == panel.IDPeek {
		return keymap.InPeek
	}
	return m.focused().About().Zone
}

// perform runs an action, or says why it cannot be done.
func (m *model) perform(a *action) []effect {
	if why := a.Refused(m); why != "" {
		what, _, _ := strings.Cut(a.Title(), ":")
		m.complain("cannot " + what + ": " + why)
		if writes(a) {
			m.refusedText = m.now
		}
		return nil
	}
	return a.Run(m)
}

// dialogKey lets the top dialog have a key: as an action of its zone, else as it is.
func (m *model) dialogKey(k tea.KeyPressMsg) []effect {
	d := m.dialogs.Top()
	if !d.Ready(m.now) {
		return nil
	}
	if a := m.keys.Find(k, d.Zone()); a != nil {
		return m.perform(a)
	}
	return m.runTasks(d.Key(k, func() { m.dialogs.Close(d) }))
}

// paste types into whatever is being typed; elsewhere a paste is not a row of commands.
func (m *model) paste(text string) {
	if d := m.dialogs.Top(); d != nil {
		d.Paste(text)
	}
}
