package machine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

// If an agent requests a restart and exits before it can be stopped, it restarts, and the exit does not count as a
// crash.
func TestRequestedRestartIsNotACrash(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(2 * time.Second)
	w.stuck["agent:a"] = true
	w.command(1, city.RequestRestart{Agent: "a"})
	w.pending = nil // discard the stop effect, and simulate its failure
	w.feed(effect.Stopped{Agent: "a", Err: errors.New("the holder does not answer")})
	delete(w.stuck, "agent:a")
	w.Step(effect.Wake{})
	w.die("a", 1, "")
	w.advance(time.Second)
	if w.told(events.AgentCrashed) != 0 || w.told(events.AgentStopped) != 1 ||
		w.told(events.AgentStarted) != 2 {
		t.Errorf("the log: %v", w.log)
	}
	if n := len(w.m.agents["a"].restart.history.Crashes); n != 0 {
		t.Errorf("got %d crashes, want 0", n)
	}
}

// The reply to a suspension names the setting once, regardless of whether the agent was running.
func TestSuspensionAnswer(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	for _, id := range []uint64{1000, 1001} {
		w.command(id, city.Suspend{Agent: "a"})
		w.advance(0)
		if got := w.replies[id]; got.Err != nil ||
			got.Receipt.Message != "agent a is suspended in city.toml" {
			t.Errorf("%d: %+v", id, got)
		}
	}
}

// Repeated failures to mark a session are one decision, until marking works again.
func TestRepeatedMarkFailure(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	failures := func() (n int) {
		for _, d := range w.m.agents["a"].decisions {
			if d.What == "mark failed" {
				n++
			}
		}
		return n
	}
	for n := range 2 {
		w.fails["marking a"] = "no space left on device"
		w.command(1, city.Drain{Agent: "a"})
		w.advance(time.Minute)
		if got := failures(); got != n+1 {
			t.Errorf("got %d decisions, want %d", got, n+1)
		}
		delete(w.fails, "marking a")
		w.advance(time.Minute)
		if w.m.agents["a"].sess.life.Drain.Since.IsZero() {
			t.Error("the session is not marked, although the failure has ended")
		}
		w.command(2, city.Undrain{Agent: "a"})
		w.advance(0)
	}
}

// If city.toml returns to content that was held or rejected before, the content is checked and reported again (L6).
func TestUnchangedFileIsReloaded(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	whole := w.current
	w.declare("a")
	most := w.current
	for _, c := range []*effect.Configuration{whole, most, most, whole} {
		w.current = c
		w.Step(effect.ConfigChanged{})
	}
	if n := w.told(events.ConfigHeld); n != 2 {
		t.Errorf("got %d config.held events, want 2", n)
	}
	for range 2 {
		w.broken = "no"
		w.Step(effect.ConfigChanged{})
		w.Step(effect.ConfigChanged{})
		w.declare("a", "b", "c")
	}
	if n := w.told(events.ConfigRejected); n != 2 {
		t.Errorf("got %d config.rejected events, want 2", n)
	}
}

// A confirmation applies to the configuration that is held at that time, not to one that is loaded later.
func TestConfirmMeansWhatWasShown(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	w.declare("a")
	shown := w.current.Revision
	w.stuck["load"] = true
	w.write("b")
	w.feed(effect.ConfigChanged{})
	w.command(1, city.Reload{Confirm: true})
	clear(w.stuck)
	w.Step(effect.Wake{})
	if a := w.replies[1]; a.Err == nil || a.Err.Code != city.Conflict ||
		!strings.Contains(a.Err.Message, "the file has changed since it was confirmed") {
		t.Errorf("answered with %v", a)
	}
	if h := w.m.Snapshot(w.now).Config.Held; h == nil || h.Revision == shown ||
		len(h.Removes) != 2 || w.m.conf.Revision == shown {
		t.Errorf("held: %+v", h)
	}
	if len(w.m.loader.confirms) > 0 {
		t.Errorf("confirmations: got %v, want none", w.m.loader.confirms)
	}
}

