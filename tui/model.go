package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/themes"
)

// still is how long after a key the lists keep their order: nothing moves under the hands.
const still = 3 * time.Second

// model is the control room's whole state. Messages change it; View only reads it (and remembers lines it has drawn).
type model struct {
	mode Mode
	look look
	keys *registry
	calm bool // reduced motion

	now  time.Time // of the last message
	w, h int
	ui   uint64 // grows with every message that may change what is shown besides data

	snap *city.Snapshot
	gone string // why the city cannot be heard, "" = it can

	roster           roster
	agents           list
	quarantine       list
	pools            pools
	agentFilter      filter
	poolFilter       filter
	automations      automations
	automationFilter filter
	attention        bool
	sifted           int64  // second in which the lists were filled
	chosen           string // the selected agent's name
	marks            map[string]bool
	keyed            time.Time // of the last key

	events      timeline
	eventFilter filter

	peek    peek
	watched watch // what the viewer was last told
	stayed  stay  // the last visit to a terminal

	focus  panel
	before panel // the focus to go back to
	zoomed bool
	hidden bool // the pane
	below  bool // the pane, on wide screens

	scaled  scaling // the size asked for last
	fired   firing  // the automation fired last
	choice  *choice
	prompt  *prompt
	reader  *reader
	finder  *finder
	work    *work
	status  status
	actions int      // counts actions begun
	seeks   int      // counts questions asked
	todo    []effect // what followed from what was heard

	cache [panels]cached
}

// newModel is a control room that has heard nothing yet.
func newModel(o Options, now time.Time) *model {
	glyphs := themes.Unicode()
	if o.ASCII {
		glyphs = themes.ASCII()
	}
	return &model{mode: o.Mode, look: newLook(o.Theme, glyphs), keys: newRegistry(), calm: o.ReducedMotion, below: o.OverSSH,
		now: now, w: 80, h: 24, marks: map[string]bool{}}
}

// update takes a message in and says what is to be done.
func (m *model) update(now time.Time, msg any) []effect {
	m.now = now
	var todo []effect
	switch msg := msg.(type) {
	case news:
		m.hear(msg)
	case tea.WindowSizeMsg:
		m.ui++
		m.w, m.h = msg.Width, msg.Height
	case tea.KeyPressMsg:
		m.ui++
		m.keyed = now
		todo = m.key(msg)
	case tea.PasteMsg:
		m.ui++
		m.paste(msg.Content)
	case failure:
		m.ui++
		m.complain(string(msg))
	}
	todo, m.todo = append(todo, m.todo...), nil
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
	if n.gone != nil {
		m.gone = plain(*n.gone)
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
		m.refill()
	}
	if len(n.events) > 0 {
		m.events.add(n.events, &m.eventFilter)
	}
	for _, r := range n.results {
		m.ended(r)
	}
	for _, f := range n.found {
		m.answered(f)
	}
	if n.pane != nil {
		m.peek.take(*n.pane)
	}
	if m.lost() && m.choice != nil && m.choice.leaving {
		m.askLost()
	}
}

// snapshot takes a new state of the city in.
func (m *model) snapshot(s *city.Snapshot) {
	if m.snap != nil && s.Started.Equal(m.snap.Started) && s.Rev < m.snap.Rev {
		return // overtaken
	}
	if m.snap != nil && m.snap.Rev == s.Rev && m.snap.Started.Equal(s.Started) && m.settledOrder() {
		m.snap = s // only the loop's pulse is new
		return
	}
	m.snap = s
	m.relist()
}

// relist makes the lists anew from the snapshot.
func (m *model) relist() {
	m.roster.update(m.snap.Agents, m.now.Sub(m.keyed) < still)
	m.pools.update(m.snap.Pools, m.now)
	m.automations.update(m.snap.Automations)
	m.firedEnded()
	m.runsChanged()
	m.workChanged()
	m.discount()
	for name := range m.marks {
		if m.roster.find(name) == nil {
			m.marks = cloned(m.marks)
			delete(m.marks, name)
		}
	}
	m.refill()
}

// settledOrder reports whether the lists are in the order they should be in.
func (m *model) settledOrder() bool {
	return m.now.Sub(m.keyed) < still ||
		slices.IsSortedFunc(m.roster.rows, func(a, b agentRow) int { return rank(&a, &b) })
}

