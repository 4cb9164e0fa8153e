package tui

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/tuitest"
)

func without(name string) func(*city.Snapshot) {
	return func(n *city.Snapshot) {
		n.Agents = slices.DeleteFunc(n.Agents, func(a city.Agent) bool { return a.Name == name })
	}
}

// The time in a question about firing counts down.
func TestTheQuestionAboutAGateCountsDown(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := automated(t, size[0], size[1])
		s.point("db-health")
		s.press("t")
		before := slices.Clone(s.m.Dialogs.Choice().Body)
		s.wait(time.Second)
		if after := s.m.Dialogs.Choice().Body; slices.Equal(before, after) {
			t.Errorf("%v: the question still says %q", size, after)
		}
	}
}

// A question drops agents that no longer exist, and says so. The number that the user must type is updated, unless the
// user has begun to type it. If no agents are left, the question closes with a message.
func TestAQuestionDropsWhatIsGone(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		for _, name := range []string{"builder", "chatty", "idle", "batch-1", "batch-2"} {
			s.choose(name)
			s.press("space")
		}
		s.press("r")
		s.shows("Restart 5 marked agents?", "type 5")
		s.press("5")
		s.change(without("builder"))
		s.shows("Restart 4 marked agents?", "Dropped: builder no longer exists.", "type 5, the number of agents")
		s.hides("y  yes")
		s.press("backspace")
		s.shows("y  yes")
		s.hides("type ")
		s.press("enter") // "no" is preselected again
		s.wants()
		s.press("r", "y")
		s.wants(city.Restart{Agent: "batch-1"}, city.Restart{Agent: "batch-2"}, city.Restart{Agent: "chatty"},
			city.Restart{Agent: "idle"})
		s.choose("chatty")
		s.press("ctrl+k")
		s.change(without("chatty"))
		if s.m.Dialogs.Choice() != nil {
			t.Errorf("%v: the question about nothing stays open", size)
		}
		s.shows("nothing was done: chatty no longer exists")
	}
}

// The number that the user must type stays as it is from the first digit until the field is empty again.
func TestARequiredNumberStaysWhileTheUserTypes(t *testing.T) {
	s := pooled(t, 120, 40)
	s.out = perform(s.m, actionOf(s.m, "city.suspend"))
	n := state.RunningAgents(s.m)
	was := fmt.Sprintf("type %d, the number of running agents, to confirm:", n)
	s.shows(was)
	for _, digit := range fmt.Sprint(n) {
		s.press(string(digit))
		s.change(without(s.m.Snap.Agents[slices.IndexFunc(s.m.Snap.Agents,
			func(a city.Agent) bool { return a.State == city.Running })].Name))
		s.shows(was)
	}
	s.press("backspace", "backspace")
	s.hides(was)
	s.shows(fmt.Sprintf("type %d, the number", state.RunningAgents(s.m)))
	for _, digit := range fmt.Sprint(state.RunningAgents(s.m)) {
		s.press(string(digit))
	}
	s.change(without("builder"))
	s.send(tuitest.KeyPress("enter")) // the change does not delay the answer
	s.wants(city.Suspend{})
}

// An answer that is typed just after the question has changed does not count for the new question.
func TestAnAnswerToTheOldQuestionIsRejected(t *testing.T) {
	s := pooled(t, 120, 40)
	s.choose("builder")
	s.press("space", "space", "r")
	s.now = s.now.Add(time.Second)
	s.change(without("builder"))
	s.send(tuitest.KeyPress("y"))
	s.wants()
	s.shows("y came too early")
	s.press("y")
	s.wants(city.Restart{Agent: "chatty"})
}

// The question about a restart names the agents that it leaves out, and the key that helps.
func TestRestartNamesSkippedAgents(t *testing.T) {
	for _, size := range [][2]int{{200, 60}, {80, 24}} {
		s := pooled(t, size[0], size[1])
		for _, name := range []string{"builder", "shop/writer", "worker-3"} {
			s.choose(name)
			s.press("space")
		}
		s.press("r")
		s.shows("Restart marked agent builder?", "Not restarted:", "shop/writer is suspended; s resumes it",
			"worker-3 is draining")
		s.press("y")
		s.wants(city.Restart{Agent: "builder"})
	}
}

// In a failure that the city reports, the key of the room replaces the command.
func TestAFailureNamesTheKey(t *testing.T) {
	s := pooled(t, 200, 60)
	s.choose("builder")
	s.press("r", "y")
	sent, _ := effectOf[feed.SendCommands](s)
	s.hear(feed.News{Results: []feed.Result{{ID: sent.ID, Title: sent.Title, Total: 1, FailedIndexes: []int{0},
		Failures: []string{"agent builder is suspended in city.toml; run `gcity agent resume builder` first"}}}})
	s.shows("agent builder is suspended in city.toml; s resumes it")
}
