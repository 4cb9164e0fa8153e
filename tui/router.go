package tui

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/city"
	"gcity/events"
	"gcity/themes"
	"gcity/tui/actions"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func receiveBeads(m *state.Room, f feed.FoundBeads) {
	if h := m.Dialogs.History(); h != nil && h.RequestID == f.ID {
		h.RequestID, h.Responded, h.Problem = 0, true, widget.Plain(f.Problem)
		if f.Problem == "" {
			h.Runs = h.Runs[:0]
			for _, b := range f.Beads {
				h.Runs = append(h.Runs, city.RunOf(b))
			}
		}
		state.RunsChanged(m)
	}
	if list := m.Dialogs.Finder(); list != nil {
		if ready, ok := list.About.(*actions.ReadyList); ok && ready.Asked != 0 &&
			ready.Asked == f.ID {
			actions.TakeReady(m, list, ready, f)
		}
	}
	state.DeliverLists(m, f)
	actions.RefreshQuestion(m)
}

func newModel(o Options, now time.Time) *state.Room {
	m := &state.Room{Mode: o.Mode, Remote: o.OverSSH, Now: now, Lists: panel.NewLists(),
		ConfigEdit: state.ConfigEdit{Files: o.Config},
		Appearance: state.Appearance{Terminal: newTerminalDefaults(o)},
		ScreenState: state.ScreenState{W: 80, H: 24, Below: o.OverSSH,
			Focus: panel.IDAgents, PreviousFocus: panel.IDAgents},
	}
	m.Cities = widget.NewTable[*fleet.City]()
	m.Directory = o.Cities != nil
	_, m.Registrar = o.Cities.(city.Registrar)
	applyPreferences(m, o.Preferences)
	m.Saved, m.SavedAt = state.SavedRoomOf(m).Text(), now
	return m
}

func isInput(msg any) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseClickMsg, wheel:
		return true
	}
	return false
}

func handle(m *state.Room, now time.Time, msg any) []feed.Effect {
	// without a pause between them, two presses of esc arrive as alt+esc
	if k, ok := msg.(tea.KeyPressMsg); ok && k.Code == tea.KeyEscape && k.Mod == tea.ModAlt {
		k.Mod = 0
		return append(handle(m, now, k), handle(m, now, k)...)
	}
	m.SetTime(now)
	state.WatchUndoKey(m, false)
	defer func() { state.WatchUndoKey(m, isInput(msg)) }()
	return handleMessage(m, now, msg)
}

func handleMessage(m *state.Room, now time.Time, msg any) []feed.Effect {
	if m.SessionEnded && m.StrayKeyAt.IsZero() {
		m.StrayKeyAt = now
	}
	if c := m.Dialogs.Choice(); c != nil && c.Since.IsZero() {
		c.Since = now
	}
	m.Events.Seen.Record(m.Events.CursorSeq(), now)
	defer func() { m.Events.Seen.Record(m.Events.CursorSeq(), now) }()
	var todo []feed.Effect
	switch msg := msg.(type) {
	case feed.News:
		receive(m, msg)
	case tea.WindowSizeMsg:
		m.UI++
		m.W, m.H = msg.Width, msg.Height
		if c := m.Dialogs.Composer(); c != nil {
			c.Fit(m.W, m.H)
		}
	case tea.KeyPressMsg:
		m.UI++
		m.UserActed()
		dismissHint(m)
		if !isSwitching(m, msg) && !typedForEndedSession(m, msg) {
			todo = handleKey(m, msg)
			if c := m.Dialogs.Choice(); c != nil && c.Since.Equal(now) {
				c.OpenedByKey = true
			}
		}
	case tea.PasteMsg, tea.MouseClickMsg, wheel:
		if m.Switch.ID != 0 || m.Now.Sub(m.ArrivedAt) < keymap.DialogGuard {
			break
		}
		todo = handlePointer(m, msg)
	case tea.BackgroundColorMsg:
		receiveBackground(m, msg)
	case failure:
		m.UI++
		state.ShowFailure(m, string(msg))
	}
	actions.ShowEdit(m)
	if s := &m.Status; s.While != nil && !s.While(m) {
		m.Status = state.Status{}
	}
	previewTheme(m)
	state.UpdatePane(m)
	state.RequestLists(m)
	state.RequestCities(m)
	todo, m.Todo = append(append(todo, m.Todo...), state.SaveRoom(m, false)...), nil
	if !m.Zoomed || m.Focus != panel.IDPeek {
		m.Peek.Logs = false
	}
	if w := state.Watching(m); w != m.Watched {
		m.Watched = w
		todo = append(todo, w)
	}
	return todo
}

