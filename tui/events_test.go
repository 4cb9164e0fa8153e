package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/tuitest"
	"gcity/tui/widget"
)

// happened returns n events, one minute apart. The newest event is at epoch.
func happened(from uint64, n int) []events.Event {
	out := make([]events.Event, n)
	for i := range out {
		kind, who := events.AgentStarted, "scout"
		if i%2 == 1 {
			kind, who = events.AgentCrashed, "demo-repo/polecat-1"
		}
		out[i] = events.Event{Seq: from + uint64(i), TS: epoch.Add(-time.Duration(n-1-i) * time.Minute), Type: kind, Actor: "controller", Subject: who, Message: fmt.Sprint("n", i)}
	}
	return out
}

func (s *stage) eventSeqs() []uint64 {
	var out []uint64
	for _, i := range s.m.Events.List.Shown {
		out = append(out, s.m.Events.Rows[i].Event.Seq)
	}
	return out
}

func TestFilterOfEvents(t *testing.T) {
	row := panel.NewEventRow(events.Event{TS: epoch.Add(-5 * time.Minute), Type: events.AgentCrashed, Actor: "controller", Subject: "demo/worker-1", Message: "exit 3 after 4s"})
	for text, want := range map[string]bool{
		"type:agent.crashed": true, "type:crash": true, "type:agent": true, "type:started": false, "!type:crash": false,
		"subject:demo": true, "subject:worker": true, "subject:scout": false, "name:worker": true,
		"by:contr": true, "by:operator": false, "since:10m": true, "since:1m": false, "!since:1m": true, "since:1": true, "since:": true,
		"exit 3": true, "~agcr": true, "!exit": false, "type:crash exit since:6m !subject:scout": true, "": true,
	} {
		f := widget.ParseFilter(text)
		if f.Matches(func(t *widget.Term) bool { return row.Matches(t, epoch) }) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// In a narrow list, event types are shown in words. The filter finds both the words and the type.
func TestEventTypesInWords(t *testing.T) {
	for kind, want := range map[string]string{events.AgentIdleKilled: "idle timeout", events.ConfigReloaded: "config reloaded"} {
		s := demo(t, 80, 24)
		s.hear(feed.News{Events: []events.Event{{Seq: 1000, TS: epoch, Type: kind, Subject: "idle"}}})
		s.press("5")
		s.shows(want)
		for _, text := range []string{"type:" + want[:6], "type:" + kind, want} {
			row, f := panel.NewEventRow(events.Event{TS: epoch, Type: kind}), widget.ParseFilter(text)
			if !f.Matches(func(t *widget.Term) bool { return row.Matches(t, epoch) }) {
				t.Errorf("%q does not find %s", text, kind)
			}
		}
	}
}

// If a palette command selects another agent, the agent filter of Events follows.
func TestEventsFollowASelectionFromThePalette(t *testing.T) {
	s := demo(t, 200, 60)
	s.choose("builder")
	s.press("5")
	for s.m.Events.Selected().Subject != "chatty" {
		s.press("k")
	}
	s.press(",")
	s.shows("only chatty")
	s.line("goto scout", "enter")
	for _, i := range s.m.Events.List.Shown {
		if e := s.m.Events.Rows[i].Event; e.Subject != "scout" {
			t.Fatalf("after the palette selected scout, Events shows one of %s", e.Subject)
		}
	}
	s.shows("only scout")
	s.hides("only chatty")
}

// From an event, the user can go to its agent and to the other events of that agent.
func TestEventsOfOneAgent(t *testing.T) {
	s := newStage(t, Options{})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: happened(1, 6)})
	other := s.m.Agents.Rows[len(s.m.Agents.Rows)-1].Name
	state.SelectAgent(s.m, other)
	s.press("5", "k")
	s.press(".")
	if s.m.Agents.SelectedKey != "scout" {
		t.Errorf("%s is selected", s.m.Agents.SelectedKey)
	}
	s.press(",")
	if got, want := s.eventSeqs(), []uint64{1, 3, 5}; !slices.Equal(got, want) {
		t.Errorf("only scout: %d, want %d", got, want)
	}
	s.shows("only scout")
	state.SelectAgent(s.m, other)
	s.press(",", "k", "enter")
	s.shows(". selects scout")
	s.press(".", ",")
	if s.m.Agents.SelectedKey != "scout" || s.m.Dialogs.Reader() != nil {
		t.Errorf("%s is selected", s.m.Agents.SelectedKey)
	}
	s.hear(feed.News{Events: happened(7, 2)})
	if got, want := s.eventSeqs(), []uint64{1, 3, 5, 7}; !slices.Equal(got, want) {
		t.Errorf("after a new event: %d, want %d", got, want)
	}
	state.SelectAgent(s.m, other)
	if got := s.eventSeqs(); len(got) > 0 {
		t.Errorf("after the selection moved: %d events", got)
	}
	s.press("esc", "esc")
	if got := s.eventSeqs(); len(got) != 8 {
		t.Errorf("after esc: %d", got)
	}
}