// refill applies the filters anew.
func (m *model) refill() {
	m.roster.version++
	m.sifted = m.now.Unix()
	all := func(int) bool { return true }
	m.agents.fill(&m.roster, m.chosen, all, func(i int) bool {
		r := &m.roster.rows[i]
		return m.agentFilter.agent(r) && (!m.attention || r.attention(m.now))
	})
	m.quarantine.fill(&m.roster, m.chosen, func(i int) bool { return m.roster.rows[i].state == city.Quarantined }, all)
	if r := m.roster.under(m.list()); r != nil {
		if m.selected() == nil || m.focus != panelPeek && !m.visible(m.chosen) {
			m.choose(r.name)
		}
	}
	m.pools.fill(func(r *poolRow) bool {
		return m.poolFilter.pool(r, m.now) && (!m.attention || r.attention(m.now))
	})
	m.automations.fill(func(r *automationRow) bool {
		return m.automationFilter.automation(r) && (!m.attention || r.attention())
	})
	m.events.version++
	m.events.refill(&m.eventFilter, m.events.cursorSeq())
}

// visible reports whether the focused list shows an agent.
func (m *model) visible(name string) bool {
	for _, i := range m.list().shown {
		if m.roster.rows[i].name == name {
			return true
		}
	}
	return false
}

// key finds out what a key means where it was pressed.
func (m *model) key(k tea.KeyPressMsg) []effect {
	switch {
	case m.choice != nil:
		return m.choiceKey(k)
	case m.reader != nil:
		if a := m.keys.find(k, inReader); a != nil {
			return a.run(m)
		}
		return nil
	case m.finder != nil:
		if a := m.keys.find(k, inFinder); a != nil {
			return a.run(m)
		}
		if m.finder.edit.key(k) {
			m.finder.search()
		}
		return nil
	case m.prompt != nil:
		return m.promptKey(k)
	case m.work != nil:
		if a := m.keys.find(k, inWork); a != nil {
			return m.perform(a)
		}
		return nil
	}
	if a := m.keys.find(k, m.zone(), everywhere); a != nil {
		return m.perform(a)
	}
	return nil
}

// zone is the zone of the focused panel.
func (m *model) zone() zone {
	switch m.focus {
	case panelPools:
		return inPools
	case panelAutomations:
		return inAutomations
	case panelEvents:
		return inEvents
	case panelPeek:
		return inPeek
	}
	return inLists
}

// perform runs an action, or says why it cannot be done.
func (m *model) perform(a *action) []effect {
	if why := a.refused(m); why != "" {
		what, _, _ := strings.Cut(a.title(), ":")
		m.complain("cannot " + what + ": " + why)
		return nil
	}
	return a.run(m)
}

func (m *model) choiceKey(k tea.KeyPressMsg) []effect {
	c := m.choice
	if m.now.Sub(c.since) < guard {
		return nil
	}
	if a := m.keys.find(k, inChoice); a != nil {
		return a.run(m)
	}
	if c.must != "" {
		c.edit.key(k)
		return nil
	}
	todo, _ := m.answerKey(k.String())
	return todo
}

func (m *model) promptKey(k tea.KeyPressMsg) []effect {
	if a := m.keys.find(k, inPrompt); a != nil {
		return a.run(m)
	}
	p := m.prompt
	if !p.edit.key(k) {
		return nil
	}
	p.problem = ""
	if p.change != nil {
		p.change(m, p.edit.String())
	}
	return nil
}

// paste types into whatever is being typed; elsewhere a paste is not a row of commands.
func (m *model) paste(text string) {
	switch {
	case m.choice != nil && m.choice.must != "":
		m.choice.edit.paste(text)
	case m.finder != nil:
		m.finder.edit.paste(text)
		m.finder.search()
	case m.prompt != nil:
		m.prompt.edit.paste(text)
		m.prompt.problem = ""
		if m.prompt.change != nil {
			m.prompt.change(m, m.prompt.edit.String())
		}
	}
}

func (m *model) cityName() string {
	if m.snap == nil {
		return "the city"
	}
	return plain(m.snap.Name)
}
