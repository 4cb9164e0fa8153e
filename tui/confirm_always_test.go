package tui

import (
	"testing"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
)

// changesCity reports whether an effect changes a city. Opening a message marks it as read without a question.
func changesCity(e feed.Effect) bool {
	switch e := e.(type) {
	case feed.SendCommands, feed.SendCityCommand, feed.RegisterCity, feed.UnregisterCity:
		return true
	case feed.RunTasks:
		for _, task := range e.Tasks {
			if _, ok := task.(feed.ReadMail); !ok {
				return true
			}
		}
	}
	return false
}

// With the preference `confirm = "always"`, no action changes the city without a question.
func TestEveryActionAsks(t *testing.T) {
	room := func(focus panel.ID, undoable bool) *stage {
		s := automated(t, 120, 40)
		s.change(withWatchdogs)
		s.press("8")
		s.find(someWork(), "")
		s.press("9")
		s.find(someMail(), "")
		state.FocusOn(s.m, focus)
		s.hear(feed.News{})
		if undoable {
			s.m.Undo = state.Undo{ID: 1, What: "suspending idle", Commands: []city.Command{city.Resume{Agent: "idle"}},
				Until: s.now.Add(state.UndoDuration)}
			s.agent("idle", func(a *city.Agent) { a.State = city.Suspended })
		}
		s.m.Confirm = state.ConfirmAlways
		return s
	}
	ran := 0
	try := func(focus panel.ID, undoable bool) {
		first := room(focus, undoable)
		for i := range first.m.Keys.Actions {
			if a := &first.m.Keys.Actions[i]; len(a.In) > 0 && a.In[0].Dialog() || a.WhyUnavailable(first.m) != "" {
				continue
			}
			ran++
			s := room(focus, undoable)
			a := &s.m.Keys.Actions[i]
			for _, e := range perform(s.m, a) {
				if changesCity(e) {
					t.Errorf("%s in %s changes the city without a question: %#v", a.ID, focus, e)
				}
			}
		}
	}
	for _, p := range room(panel.IDAgents, false).m.Panels {
		try(p.About().ID, false)
	}
	try(panel.IDAgents, true)
	if ran < 200 {
		t.Errorf("only %d actions ran", ran)
	}
}
