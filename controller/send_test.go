package controller

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/outbox"
	"gcity/events"
	"gcity/session"
)

// The command for a text that waits for a draft is answered within two seconds. The text is typed once after the
// draft is deleted. No timer is left over afterwards.
func TestTextThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		end := w.begin()
		synctest.Wait()
		w.fake.Draft("a", true)
		before := time.Now()
		r, err := w.Do(t.Context(), city.Nudge{Agent: "a", Text: "patient"})
		if took := time.Since(before); err != nil || r.Send == nil || r.Send.Stage != city.Queued ||
			r.Send.Hold != city.HoldDraft || r.Send.Why != city.HoldDraft.Text() || took != outbox.ReportAfter {
			t.Fatalf("after %v: %+v, %+v, %v", took, r, r.Send, err)
		}
		if r, err := w.Do(t.Context(), city.SendKeys{Agent: "a", Keys: []string{"Up"}}); err !=
			nil {
			t.Errorf("keys beside a text that waits: %+v, %v", r, err)
		}
		w.fake.Draft("a", false)
		time.Sleep(effect.TypingPause + effect.SendAgain) // on the bubble's clock
		synctest.Wait()
		out, err := w.Output(t.Context(), "a", 0)
		if err != nil || out != "Uppatient" {
			t.Errorf("%q, %v", out, err)
		}
		s, err := w.Snapshot(t.Context())
		if a, _ := s.Agent("a"); err != nil || len(a.Sends) != 1 ||
			a.Sends[0].Stage != city.Submitted {
			t.Errorf("%+v, %v", a.Sends, err)
		}
		time.Sleep(outbox.SendShown)
		synctest.Wait()
		if next := w.m.Next(time.Now()); !next.IsZero() {
			t.Errorf("nothing waits, and it is to be looked after at %v", next)
		}
		end()
		w.expect("controller.started", "agent.started a", "agent.started b", "agent.nudged a",
			"agent.stopped a", "agent.stopped b", "controller.stopped")
	})
}

// When the controller ends, texts that are still queued are dropped. The log and the waiting client get the reason.
func TestTextsOfAnEndingCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		end := w.begin()
		synctest.Wait()
		w.fake.Draft("a", true)
		if r, err := w.Do(t.Context(), city.Nudge{Agent: "a", Text: "told already"}); err != nil ||
			r.Send.Stage != city.Queued {
			t.Fatalf("%+v, %v", r, err)
		}
		heard := make(chan error, 1)
		go func() {
			_, err := w.Do(t.Context(), city.Nudge{Agent: "a", Text: "still asked after"})
			heard <- err
		}()
		synctest.Wait()
		end()
		if e, ok := errors.AsType[*city.Error](<-heard); !ok || e.Code != city.Unavailable ||
			!strings.Contains(e.Message, "dropped") {
			t.Errorf("%v", e)
		}
		all, err := w.o.Log.Find(t.Context(),
			events.Query{Types: []string{events.AgentNudgeDropped}})
		if err != nil || len(all) != 2 || !strings.Contains(all[0].Message,
			"the city is being stopped") || strings.Contains(string(all[0].Payload),
			"told already") {
			t.Errorf("%v, %v", all, err)
		}
	})
}

// Messages from the configuration and texts from commands have the same size limit.
func TestTextsHaveOneLimit(t *testing.T) {
	if city.MaxSend != session.MaxText {
		t.Errorf("%d and %d", city.MaxSend, session.MaxText)
	}
}
