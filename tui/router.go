package tui

import (
	tea "charm.land/bubbletea/v2"
	"gcity/city"
	"gcity/events"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
	"slices"
	"strings"
	"time"
)

// takeFound handles an answer with beads. It ignores answers to outdated requests.
func takeFound(m *model, f feed.FoundBeads) {
	if h := m.dialogs.history(); h != nil && h.Asked == f.ID {
		h.Asked, h.Known, h.Problem = 0, true, widget.Plain(f.Problem)
		if f.Problem == "" {
			h.Runs = h.Runs[:0]
			for _, b := range f.Beads {
				h.Runs = append(h.Runs, city.RunOf(b))
			}
		}
		runsChanged(m)
	}
	if list := m.dialogs.finder(); list != nil {
		if ready, ok := list.About.(*readyList); ok && ready.asked != 0 && ready.asked == f.ID {
			takeReady(m, list, ready, f)
		}
	}
	tellLists(m, f)
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

// handle applies a message to the model and returns effects.
func handle(m *model, now time.Time, msg any) []feed.Effect {
	m.now = now
	m.Events.Seen.Look(m.Events.CursorSeq(), now)
	defer func() { m.Events.Seen.Look(m.Events.CursorSeq(), now) }()
	var todo []feed.Effect
	switch msg := msg.(type) {
	case feed.News:
		receive(m, msg)
	case tea.WindowSizeMsg:
		m.UI++
		m.w, m.h = msg.Width, msg.Height
		if c := m.dialogs.composer(); c != nil {
			c.Fit(m.w, m.h)
		}
	case tea.KeyPressMsg:
		m.UI++
		m.keyed = now
		dismissHint(m)
		if !between(m, msg.String()) {
			todo = handleKey(m, msg)
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
		m.UI++
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
func receiveEvents(m *model, all []events.Event) {
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
func receive(m *model, n feed.News) {
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
	receiveEvents(m, n.Events)
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

// handleKey runs the action of a key in the zone of the focused panel, or passes the key to a dialog.
func handleKey(m *model, k tea.KeyPressMsg) []feed.Effect {
	if m.dialogs.Top() != nil {
		return handleDialogKey(m, k)
	}
	if answersNothing(m, k) {
		return nil
	}
	if m.fleetRoom {
		if a := m.keys.Find(k, keymap.InFleet); a != nil {
			return perform(m, a)
		}
		return nil
	}
	if typedAfterRefusal(m, k) {
		return nil
	}
	if a := m.keys.Find(k, m.zone(), keymap.Everywhere); a != nil {
		return perform(m, a)
	}
	explainKey(m, k)
	return nil
}

// perform runs an action, or says why it is not possible.
func perform(m *model, a *action) (todo []feed.Effect) {
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

// handleDialogKey runs the action of a key in the zone of the top dialog, or passes the key to that dialog.
func handleDialogKey(m *model, k tea.KeyPressMsg) []feed.Effect {
	d := m.dialogs.Top()
	a := m.keys.Find(k, d.Zone())
	switch cancels := a != nil && a.ID == "choice.cancel"; {
	case !cancels && !d.Accepts(k.String(), m.now):
		return nil
	case a != nil:
		return perform(m, a)
	}
	return m.runTasks(d.Key(k, func() { m.dialogs.Close(d) }))
}

// paste inserts text into the line or text being typed. Elsewhere it is ignored: a paste is not a sequence of commands.
func paste(m *model, text string) {
	if d := m.dialogs.Top(); d != nil {
		d.Paste(text)
	}
}

// ended handles the result of an action. For an action that is not the latest it shows only failures.
func ended(m *model, r feed.Result) {
	if r.ID == m.fired.id && len(r.Failures) > 0 {
		m.fired = firing{}
	}
	defer firedEnded(m)
	undelivered(m, &r)
	outdate(m) // any action may change beads
	if r.Quiet && len(r.Failures) == 0 {
		return
	}
	offerAnew(m, &r)
	refusedToDepart(m, &r)
	text, failed := r.Text(), len(r.Failures) > 0
	if k := m.keys.KeyNow("view.palette"); r.Total > 1 && k != "" {
		text += " (see " + k + "messages)"
	}
	if len(r.Letters) > 0 {
		if post(m, r); !failed {
			return
		}
	}
	s := details.Message{ID: r.ID, Text: widget.Lead(r.Text()), Token: themes.Good,
		Each: r.Each()}
	if failed {
		s.Token = themes.Bad
	}
	record(m, s)
	if r.ID == m.status.id || failed {
		starts := m.status.starts
		show(m, text, failed)
		m.status.id, m.status.starts = r.ID, starts
	}
}

// dismissHint removes the hint of the first visit for good.
func dismissHint(m *model) {
	if m.greeting {
		m.greeting, m.greeted = false, true
	}
}
