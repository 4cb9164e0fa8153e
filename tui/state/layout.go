package state

import (
	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// Tier is a size class of screens.
type Tier int

const (
	Tiny   Tier = iota // below 40x10: one line of summary
	Single             // one panel at a time
	tabbed             // lists share one place, with the pane below
	wide               // all panels
)

// HasSides reports whether the screen has room for the pane next to the lists.
func HasSides(m *Room) bool { return TierOf(m.W, m.H) == wide }

// MinWidth and MinHeight are the size of the smallest screen that has room for a list.
const MinWidth, MinHeight = 40, 10

// TierOf returns the tier for a screen with w columns and h rows.
func TierOf(w, h int) Tier {
	switch {
	case w >= 160 && h >= 40:
		return wide
	case w >= 76 && h >= 22:
		return tabbed
	case w >= MinWidth && h >= MinHeight:
		return Single
	}
	return Tiny
}

// Place is the part of a stack that shows one panel.
type Place struct {
	Panel  panel.ID
	H      int
	Tabs   bool // the panel shares its place with the other lists
	Shared bool // the panel shares its place with Events and other panels
}

// Plan is the layout: up to two stacks side by side, and optionally panels above and below them.
type Plan struct {
	Tier        Tier
	Problems    int     // number of rows with alerts below the header
	Above       []Place // across the whole width, above the stacks
	Left, Right []Place
	LeftWidth   int // width of the left stack
	topRows     int
	Across      []Place
	Closing     bool // draw a rule below the body
}

// Plan computes the layout for the size, focus and zoom.
func (m *Room) Plan() Plan {
	p := Plan{Tier: TierOf(m.W, m.H), LeftWidth: m.W}
	if p.Tier == Tiny {
		return p
	}
	p.Problems = panel.CountAlertLines(Alerts(m), m.W, max(1, (m.H-10)/10),
		m.Keys.KeyText("city.details"))
	p.Closing = m.H >= 28 && m.W >= 100
	body := m.H - 1 - p.Problems - FootHeight(m) - len(m.Hint())
	if p.Closing {
		body--
	}
	p.topRows = body
	switch {
	case m.Zoomed || p.Tier == Single:
		p.Left = []Place{{Panel: m.Focus, H: body, Tabs: p.Tier == Single && !m.Zoomed}}
	case p.Tier == tabbed:
		m.planTabbed(&p, body)
	default:
		m.planWide(&p, body)
	}
	return p
}

// In the tabbed layout, the details are next to the pane if the screen has at least paneMinWidth columns and the pane
// has at least detailRows rows.
const paneMinWidth, detailRows = 120, 7

func (m *Room) planTabbed(p *Plan, body int) {
	front := m.frontList()
	if m.Hidden {
		p.Left = []Place{{Panel: front, H: body, Tabs: true}}
		return
	}
	pane := body * 45 / 100
	if m.H < 28 {
		pane = body / 2
	}
	list := m.PanelOf(front)
	_, _, shown, total := list.Cursor()
	if front != panel.IDEvents { // Give the pane the rows that a short list does not need.
		pane = max(pane, min(body-max(shown+3, 6), body*70/100))
	}
	switch { // an empty list needs room for its help
	case list.About().Explains && total == 0:
		pane = min(pane, max(body/5, body-len(list.Help(m.Env(), m.W))-2))
	case len(m.Agents.Rows) == 0:
		pane = min(pane, body-10)
	}
	top := Place{Panel: front, H: body - pane, Tabs: true}
	below, follows := panelBelow(m)
	if m.W < paneMinWidth || pane < detailRows || !follows {
		p.Left = []Place{top, {Panel: below, H: pane}}
		return
	}
	p.Above, p.topRows = []Place{top}, pane
	p.Left = []Place{{Panel: panel.IDPeek, H: pane}}
	p.Right = []Place{{Panel: panel.IDDetail, H: pane}}
	p.LeftWidth = m.W * 5 / 8
}

// panelBelow returns the panel below the list on a small screen. follows reports whether the pane and the details can
// be side by side.
func panelBelow(m *Room) (id panel.ID, follows bool) {
	p := m.Focused()
	if a := p.About(); m.Focus != panel.IDPeek && a.Described && p.Key() != "" {
		return panel.IDDetail, a.Follows
	}
	_, _, shown, total := p.Cursor()
	return panel.IDPeek, m.Focus == panel.IDPeek || shown > 0 || total == 0
}

func (m *Room) frontList() panel.ID {
	if m.Focus == panel.IDPeek {
		if ShowsRun(m) {
			return panel.IDAutomations
		}
		if m.PreviousFocus == panel.IDPeek {
			return panel.IDAgents
		}
		return m.PreviousFocus
	}
	return m.Focus
}

// ListsWidth returns the width of the lists next to the pane.
func ListsWidth(w int) int {
	const broad, row, terminal = 180, 146, 100
	share := w * 45 / 100
	if w < broad {
		return share
	}
	return min(w-1-terminal, max(share, row))
}

func (m *Room) planWide(p *Plan, body int) {
	p.LeftWidth = ListsWidth(m.W)
	top := body
	if m.Below && !m.Hidden && !onRig(m) {
		p.LeftWidth = m.W / 2
		top = body * 45 / 100
		p.Across = []Place{{Panel: panel.IDPeek, H: body - top}}
	}
	p.topRows = top
	strip := 6
	// the rows of the focused list have a long description
	if p := m.Focused(); p.About().Described && p.Key() != "" {
		strip = max(strip, min(12, top/4))
	}
	log, slot := 8, Place{Panel: sharedPanel(m), Shared: true}
	if m.Focus == slot.Panel && slot.Panel != panel.IDEvents {
		log = max(log, top/3)
	}
	var some []Place
	for _, list := range m.Panels {
		if list.About().Share > 0 && m.Present(list) {
			some = append(some, Place{Panel: list.About().ID, H: m.roomFor(list, top)})
		}
	}
	const title, heads, someAgents = 1, 1, 10
	least := min(len(m.Agents.List.Shown), someAgents) + title + heads
	rest := top - min(least, top*2/5) // for all lists but Agents
	if m.Below || m.Hidden {
		held := m.shrink(some, rest)
		p.Left = append([]Place{{Panel: panel.IDAgents, H: top - held}}, some...)
		slot.H = top - strip
		p.Right = []Place{{Panel: panel.IDDetail, H: strip}, slot}
		return
	}
	// Give as much room as possible to the pane. Events gets the rows that a short list of agents does not need.
	slot.H = log
	some = append(some, slot)
	held := m.shrink(some, rest)
	last := &some[len(some)-1]
	held -= last.H
	last.H = max(last.H, min(top-held-len(m.Agents.List.Shown)-3, top*3/5))
	p.Left = append([]Place{{Panel: panel.IDAgents, H: top - held - last.H}}, some...)
	p.Right = []Place{{Panel: panel.IDDetail, H: strip}, {Panel: panel.IDPeek, H: top - strip}}
	if onRig(m) {
		p.Right = []Place{{Panel: panel.IDDetail, H: top}}
	}
}

// shrink takes rows from the tallest places until all places have at most room rows together. The focused panel gives
// up rows last, and each place keeps its title. It returns the number of rows of all places.
func (m *Room) shrink(places []Place, room int) (held int) {
	for i := range places {
		held += places[i].H
	}
	spare := func(p Place) int {
		if p.Panel == m.Focus {
			return min(2*p.H, 5) // less than a place of three rows, more than one of two rows
		}
		return 2 * p.H
	}
	for ; held > room; held-- {
		tallest := 0
		for i := range places {
			if spare(places[i]) > spare(places[tallest]) {
				tallest = i
			}
		}
		if len(places) == 0 || places[tallest].H <= 1 {
			break
		}
		places[tallest].H--
	}
	return held
}

// onRig reports whether the cursor is on a rig, which has no terminal.
func onRig(m *Room) bool {
	p := m.Focused()
	return m.Focus != panel.IDPeek && p.About().Kind == panel.KindRig && p.Key() != ""
}

func sharedPanel(m *Room) panel.ID {
	for _, id := range []panel.ID{m.Focus, m.lastShared} {
		if p := m.PanelOf(id); p.About().ID == id && p.About().InSlot && m.Present(p) {
			return id
		}
	}
	return panel.IDEvents
}

// TabsRoom returns the width for the titles in a panel's top line. The top line of Events can end with a note.
func TabsRoom(m *Room, id panel.ID, w int) int {
	const said, follows = 28, 13
	switch {
	case id != panel.IDEvents:
	case m.Events.Frozen || m.Events.Only:
		return w - said
	case m.Focus == id && w >= 60:
		return w - follows
	}
	return w
}

// SharedTabs returns the titles of the panels that share the place of Events on a wide screen.
func SharedTabs(m *Room, e *panel.Env, own widget.Tab, w int) []widget.Tab {
	var all []widget.Tab
	for _, p := range m.Panels {
		switch a := p.About(); {
		case string(a.ID) == own.ID:
			all = append(all, own)
		case a.ID == panel.IDEvents || a.InSlot && m.Present(p):
			all = append(all, p.Title(e))
		}
	}
	return widget.ShortTabs(all, TabsRoom(m, panel.ID(own.ID), w), m.Look.Glyphs.More)
}

func (m *Room) roomFor(p panel.Panel, top int) int {
	_, _, n, total := p.Cursor()
	n = max(1, n)
	if a := p.About(); a.Explains && total == 0 && m.Focus == a.ID {
		n = len(p.Help(m.Env(), ListsWidth(m.W)))
	}
	n = min(n, max(p.About().MinHeight, top/p.About().Share))
	if (n > 1 || m.Focus == p.About().ID) && total > 0 && !p.About().NoHeads {
		n++
	}
	return 1 + n
}

func (m *Room) peekVisible() bool { return OnScreen(m, panel.IDPeek) }

// OnScreen reports whether a panel is on the screen.
func OnScreen(m *Room, id panel.ID) bool { return AreaOf(m, id) != nil }

// FocusRows returns how many rows of content the focused panel shows.
func (m *Room) FocusRows() int {
	if m.Focus == panel.IDPeek {
		_, h := PaneRoom(m)
		return h
	}
	if a := AreaOf(m, m.Focus); a != nil {
		return max(1, a.H-1)
	}
	return 1
}

// Hint returns the hint for the first visit. Its lines are shown below the panels.
func (m *Room) Hint() []string {
	if !m.ShowHint || m.H < 16 || m.W < 60 || NeedWritable(m) != "" {
		return nil
	}
	lines := firstHint(m.Keys.KeyText, m.Preferences.Detach.String(), m.Mode == Hosting)
	for i, text := range lines {
		lines[i] = m.Look.Paint(themes.Accent, m.Look.Fit(" "+text, m.W))
	}
	return lines
}