// In Events, verbs act on the agent of the event under the cursor.
func TestVerbsOfAnEvent(t *testing.T) {
	s := pooled(t, 160, 40)
	s.choose("builder")
	s.press("space")
	s.choose("scout")
	s.hear(feed.News{Events: []events.Event{
		{Seq: 901, TS: epoch, Type: events.AgentStarted, Actor: "controller", Subject: "worker-2", Message: "pid 12"},
		{Seq: 902, TS: epoch, Type: events.AutomationFired, Actor: "controller", Subject: "bulletin", Message: "due"},
	}})
	s.press("5")
	s.hides("r restart", "s suspend")
	for _, key := range []string{"r", "s", "D", "i", "u", "ctrl+k", "a", "d", ","} {
		s.press(key)
		s.wants()
		s.shows("not belong to an agent that exists")
		noticed := s.closeNotice()
		if s.m.Dialogs.Choice() != nil || s.m.Dialogs.Reader() != nil ||
			s.m.Dialogs.Composer() != nil ||
			s.m.Events.Only {
			t.Errorf("%s acts on an agent", key)
		}
		if !noticed {
			s.press("esc")
		}
	}
	s.press("k")
	s.shows("worker-2: a attach", "r restart  D drain  s suspend")
	s.press("r")
	s.shows("Restart worker-2?")
	s.press("y")
	s.wants(city.Restart{Agent: "worker-2"})
	s.press("d")
	s.shows("━ worker-2 ━")
	s.press("esc", "x")
	s.shows("Actions for agent.started and worker-2", "restart the agent")
	s.press("esc", ",")
	s.shows("only worker-2")
	if !s.m.Agents.Marks["builder"] {
		t.Error("a mark was removed")
	}
}

// A key applies to the event that the user saw, not to one that arrived just before the key was pressed.
func TestNewEventDoesNotMoveTheCursor(t *testing.T) {
	s := pooled(t, 120, 40)
	came := func(seq uint64, who string) {
		s.hear(feed.News{Events: []events.Event{{Seq: seq, TS: epoch, Type: events.AgentStopped, Subject: who, Message: "stopped"}}})
	}
	came(901, "worker-2")
	s.press("5")
	s.wait(time.Second)
	for i := range uint64(3) { // in quick succession: each pause is shorter than the guard
		s.wait(keymap.DialogGuard / 2)
		came(902+i, "idle")
	}
	s.send(tuitest.KeyPress("enter"))
	s.shows("about       worker-2")
	s.press("esc") // press advances the clock
	s.press("enter")
	s.shows("about       idle")
	s.press("esc")
	came(910, "builder")
	s.send(tuitest.KeyPress("r"))
	s.shows("Restart idle?")
	s.press("n")
	came(911, "chatty")
	s.send(tuitest.KeyPress("k"))
	if got := s.m.Events.Selected().Subject; got != "idle" && got != "builder" || !s.m.Events.Frozen {
		t.Errorf("up from the visible event: got %s", got)
	}
	s.send(tuitest.KeyPress("G"))
	s.send(tuitest.KeyPress("enter"))
	s.shows("about       chatty") // G has moved the cursor to the newest event
}

