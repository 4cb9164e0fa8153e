package attention

import (
	"errors"
	"testing"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

type town struct{ recorded []events.Event }

func (*town) RequestList() {}

func (*town) TaskOf(string) (task, gate string) { return "", "" }

func (*town) StalledUntil() time.Time { return time.Time{} }

func (t *town) Record(_ string, e events.Event, _ ...effect.Reply) {
	t.recorded = append(t.recorded, e)
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// facts are the facts in a list of sessions that was received this long after noon.
func facts(listed time.Duration, s session.Status) *Facts {
	s.Name, s.Alive = "gc-a", true
	return &Facts{Want: &agent.Want{Name: "a", Spec: session.Spec{Ready: session.Ready{Prefix: "> "}}}, Alive: true, Life: &s,
		ListedAt: noon.Add(listed), Decisions: new([]city.Decision)}
}

func printed(life string, bytes uint64, last time.Duration) session.Status {
	return session.Status{ID: life, Output: bytes, Activity: noon.Add(last)}
}

// Each list is followed by the screen that would be read then: "" for none, "-" for no question, "!" for an error,
// "?" for an unsupported operation, or what the question is about.
func TestLook(t *testing.T) {
	const s = time.Second
	type list struct {
		at     time.Duration
		life   session.Status
		screen string // "" = the screen must not be read
		asks   string // "" = no question
	}
	for name, lists := range map[string][]list{
		"quiet for less than three seconds": {{10 * s, printed("x", 900, 8*s), "", ""}},
		"read once in each quiet period": {{10 * s, printed("x", 900, 7*s), "-", ""}, {40 * s, printed("x", 900, 7*s), "", ""},
			{70 * s, printed("x", 901, 60*s), "-", ""}},
		"prints much": {{10 * s, printed("x", 1, 10*s), "", ""}, {40 * s, printed("x", 9e3, 40*s), "", ""}},
		"redraws a part regularly": {{10 * s, printed("x", 1, 10*s), "", ""}, {40 * s, printed("x", 1650, 39*s), "color", "color"},
			{70 * s, printed("x", 3300, 69*s), "color", "color"}},
		"prints little all the time": {{10 * s, printed("x", 1, 10*s), "", ""}, {40 * s, printed("x", 1650, 39*s), "-", ""}, {70 * s, printed("x", 3300, 69*s), "", ""},
			{130 * s, printed("x", 6600, 129*s), "", ""}, {160 * s, printed("x", 8250, 159*s), "-", ""}, {190 * s, printed("x", 9e5, 189*s), "", ""},
			{220 * s, printed("x", 9e5+1650, 219*s), "color", "color"}},
		"lists in quick succession do not show how much is printed": {{10 * s, printed("x", 1, 10*s), "", ""},
			{10*s + time.Millisecond, printed("x", 1, 10*s), "", ""}, {11 * s, printed("x", 1e3, 11*s), "", ""}},
		"an answer ends the question although the agent prints much": {{10 * s, printed("x", 1, 0), "color", "color"},
			{40 * s, printed("x", 1e6, 40*s), "-", ""}, {70 * s, printed("x", 2e6, 70*s), "", ""}},
		"a question follows another": {{10 * s, printed("x", 1, 0), "color", "color"}, {40 * s, printed("x", 2, 40*s), "size", "size"}},
		"a screen that cannot be read changes nothing": {{10 * s, printed("x", 1, 0), "color", "color"}, {40 * s, printed("x", 2, 30*s), "!", "color"},
			{70 * s, printed("x", 2, 30*s), "!", "color"}, {80 * s, printed("x", 2, 30*s), "size", "size"}, {90 * s, printed("x", 2, 30*s), "", "size"}},
		"a screen is read three times if it cannot be read": {{10 * s, printed("x", 1, 0), "!", ""}, {40 * s, printed("x", 1, 0), "!", ""}, {70 * s, printed("x", 1, 0), "!", ""},
			{100 * s, printed("x", 1, 0), "", ""}, {130 * s, printed("x", 2, 110*s), "!", ""}, {160 * s, printed("x", 2, 110*s), "color", "color"}},
		"a session without a screen": {{10 * s, printed("x", 1, 0), "?", ""}, {40 * s, printed("x", 1, 0), "", ""}},
		"the activity is known in seconds": {{10 * s, printed("x", 0, 0), "color", "color"}, {40*s + s/2, printed("x", 0, 40*s), "color", "color"},
			{70 * s, printed("x", 0, 40*s), "-", ""}, {100 * s, printed("x", 0, 40*s), "", ""}},
		"a new session": {{10 * s, printed("x", 1, 0), "color", "color"}, {11 * s, printed("y", 1, 11*s), "", ""}, {40 * s, printed("y", 1, 11*s), "-", ""}},
		"the provider does not count output": {{10 * s, printed("x", 0, 6*s), "-", ""}, {40 * s, printed("x", 0, 6*s), "", ""},
			{70 * s, printed("x", 0, 69*s), "", ""}, {100 * s, printed("x", 0, 80*s), "color", "color"}},
		"the activity is unknown": {{10 * s, session.Status{ID: "x", Output: 1}, "", ""}, {40 * s, session.Status{ID: "x", Output: 1}, "", ""}},
	} {
		c, out, a := &town{}, &step.Output{}, &Agent{}
		d := New(c, out)
		for i, l := range lists {
			f, now := facts(l.at, l.life), noon.Add(l.at)
			out.Begin()
			d.Look(now, a, f)
			if l.screen == "" && len(out.Effects) == 1 && out.Effects[0].(effect.ReadScreen).Unless == l.life.Output {
				out.Begin()
				d.Read(now, a, f, effect.ScreenRead{Life: l.life.ID, Unchanged: true})
			}
			if (len(out.Effects) > 0) != (l.screen != "") {
				t.Fatalf("%s: list %d: got effects %v", name, i, out.Effects)
			}
			if l.screen != "" {
				in := effect.ScreenRead{Agent: "a", Life: l.life.ID, Question: &session.Dialog{Name: l.screen}}
				switch l.screen {
				case "-":
					in.Question = nil
				case "!":
					in.Question, in.Err = nil, errors.New("no")
				case "?":
					in.Question, in.Err = nil, session.ErrUnsupported
				}
				d.Read(now, a, f, in)
				out.Begin()
				if d.Look(now, a, f); len(out.Effects) > 0 {
					t.Fatalf("%s: list %d: the screen is read again", name, i)
				}
			}
			if asks := a.Asks != nil; asks != (l.asks != "") || asks && a.Asks.About != l.asks {
				t.Fatalf("%s: list %d: got the question %+v", name, i, a.Asks)
			}
		}
	}
}

// After a question is found, its screen is read again as soon as the agent prints something, without a list.
func TestAnswerIsNoticed(t *testing.T) {
	out, a := &step.Output{}, &Agent{}
	d := New(&town{}, out)
	f := facts(10*time.Second, printed("x", 7, 0))
	now := noon.Add(10 * time.Second)
	d.Look(now, a, f)
	d.Read(now, a, f, effect.ScreenRead{Life: "x", Question: &session.Dialog{}})
	asks := &session.Dialog{}
	for i, in := range []effect.ScreenRead{{Unchanged: true}, {Printed: 8, Question: asks}, {Unchanged: true}, {Printed: 9}, {Question: asks}, {Unchanged: true}, {Printed: 10}, {}} {
		// after a screen without the question, the screen is read in any case
		want := []uint64{7, 7, 8, 8, 0, 9, 9, 0}[i]
		after := []time.Duration{2, 2, 4, 2, 0, 4, 2, 0}[i] * time.Second
		if got := a.NextLook.Sub(now); got != max(after, doubtTime) {
			t.Errorf("read %d follows after %s, want %s", i, got, after)
		}
		out.Begin()
		if d.Look(a.NextLook.Add(-time.Millisecond), a, f); len(out.Effects) > 0 {
			t.Errorf("read %d is too early", i)
		}
		now = a.NextLook
		d.Look(now, a, f)
		d.Look(now, a, f)
		if len(out.Effects) != 1 || out.Effects[0].(effect.ReadScreen).Unless != want {
			t.Fatalf("read %d: got %+v", i, out.Effects)
		}
		in.Life = "x"
		d.Read(now, a, f, in)
	}
	if a.Asks != nil || !a.NextLook.IsZero() {
		t.Errorf("after the answer: got %+v, next look at %s", a.Asks, a.NextLook)
	}
}

// The rate of output is unknown until a list contains the session.
func TestLookBeforeTheFirstList(t *testing.T) {
	out, a := &step.Output{}, &Agent{}
	d := New(&town{}, out)
	f := facts(0, printed("x", 1, 0))
	f.ListedAt = time.Time{}
	d.Look(noon, a, f)
	d.Look(noon, a, facts(10*time.Second, printed("x", 9e3, 10*time.Second)))
	if len(out.Effects) > 0 {
		t.Errorf("got effects %v", out.Effects)
	}
}

// After a change of the configuration, the program's questions can be unknown. Then gcity could never notice an answer.
func TestQuestionsAreUnknown(t *testing.T) {
	out, a := &step.Output{}, &Agent{}
	d := New(&town{}, out)
	f := facts(10*time.Second, printed("x", 1, time.Second))
	d.Look(noon, a, f)
	d.Read(noon, a, f, effect.ScreenRead{Agent: "a", Life: "x", Question: &session.Dialog{}})
	if a.Asks == nil {
		t.Fatal("the agent asks no question")
	}
	f.Want.Spec.Ready.Prefix = ""
	if d.Look(noon, a, f); a.Asks != nil {
		t.Errorf("got the question %+v", a.Asks)
	}
}

// A question is recorded once, with the time when the agent became quiet. The result of a read from before the end of
// the session is ignored.
func TestQuestionIsRecordedOnce(t *testing.T) {
	c, out, a := &town{}, &step.Output{}, &Agent{}
	d := New(c, out)
	f := facts(10*time.Second, printed("x", 1, time.Second))
	asked := effect.ScreenRead{Agent: "a", Life: "x", Question: &session.Dialog{}}
	for range 2 {
		f.Life.Output++
		d.Look(noon, a, f)
		if !a.Reading() || !d.ReadScreen(a, f) {
			t.Error("the screen is not being read")
		}
		d.Read(noon.Add(time.Minute), a, f, asked)
	}
	if len(c.recorded) != 1 || c.recorded[0].Type != events.AgentAsking || !a.Asks.Since.Equal(noon.Add(time.Second)) {
		t.Errorf("got %+v, %+v", c.recorded, a.Asks)
	}
	f.Life.Output++
	d.Look(noon, a, f)
	f.Alive = false
	d.Forget(a)
	d.Read(noon.Add(time.Minute), a, f, asked)
	if a.Asks != nil || a.Reading() || len(c.recorded) != 1 {
		t.Errorf("after the end: got %+v, %+v", c.recorded, a.Asks)
	}
}
