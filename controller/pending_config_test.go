package controller

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
)

// A pending configuration in a real file passes through the whole loop: it is held, shown, refused and confirmed.
func TestHeldUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.write("[[agents]]\nname = \"c\"\nstart_command = \"run c\"\n")
		w.poke <- struct{}{}
		synctest.Wait()
		time.Sleep(10 * time.Minute) // on the bubble's clock: patrols report nothing new
		s, err := w.Snapshot(t.Context())
		if err != nil || s.Config.Held == nil || strings.Join(s.Config.Held.Removes, " ") !=
			"a b" || w.state("a") != "running" {
			t.Fatalf("%+v, %v", s.Config, err)
		}
		if plan := strings.Join(s.Config.Held.Plan, "; "); plan != "added c; removed a, b" {
			t.Errorf("the plan: %s", plan)
		}
		var refused *city.Error
		for _, cmd := range []city.Command{city.Reload{}, city.Suspend{Agent: "a"}} {
			if _, err := w.Do(t.Context(), cmd); !errors.As(err, &refused) ||
				refused.Code != city.Conflict ||
				!strings.Contains(refused.Message, "would remove 2 of 2 running agents (a, b); "+
					"run `gcity reload --confirm` to accept it") {
				t.Errorf("%s is answered with %v", cmd.Verb(), err)
			}
		}
		if _, err := w.Do(t.Context(), city.Reload{Confirm: true}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if s, err := w.Snapshot(t.Context()); err != nil || s.Config.Held != nil ||
			len(s.Agents) != 1 || w.state("c") != "running" {
			t.Errorf("%+v, %+v, %v", s.Config, s.Agents, err)
		}
		w.expect("controller.started", "agent.started a", "agent.started b",
			"controller.config_held",
			"controller.config_reloaded", "agent.stopped a", "agent.stopped b", "agent.started c")
	})
}
