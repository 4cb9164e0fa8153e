package tui

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/fleet"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func receiveFleet(m *state.Room, f *fleet.List) {
	m.UI++
	reportCityListChange(m, f)
	m.Fleet, m.Directory = f, !f.Unmaintained || f.HasOther(m.Folder) || m.FleetRoom
	if name := f.NameOf(m.Folder); name != "" && !m.FleetRoom {
		m.At = name
	}
	state.ListCities(m)
	actions.RefreshQuestion(m)
	list := m.Dialogs.Finder()
	if list == nil || list.About != any(state.CitiesList{}) {
		return
	}
	if !m.Directory {
		m.Dialogs.Close(list)
		actions.ExplainDirectory(m)
		return
	}
	actions.RefreshCities(m)
}

func reportCityListChange(m *state.Room, f *fleet.List) {
	old := m.Fleet
	if old == nil || m.FleetRoom || m.Status.Pending || m.Status.Failed && m.Status.While == nil ||
		m.Typing() {
		return
	}
	key := m.Keys.KeyText("city.switch")
	switch {
	case old.Unmaintained && !f.Unmaintained && f.Problem == "":
		state.ShowSuccess(m, "a supervisor is running now: "+key+" switches between its cities")
	case old.Problem == "" && f.Problem != "":
		state.ShowFailure(m, "the list of cities cannot be read: "+widget.Plain(f.Problem))
		m.Status.While = func(m *state.Room) bool { return m.Fleet.Problem != "" }
	case old.Problem != "" && f.Problem == "":
		state.ShowSuccess(m, "the list of cities is available again")
	}
}

// isSwitching reports whether the caller must ignore a key because a switch is in progress or has just ended. It queues
// keys for the new room, where only cursor moves take effect.
func isSwitching(m *state.Room, k tea.KeyPressMsg) bool {
	key := k.String()
	if m.Switch.ID != 0 {
		if key == "esc" || key == "ctrl+c" {
			cancelSwitch(m)
		} else {
			m.Switch.Keys = append(m.Switch.Keys, k)
		}
		return true
	}
	early := m.Now.Sub(m.ArrivedAt) < keymap.DialogGuard
	if early && isMove(m, k) {
		return false
	}
	if early {
		state.Show(m, "switched to "+state.CityTitle(m, 50)+"; "+key+
			" came too early; press it again", false)
	}
	return early
}

func isMove(m *state.Room, k tea.KeyPressMsg) bool {
	zones := []keymap.Zone{m.Zone(), keymap.Everywhere}
	if m.FleetRoom {
		zones = []keymap.Zone{keymap.InFleet}
	}
	a := m.Keys.Find(k, zones...)
	return m.Dialogs.Top() == nil && a != nil && a.Moves
}

func cancelSwitch(m *state.Room) {
	m.Switch = state.CitySwitch{}
	state.ShowSuccess(m, "staying here")
}

func switchFailed(m *state.Room, id int, why string) {
	if m.Switch.ID == id {
		doing := "cannot switch to "
		if m.Switch.Starts {
			doing = "cannot start "
		}
		state.ShowFailure(m, doing+m.Switch.Name+": "+
			strings.Join(widget.PlainLines(why), " "))
		m.Switch = state.CitySwitch{}
	}
}

func resetLeftRoom(m *state.Room) {
	m.Status, m.Switch = m.Switch.Before, state.CitySwitch{}
}

func copyUserState(m *state.Room, from *state.Room, now time.Time) {
	m.Now, m.ArrivedAt = now, now
	m.W, m.H, m.Mouse = from.W, from.H, cmp.Or(from.Mouse, m.Mouse)
	m.ChosenTheme, m.Terminal.Background, m.BackgroundQueried = from.ChosenTheme,
		from.Terminal.Background, from.BackgroundQueried
	applyPreferences(m, from.Preferences)
	m.Switch, m.Watched = state.CitySwitch{}, feed.Watch{}
	m.Dialogs.CloseIn(keymap.InFinder)
	m.All, m.Directory, m.Registrar, m.HomeFolder = from.All, from.Directory, from.Registrar,
		from.HomeFolder
	if from.Fleet != nil {
		receiveFleet(m, from.Fleet)
	}
	if c := m.Dialogs.Composer(); c != nil {
		c.Fit(m.W, m.H)
	}
	m.ForgetDrawn()
	m.UI++
}
