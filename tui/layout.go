package tui

import (
	"slices"

	"gcity/themes"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// tier is the amount of content that fits on the screen.
type tier int

const (
	tiny   tier = iota // below 40x10: one line of summary
	single             // one panel at a time
	tabbed             // lists share one place, with Peek below
	wide               // all panels
)

// leastWidth and leastHeight are the size of the smallest screen with room for a list.
const leastWidth, leastHeight = 40, 10

func tierOf(w, h int) tier {
	switch {
	case w >= 160 && h >= 40:
		return wide
	case w >= 76 && h >= 22:
		return tabbed
	case w >= leastWidth && h >= leastHeight:
		return single
	}
	return tiny
}

type place struct {
	panel panel.ID
	h     int
	tabs  bool // the panel shares its place with the other lists
	slot  bool // the panel shares its place with the panels that have Slot set
}

// plan is the layout: header rows, the body and foot rows. The body has up to two stacks side by side, and optionally
// panels across the whole width above and below them.
type plan struct {
	tier        tier
	problems    int     // rows below the header
	above       []place // across the whole width, above the stacks
	left, right []place
	leftWidth   int // width of the left stack; the screen's width without a right stack
	topRows     int // height of the stacks
	across      []place
	closing     bool // draw a rule below the body
	statusRow   bool // status and footer on rows of their own
}

// plan computes the layout for the size, focus and zoom.
func (m *model) plan() plan {
	p := plan{tier: tierOf(m.w, m.h), leftWidth: m.w}
	if p.tier == tiny {
		return p
	}
	p.problems = len(alertLines(m, max(1, (m.h-10)/10)))
	p.statusRow = p.tier != single
	p.closing = m.h >= 28 && m.w >= 100
	body := m.h - 1 - p.problems - 1 - max(0, len(failureParts(m, m.w))-1) - len(m.hint())
	if p.statusRow {
		body--
	}
	if p.closing {
		body--
	}
	p.topRows = body
	switch {
	case m.zoomed || p.tier == single:
		p.left = []place{{panel: m.focus, h: body, tabs: p.tier == single && !m.zoomed}}
	case p.tier == tabbed:
		m.planTabbed(&p, body)
	default:
		m.planWide(&p, body)
	}
	return p
}

// beside is the smallest screen width with details next to the pane. For that, the pane needs at least detailRows rows.
const beside, detailRows = 120, 7

func (m *model) planTabbed(p *plan, body int) {
	front := m.front()
	if m.hidden {
		p.left = []place{{panel: front, h: body, tabs: true}}
		return
	}
	pane := body * 45 / 100
	if m.h < 28 {
		pane = body / 2
	}
	list := m.panelOf(front)
	_, _, shown, total := list.Cursor()
	if front != panel.IDEvents { // The pane gets the rows that a short list does not need.
		pane = max(pane, min(body-max(shown+3, 6), body*70/100))
	}
	switch { // an empty list needs room for its help
	case list.About().Explains && total == 0:
		pane = min(pane, max(body/5, body-len(list.Help(m.env(), m.w))-2))
	case len(m.Agents.Rows) == 0:
		pane = min(pane, body-10)
	}
	top := place{panel: front, h: body - pane, tabs: true}
	below, follows := lower(m)
	if m.w < beside || pane < detailRows || !follows {
		p.left = []place{top, {panel: below, h: pane}}
		return
	}
	p.above, p.topRows = []place{top}, pane
	p.left = []place{{panel: panel.IDPeek, h: pane}}
	p.right = []place{{panel: panel.IDDetail, h: pane}}
	p.leftWidth = m.w * 5 / 8
}

// lower returns the panel below the list on a small screen: the pane, or a description of the selected row. follows
// reports whether the pane is about that row; if not, the description needs no pane next to it.
func lower(m *model) (id panel.ID, follows bool) {
	if p := m.focused().About(); m.focus != panel.IDPeek && p.Described && m.focused().Key() != "" {
		return panel.IDDetail, p.Follows
	}
	return panel.IDPeek, true
}

// front returns the visible list among the lists that share a place.
func (m *model) front() panel.ID {
	if m.focus == panel.IDPeek {
		if showsRun(m) {
			return panel.IDAutomations
		}
		if m.before == panel.IDPeek {
			return panel.IDAgents
		}
		return m.before
	}
	return m.focus
}

// listsWidth returns the width of the lists next to the pane. On a wide screen the lists show full rows of agents if
// 100 columns are left for a terminal.
func listsWidth(w int) int {
	const broad, row, terminal = 180, 146, 100
	share := w * 45 / 100
	if w < broad {
		return share
	}
	return min(w-1-terminal, max(share, row))
}

func (m *model) planWide(p *plan, body int) {
	p.leftWidth = listsWidth(m.w)
	top := body
	if m.below && !m.hidden {
		p.leftWidth = m.w / 2
		top = body * 45 / 100
		p.across = []place{{panel: panel.IDPeek, h: body - top}}
	}
	p.topRows = top
	const strip = 6
	log, slot := 8, place{panel: inSlot(m), slot: true}
	if m.focus == slot.panel && slot.panel != panel.IDEvents {
		log = max(log, top/3)
	}
	held := 0
	var some []place
	for _, list := range m.Panels {
		if list.About().Share > 0 && m.present(list) {
			some = append(some, place{panel: list.About().ID, h: m.roomFor(list, top)})
			held += some[len(some)-1].h
		}
	}
	if m.below || m.hidden {
		p.left = append([]place{{panel: panel.IDAgents, h: top - held}}, some...)
		slot.h = top - strip
		p.right = []place{{panel: panel.IDDetail, h: strip}, slot}
		return
	}
	// The pane gets as much room as possible. The panel Events gets the rows that a short list of agents does not need.
	slot.h = max(log, min(top-held-len(m.Agents.List.Shown)-3, top*3/5))
	p.left = slices.Concat(
		[]place{{panel: panel.IDAgents, h: top - held - slot.h}},
		some,
		[]place{slot},
	)
	p.right = []place{{panel: panel.IDDetail, h: strip}, {panel: panel.IDPeek, h: top - strip}}
}

// inSlot returns the visible panel in the place that Events shares on a wide screen: the focused panel, or otherwise
// the panel that had the focus last.
func inSlot(m *model) panel.ID {
	for _, id := range []panel.ID{m.focus, m.slot} {
		if p := m.panelOf(id); p.About().ID == id && p.About().Slot && m.present(p) {
			return id
		}
	}
	return panel.IDEvents
}

// tabsRoom returns the width for the titles in the rule of a panel. The rule of Events may end with its filter.
func tabsRoom(m *model, id panel.ID, w int) int {
	const said = 28
	if id == panel.IDEvents && (m.Events.Frozen || m.Events.Only) {
		return w - said
	}
	return w
}

// slotTabs returns the titles of the panels that share the place of Events on a wide screen.
func slotTabs(m *model, e *panel.Env, own widget.Tab, w int) []widget.Tab {
	var all []widget.Tab
	for _, p := range m.Panels {
		switch a := p.About(); {
		case string(a.ID) == own.ID:
			all = append(all, own)
		case a.ID == panel.IDEvents || a.Slot && m.present(p):
			all = append(all, p.Title(e))
		}
	}
	return widget.ShortTabs(all, tabsRoom(m, panel.ID(own.ID), w), m.look.Glyphs.More)
}

// roomFor returns how many rows of a stack a panel gets: enough for all its rows, up to its share. An empty panel
// gets one row. While it has the focus, it gets enough rows for its help.
func (m *model) roomFor(p panel.Panel, top int) int {
	_, _, n, total := p.Cursor()
	n = max(1, n)
	if a := p.About(); a.Explains && total == 0 && m.focus == a.ID {
		n = len(p.Help(m.env(), listsWidth(m.w)))
	}
	n = min(n, max(p.About().Least, top/p.About().Share))
	if n > 1 && total > 0 && !p.About().Plain {
		n++ // a row for the column headings
	}
	return 1 + n
}

// peekVisible reports whether the pane is on the screen.
func (m *model) peekVisible() bool { return onScreen(m, panel.IDPeek) }

// onScreen reports whether a panel is on the screen.
func onScreen(m *model, id panel.ID) bool {
	p := m.plan()
	for _, stack := range [][]place{p.above, p.left, p.right, p.across} {
		for _, at := range stack {
			if at.panel == id {
				return true
			}
		}
	}
	return false
}

// focusRows returns how many rows of content the focused panel shows.
func (m *model) focusRows() int {
	if m.focus == panel.IDPeek {
		_, h := paneRoom(m)
		return h
	}
	p := m.plan()
	for _, stack := range [][]place{p.above, p.left, p.right, p.across} {
		for _, at := range stack {
			if at.panel == m.focus {
				return max(1, at.h-1)
			}
		}
	}
	return 1
}

// hint returns the lines of the hint of the first visit, which are shown below the panels.
func (m *model) hint() []string {
	if !m.greeting || m.h < 16 || m.w < 60 || m.mode == ReadOnly {
		return nil
	}
	lines := panel.FirstHint(m.keys.KeyOf, m.person.Detach.String(), m.mode == Hosting)
	for i, text := range lines {
		lines[i] = m.look.Paint(themes.Accent, widget.Fit(" "+text, m.w, m.look.Glyphs.More))
	}
	return lines
}
