package outbox

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// oneAgentCity is a city with one agent, which is ready if the field why is empty.
type oneAgentCity struct {
	why   string
	never bool
	log   []string
	over  []string
}

func (c *oneAgentCity) Running() bool                     { return true }
func (c *oneAgentCity) WhyNotTyped(string) (string, bool) { return c.why, c.never }
func (c *oneAgentCity) Unreachable(string) string         { return "" }
func (c *oneAgentCity) Terminal(string) Terminal {
	return Terminal{Session: "s", Life: "1", Alive: true}
}
func (c *oneAgentCity) RequestList()      {}
func (c *oneAgentCity) Typed(d *Delivery) { c.over = append(c.over, string(d.Stage)) }
func (c *oneAgentCity) Record(_ string, e events.Event, _ ...effect.Reply) {
	c.log = append(c.log, e.Type+": "+e.Message)
}

func newOneAgentCity() (*oneAgentCity, *Messages, *Outbox, *step.Output) {
	c, out := &oneAgentCity{}, &step.Output{}
	tx := New(c, out)
	return c, &tx, &Outbox{Agent: "worker"}, out
}

func did(out *step.Output) string {
	var all []string
	for _, f := range out.Effects {
		switch f := f.(type) {
		case effect.Send:
			all = append(all, "send "+f.Text)
		case effect.Type:
			all = append(all, fmt.Sprintf("type %v", f.Cmd))
		case effect.SendReply:
			all = append(all, fmt.Sprintf("answer %d", f.Reply.ID))
		}
	}
	out.Begin()
	return strings.Join(all, ", ")
}

func TestATextWaitsForItsAgent(t *testing.T) {
	now := time.Unix(0, 0)
	c, tx, b, out := newOneAgentCity()
	c.why = "it is starting"
	tx.Nudge(now, 1, b, city.Nudge{Text: "hello"})
	tx.Deliver(now)
	if got := did(out); got != "" || b.Waiting[0].Why != "it is starting" {
		t.Fatalf("effects while the agent is not ready: got %q, %+v", got, b.Waiting[0])
	}
	tx.Deliver(now.Add(ReportAfter))
	if got := did(out); got != "answer 1" {
		t.Errorf("after %s: %q", ReportAfter, got)
	}
	c.why = ""
	tx.Deliver(now.Add(time.Minute))
	if got := did(out); got != "send hello" {
		t.Fatalf("effects when the agent is ready: got %q", got)
	}
	tx.Delivered(now.Add(time.Minute), b, effect.Sent{ID: 1})
	if len(c.log) != 1 || !strings.HasPrefix(c.log[0], events.AgentNudged) || len(b.Finished) != 1 {
		t.Errorf("recorded %q, finished %d", c.log, len(b.Finished))
	}
}

func TestATextIsGivenUpWithAnEvent(t *testing.T) {
	now := time.Unix(0, 0)
	for name, end := range map[string]func(*oneAgentCity, *Messages, *Outbox){
		"never": func(c *oneAgentCity, _ *Messages, _ *Outbox) { c.why, c.never = "it is suspended", true },
		"expired": func(c *oneAgentCity, _ *Messages, b *Outbox) {
			c.why, b.Waiting[0].QueuedAt = "it is busy", now.Add(-sendLimit)
		},
		"refused": func(_ *oneAgentCity, tx *Messages, b *Outbox) {
			tx.Deliver(now)
			tx.Delivered(now, b, effect.Sent{ID: 1, Err: errors.New("closed")})
		},
		"canceled": func(_ *oneAgentCity, tx *Messages, b *Outbox) {
			tx.Unsend(now, 2, b, city.Unsend{ID: 1})
		},
	} {
		c, tx, b, _ := newOneAgentCity()
		tx.Nudge(now, 1, b, city.Nudge{Text: "hello"})
		end(c, tx, b)
		tx.Deliver(now)
		if len(c.log) != 1 || !strings.HasPrefix(c.log[0], events.AgentNudgeDropped) ||
			len(b.Waiting) > 0 || len(c.over) != 1 {
			t.Errorf("%s: events %q, %d waiting, finished %q", name, c.log, len(b.Waiting), c.over)
		}
	}
}