// A question that a program asks before it is ready is shown, and a user can answer it in the terminal. Keys reach
// the session that asks. The question is cleared when the start ends, even if the start fails (L14).
func TestAQuestionAtTheStart(t *testing.T) {
	for _, failed := range []error{nil, errors.New("it asks about trust; the question was not answered")} {
		w := newWorld()
		w.stuck["agent:a"] = true
		w.declare("a:restart=never")
		w.advance(0)
		look := func() city.Agent { return w.m.agents["a"].draw() }
		w.command(1, city.SendKeys{Agent: "a", Keys: []string{"Enter"}})
		if a := w.replies[1]; a.Err == nil || a.Err.Code != city.Conflict {
			t.Errorf("SendKeys before the question: got %+v, want a conflict", a)
		}
		asked := session.Status{Name: "gc-app-a", Agent: "a", ID: "s1", Alive: true, PID: 7,
			Started: w.now}
		w.Step(effect.StartProgress{Agent: "a", Status: asked, Question: "asks about trust", About: "trust"})
		v := look()
		if v.State != city.Starting || !strings.HasPrefix(v.Reason,
			"asks about trust") || v.Asks == nil || v.Asks.About != "trust" || !v.Running || v.PID != 7 ||
			v.Session == nil || v.Session.ID != "s1" || v.Session.Name != "gc-app-a" {
			t.Errorf("%+v", v)
		}
		w.feed(effect.Command{ID: 2, Cmd: city.SendKeys{Agent: "a", Keys: []string{"Enter"}}})
		pressed := ""
		for _, f := range w.pending {
			if f, ok := f.(effect.Type); ok {
				pressed = f.Session
			}
		}
		if pressed != "gc-app-a" {
			t.Errorf("pressed in %q", pressed)
		}
		w.Step(effect.Typed{Agent: "a"})
		if a, ok := w.replies[2]; !ok || a.Err != nil {
			t.Errorf("SendKeys: got %+v", a)
		}
		w.Step(effect.StartProgress{Agent: "a", Waits: "waits for a line"})
		if v := look(); v.State != city.Starting || v.Reason != "waits for a line" ||
			v.Asks != nil || v.Session == nil || !v.Running {
			t.Errorf("answered: %+v", v)
		}
		w.Step(effect.StartProgress{Agent: "a", Status: asked, Question: "asks about trust"})
		w.pending = nil
		clear(w.stuck)
		w.Step(effect.Started{Agent: "a", Status: asked, Err: failed})
		if r := w.m.agents["a"]; r.act.begun != nil {
			t.Error("the start still has a session")
		}
		w.Step(effect.StartProgress{Agent: "a", Status: asked, Question: "asks about trust"}) // after the start has ended
		if v := look(); v.State == city.Starting && v.Session != nil && failed == nil ||
			strings.Contains(v.Reason, "answer in its terminal") {
			t.Errorf("too late: %+v", v)
		}
	}
}

// An automatic answer to a question is recorded, even if the agent no longer exists.
func TestAnswerIsRecorded(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(time.Second)
	for _, name := range []string{"a", "gone"} {
		w.Step(effect.DialogAnswered{Agent: name, Session: "s1",
			Dialog: session.Dialog{Name: "trust", Keys: []string{"Down", "Enter"}, Option: "Yes"}})
	}
	var got []string
	for _, e := range w.events {
		if e.Type == events.AgentNudged {
			got = append(got, e.Actor+" "+e.Subject+": "+e.Message)
		}
	}
	want := "controller a: the agent's question about trust was answered with \"Yes\" (Down, Enter) because " +
		"emits_permission_warning is set" +
		"|controller gone: the agent's question about trust was answered with \"Yes\" (Down, Enter) because " +
		"emits_permission_warning is set"
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}
