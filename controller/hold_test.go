package controller

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// A file that comes back after another one was in force is judged and told anew, held or refused (L6).
func TestTheSameFileAgainIsNews(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	whole := w.current
	w.declare("a")
	most := w.current
	for _, c := range []*effect.Configuration{whole, most, most, whole} {
		w.current = c
		w.step(effect.Poked{})
	}
	if n := w.told(events.ConfigHeld); n != 2 {
		t.Errorf("held %d times, want 2", n)
	}
	for range 2 {
		w.broken = "no"
		w.step(effect.Poked{})
		w.step(effect.Poked{})
		w.declare("a", "b", "c")
	}
	if n := w.told(events.ConfigRejected); n != 2 {
		t.Errorf("refused %d times, want 2", n)
	}
}

// A confirmation means what was held when it was given, not what a load under way brings meanwhile.
func TestConfirmMeansWhatWasShown(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	w.declare("a")
	shown := w.current.Revision
	w.stuck["load"] = true
	w.write("b")
	w.feed(effect.Poked{})
	w.command(1, city.Reload{Confirm: true})
	clear(w.stuck)
	w.step(effect.Wake{})
	if a := w.answers[1]; a.Err == nil || a.Err.Code != city.Conflict || !strings.Contains(a.Err.Message, "not what was confirmed") {
		t.Errorf("answered with %v", a)
	}
	if h := w.m.snapshot(w.now).Config.Held; h == nil || h.Revision == shown || len(h.Removes) != 2 || w.m.conf.Revision == shown {
		t.Errorf("held: %+v", h)
	}
	if len(w.m.confirms) > 0 {
		t.Errorf("remembered for nobody: %v", w.m.confirms)
	}
}

// The thread through the loop, with a real file: held, shown, refused, confirmed.
func TestHeldUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.write("[[agents]]\nname = \"c\"\nstart_command = \"run c\"\n")
		w.poke <- struct{}{}
		synctest.Wait()
		time.Sleep(10 * time.Minute) // of the bubble's: patrols say nothing new
		s, err := w.Snapshot(t.Context())
		if err != nil || s.Config.Held == nil || strings.Join(s.Config.Held.Removes, " ") != "a b" || w.state("a") != "running" {
			t.Fatalf("%+v, %v", s.Config, err)
		}
		if plan := strings.Join(s.Config.Held.Plan, "; "); plan != "added c; removed a, b" {
			t.Errorf("the plan: %s", plan)
		}
		var refused *city.Error
		for _, cmd := range []city.Command{city.Reload{}, city.Suspend{Agent: "a"}} {
			if _, err := w.Do(t.Context(), cmd); !errors.As(err, &refused) || refused.Code != city.Conflict ||
				!strings.Contains(refused.Message, "would remove 2 of 2 running agents (a, b); `gcity reload --confirm` lets it") {
				t.Errorf("%s is answered with %v", cmd.Verb(), err)
			}
		}
		if _, err := w.Do(t.Context(), city.Reload{Confirm: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s, err := w.Snapshot(t.Context()); err != nil || s.Config.Held != nil || len(s.Agents) != 1 || w.state("c") != "running" {
			t.Errorf("%+v, %+v, %v", s.Config, s.Agents, err)
		}
		w.expect("controller.started", "agent.started a", "agent.started b", "controller.config_held",
			"controller.config_reloaded", "agent.stopped a", "agent.stopped b", "agent.started c")
	})
}