// A program can still show a nudge when the controller looks at the screen for the next one. That looks like a draft.
func TestThePreviousTextIsNoDraftForLong(t *testing.T) {
	now := time.Unix(0, 0)
	_, tx, b, out := newOneAgentCity()
	tx.Nudge(now, 1, b, city.Nudge{Text: "first"})
	tx.Nudge(now, 2, b, city.Nudge{Text: "second"})
	tx.Deliver(now)
	tx.Delivered(now, b, effect.Sent{ID: 1})
	tx.Deliver(now)
	held := effect.Sent{ID: 2, Held: city.HoldScreen, Wait: 5 * time.Second, Disturbed: true}
	tx.Delivered(now, b, held)
	did(out)
	now = now.Add(redrawTime)
	tx.Deliver(now)
	if got := did(out); got != "send second" {
		t.Errorf("after %s: %q", redrawTime, got)
	}
	tx.Delivered(now, b, held)
	now = now.Add(redrawTime)
	if tx.Deliver(now); b.Current != nil {
		t.Error("looked at a user's draft too often")
	}
}

// After a refusal, an urgent text waits before the next attempt, like any other text.
func TestARefusedUrgentTextWaits(t *testing.T) {
	now := time.Unix(0, 0)
	_, tx, b, out := newOneAgentCity()
	tx.Nudge(now, 1, b, city.Nudge{Text: "hello", Now: true})
	tx.Deliver(now)
	if got := did(out); got != "send hello" {
		t.Fatalf("effects of the first delivery: got %q", got)
	}
	tx.Delivered(now, b, effect.Sent{ID: 1, Held: city.HoldEnded, Wait: 2 * time.Second})
	tx.Deliver(now)
	if got := did(out); got != "" {
		t.Errorf("effects immediately after the rejection: got %q, want none", got)
	}
	tx.Deliver(now.Add(2 * time.Second))
	if got := did(out); !strings.Contains(got, "send hello") {
		t.Errorf("effects after the wait: got %q", got)
	}
}

// Nudges of watchdogs for an earlier session do not delay a user's nudge.
func TestANudgeBehindOldNudges(t *testing.T) {
	now := time.Unix(0, 0)
	c, tx, b, out := newOneAgentCity()
	for _, text := range []string{"wake up", "are you there?", "hello"} {
		tx.Nudge(now, 1, b, city.Nudge{Text: text})
	}
	for _, d := range b.Waiting[:2] {
		d.ForSession = "0"
	}
	tx.Deliver(now)
	if got := did(out); got != "send hello" || len(c.log) != 2 || len(c.over) != 2 {
		t.Errorf("got %q, events %q", got, c.log)
	}
}

// TestOneEntryAtATime checks that keys and texts are typed into a terminal one after the other (L1).
func TestOneEntryAtATime(t *testing.T) {
	now := time.Unix(0, 0)
	_, tx, b, out := newOneAgentCity()
	tx.Type(1, b, city.Interrupt{Agent: "worker"})
	tx.Type(2, b, city.Interrupt{Agent: "worker"})
	tx.Nudge(now, 3, b, city.Nudge{Text: "hello"})
	tx.Deliver(now)
	if got := did(out); strings.Count(got, "type") != 1 || strings.Contains(got, "send") {
		t.Fatalf("effects of the first delivery: got %q", got)
	}
	tx.Typed(b, effect.Typed{})
	if got := did(out); !strings.Contains(got, "type") || !strings.Contains(got, "answer 1") {
		t.Errorf("effects after the first keys: got %q", got)
	}
	tx.Typed(b, effect.Typed{})
	tx.Deliver(now)
	if got := did(out); got != "answer 2, send hello" {
		t.Errorf("effects after the second keys: got %q", got)
	}
}