func receiveEvents(m *state.Room, n *feed.News) {
	if n.EventsRestarted {
		m.Events.Reset()
	}
	m.Events.Sync(m.Now)
	for _, d := range n.HistoryPages {
		state.AddOlderEvents(m, d)
	}
	all := n.Events
	if len(all) == 0 {
		return
	}
	m.Events.Add(all)
	reportRemoved(m, all)
	if slices.ContainsFunc(all, func(e events.Event) bool {
		return strings.HasPrefix(e.Type, "bead.") || strings.HasPrefix(e.Type, "mail.")
	}) {
		state.MarkListsOutdated(m, false)
	}
}

func reportRemoved(m *state.Room, all []events.Event) {
	for i := range all {
		e := &all[i]
		if e.Type != events.ConfigReloaded || m.Now.Sub(e.TS) > state.StatusDuration ||
			m.Status.Failed || m.Status.Pending {
			continue
		}
		var change struct{ Removed []string }
		if json.Unmarshal(e.Payload, &change) == nil && len(change.Removed) > 0 {
			state.ShowSuccess(m, "configuration: "+widget.Plain(e.Message))
		}
	}
}

// failure is an error from outside the model.
type failure string

func receive(m *state.Room, n feed.News) {
	if n.Preferences != nil {
		reloadPreferences(m, *n.Preferences)
	}
	if n.Unreachable != nil {
		m.SetUnreachable(widget.Plain(*n.Unreachable))
	}
	if m.LastVisit.Agent != "" && m.Now.After(m.LastVisit.Until) {
		m.LastVisit = state.Visit{}
		m.Relist()
	}
	if n.Snap != nil {
		m.Snapshot(n.Snap)
	} else if m.Snap != nil && !m.OrderIsCurrent() {
		m.Snapshot(m.Snap)
	}
	actions.RefreshMembers(m)
	actions.RefreshQuestion(m)
	// Even without new data, rows can start to need attention as time passes.
	if m.OnlyAttention && m.FilledAt != m.Now.Unix() {
		m.ApplyNewData()
	}
	receiveEvents(m, &n)
	for _, r := range n.Results {
		receiveResult(m, r)
	}
	for _, f := range n.Found {
		receiveBeads(m, f)
	}
	for _, in := range n.Inspected {
		state.Inspected(m, in)
	}
	if n.Pane != nil {
		if n.Pane.Agent != m.Peek.News.Agent || n.Pane.Run != m.Peek.News.Run {
			state.EndSearch(m)
		}
		m.Peek.RecordOutput(n.Pane, m.Now)
		m.Peek.Apply(*n.Pane, state.SessionRule(m))
	}
	if n.Edited != nil {
		m.Checked = n.Edited
	}
	if n.Fleet != nil {
		receiveFleet(m, n.Fleet)
		actions.ListNewCities(m)
	} else if m.FleetRoom && m.FilledAt != m.Now.Unix() {
		m.FilledAt = m.Now.Unix()
		state.ListCities(m)
	}
	state.LeaveWhenDone(m)
	if c := m.Dialogs.Choice(); c != nil && c.AboutLeaving {
		if state.Uncontrollable(m) {
			actions.AskLost(m)
		} else {
			actions.AskAgain(m)
		}
	}
}

func handleKey(m *state.Room, k tea.KeyPressMsg) []feed.Effect {
	if m.Dialogs.Top() != nil {
		return handleDialogKey(m, k)
	}
	if answersMissingQuestion(m, k) || typedAfterRejection(m, k) {
		return nil
	}
	zones := []keymap.Zone{m.Zone(), keymap.Everywhere}
	if m.FleetRoom {
		zones = []keymap.Zone{keymap.InFleet}
	}
	if a := m.Keys.Find(k, zones...); a != nil {
		return perform(m, a)
	}
	explainKey(m, k)
	return nil
}