// At the top of the list, the panel loads older events, up to a limit.
func TestOlderEvents(t *testing.T) {
	s := newStage(t, Options{})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: happened(2001, 30)})
	asked := func() *feed.LoadHistory {
		for _, e := range s.out {
			if q, ok := e.(feed.LoadHistory); ok {
				return &q
			}
		}
		return nil
	}
	s.press("5", "k")
	if asked() != nil {
		t.Fatal("older events are requested although the top is far away")
	}
	s.press("g")
	q := asked()
	if q == nil || q.Before != 2001 {
		t.Fatalf("request for older events: got %+v", q)
	}
	s.shows("loading older events")
	s.press("k")
	if asked() != nil {
		t.Error("requested twice")
	}
	s.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: q.ID + 1, Events: happened(1, 2)}}})
	if len(s.m.Events.Rows) != 30 {
		t.Error("the response to another request is accepted")
	}
	s.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: q.ID, Events: happened(1501, 500)}}})
	if len(s.m.Events.Rows) != 530 || s.m.Events.CursorSeq() != 2001 || !s.m.Events.Frozen {
		t.Errorf("%d rows, cursor on %d", len(s.m.Events.Rows), s.m.Events.CursorSeq())
	}
	s.hear(feed.News{Events: happened(2031, 2000)}) // loaded events stay while the user reads them
	if s.m.Events.Rows[0].Event.Seq != 1501 || s.m.Events.CursorSeq() != 2001 {
		t.Errorf("got the first event %d, the cursor on %d",
			s.m.Events.Rows[0].Event.Seq, s.m.Events.CursorSeq())
	}
	s.press("g")
	q = asked()
	s.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: q.ID, Problem: "the disk is gone"}}})
	s.shows("the disk is gone")
	s.press("esc", "g", "k")
	q = asked()
	s.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: q.ID, Events: happened(1401, 100), Complete: true}}})
	s.press("g")
	if asked() != nil {
		t.Error("events before the first one are requested")
	}
	s.press("G")
	s.hear(feed.News{Events: happened(4031, 1)})
	if n := len(s.m.Events.Rows); n != panel.MaxEvents {
		t.Errorf("got %d rows while following", n)
	}
}

// If a filter hides an entire page of older events, the panel loads the next page, up to the limit.
func TestOlderEventsBehindAFilter(t *testing.T) {
	s := newStage(t, Options{})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch), Events: happened(50_001, 30)})
	s.press("5", "/", "x", "y", "z", "enter")
	s.shows(`None of the 30 loaded events matches "xyz". pgup loads older events. esc clears`)
	s.press("pgup")
	pages := 0
	for first := uint64(50_001); ; pages++ {
		var q *feed.LoadHistory
		for _, e := range s.out {
			if d, ok := e.(feed.LoadHistory); ok {
				q = &d
			}
		}
		if q == nil {
			break
		}
		if q.Before != first {
			t.Fatalf("request: got events before %d, want before %d", q.Before, first)
		}
		first -= feed.HistoryPageSize
		s.hear(feed.News{HistoryPages: []feed.LoadedHistory{{ID: q.ID, Events: happened(first, feed.HistoryPageSize)}}})
	}
	if n := len(s.m.Events.Rows); pages == 0 || n < panel.MaxPages || n >= panel.MaxPages+feed.HistoryPageSize {
		t.Errorf("%d pages, %d rows", pages, n)
	}
	s.shows(fmt.Sprintf(`None of the %d loaded events matches "xyz". esc clears`, len(s.m.Events.Rows)))
}

// Control characters in a payload do not reach the terminal.
func TestPayloadAsFields(t *testing.T) {
	s := demo(t, 120, 40)
	for raw, want := range map[string][]string{
		`{"code":3,"output":"one\ntwo\u001b[31m","more":{"a":[1]},"none":null}`: {"code", "3", "one", "two", `"a": [`, "null"},
		`[1,2]`:  {"[", "1,", "2"},
		`"text"`: {"text"},
		`not`:    {"not"},
		`null`:   {"null"},
	} {
		all := strings.Join(details.Payload(s.m.Details(), json.RawMessage(raw)), "\n")
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: %q is not in\n%s", raw, w, all)
			}
		}
		if strings.Contains(all, "\x1b[31m") {
			t.Errorf("%s: an escape sequence is not removed", raw)
		}
	}
}

func FuzzPayload(f *testing.F) {
	f.Add([]byte(`{"a":"\u001b]0;x\u0007","b":[{}]}`))
	f.Add([]byte("\x1b[2J"))
	s := demo(f, 120, 40)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, l := range details.Payload(s.m.Details(), raw) {
			if strings.ContainsAny(l, "\n\r\a") {
				t.Errorf("%q", l)
			}
		}
	})
}

func TestAReloadThatRemovesAgentsIsShown(t *testing.T) {
	s := demo(t, 120, 40)
	next := s.m.Events.Rows[len(s.m.Events.Rows)-1].Event.Seq + 1
	s.hear(feed.News{Events: []events.Event{{Seq: next, TS: s.now, Type: events.ConfigReloaded,
		Message: "revision 777e9f7ab841 is in force: removed courier", Payload: []byte(`{"removed":["courier"]}`)}}})
	s.shows("✓ configuration: revision 777e9f7ab841 is in force: removed courier")
}