func perform(m *state.Room, a *state.Action) (todo []feed.Effect) {
	if m.Status.Note {
		if m.Status = (state.Status{}); a.ID == state.BackID || a.ID == "fleet.back" {
			return nil
		}
	}
	if targetVanished(m, a) {
		state.ShowNote(m, vanishedText(m, a))
		if startsText(a) || actions.Attaches(m, a) || a.Risk == keymap.NameRequired {
			m.RejectedTextAt = m.Now
		}
	} else if r := state.SurplusTarget(m); a.ID == state.DrainID && r != nil {
		state.ShowNote(m, state.AlreadyDraining(m, r))
	} else if why := a.WhyUnavailable(m); why != "" {
		why = state.Refusal(m, a.Title(), why)
		if actions.Attaches(m, a) {
			actions.ReportNotAttached(m, why, m.Now)
			return nil
		}
		state.ShowFailure(m, why)
		m.Status.Note, m.Status.While = true, state.IsFresh
		if startsText(a) || a.Risk == keymap.NameRequired {
			m.RejectedTextAt = m.Now
		}
	} else {
		if removesRow(a) {
			m.RemovedKey = m.ActionPanel().Key()
		}
		todo = a.Run(m)
	}
	if a.Risk == keymap.Confirmed && m.Dialogs.Top() == nil {
		m.UnaskedAt = m.Now
	}
	return todo
}

func handleDialogKey(m *state.Room, k tea.KeyPressMsg) []feed.Effect {
	d := m.Dialogs.Top()
	if r, ok := d.(*state.Reader); ok {
		if tasks := r.Key(k, nil); len(tasks) > 0 {
			return m.RunTasks(tasks)
		}
	}
	a := m.Keys.Find(k, d.Zone())
	takes := a != nil && a.ID == "choice.take"
	if c := m.Dialogs.Choice(); a != nil && a.ID == "choice.cancel" && c != nil && c.IsNotice() {
		takes = true // keys that were typed for an agent must not close a notice before it is read
	}
	switch {
	case (a == nil || takes) && !d.Accepts(k.String(), takes, m.Now):
		return nil
	case a != nil:
		return perform(m, a)
	}
	return m.RunTasks(d.Key(k, func() { m.Dialogs.Close(d) }))
}

// paste passes text to the open dialog. Without one, it does nothing, because a paste is not a sequence of commands.
func paste(m *state.Room, text string) {
	if d := m.Dialogs.Top(); d != nil {
		d.Paste(text)
	}
}

// receiveResult handles the result of an action. If a newer action has started, the status line shows only failures.
func receiveResult(m *state.Room, r feed.Result) {
	if r.ID == m.Fired.ID && len(r.Failures) > 0 {
		m.Fired = state.Firing{}
	}
	defer state.ReportFiredRun(m)
	state.KeepUndelivered(m, &r)
	defer state.ReceiveUnsent(m, &r)
	state.MarkListsOutdated(m, true) // any action can change beads
	if r.Created != "" {
		m.Work.SelectNew(r.Created)
	}
	if r.FailuresOnly && len(r.Failures) == 0 {
		return
	}
	state.RenewUndo(m, &r)
	state.ReceiveDeparture(m, &r)
	text, failed := r.Text(), len(r.Failures) > 0
	if k := m.Keys.MainKey("view.palette"); r.Total > 1 && k != "" {
		text += " (see " + k + "messages)"
	}
	if len(r.Sent) > 0 {
		if state.FollowTexts(m, r); !failed {
			return
		}
	}
	s := details.Message{ID: r.ID, Text: widget.FirstItem(r.Text()), Token: themes.Good,
		Each: r.Lines()}
	if failed {
		s.Token = themes.Bad
	}
	state.Record(m, s)
	if r.ID == m.Status.ID || failed {
		starts := m.Status.Starts
		state.Show(m, text, failed)
		m.Status.ID, m.Status.Starts = r.ID, starts
		if failed {
			m.Status.While = state.UntilConfigValid(m.Status.Text)
		}
		if !failed {
			state.NoteCrash(m) // the snapshot might be newer than the result
		}
	}
}

func dismissHint(m *state.Room) {
	if m.ShowHint {
		m.ShowHint, m.HintDismissed = false, true
	}
}
