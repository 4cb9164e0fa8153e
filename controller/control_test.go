package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/outbox"
	"gcity/controller/perform"
	"gcity/events"
	"gcity/session"
	sessionfake "gcity/session/fake"
)

// A command is performed even if its client gave up before the controller read it.
func TestGivenUpCommand(t *testing.T) {
	const agents = 20
	var text strings.Builder
	for i := range agents {
		fmt.Fprintf(&text, "[[agents]]\nname = \"a%d\"\nstart_command = \"x\"\n", i)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, text.String())
		defer w.begin()()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for i := range agents {
			_, _ = w.Do(ctx, city.Suspend{Agent: fmt.Sprintf("a%d", i)}) // may fail, because it races with the cancellation
		}
		synctest.Wait()
		s, err := w.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range s.Agents {
			if !a.Suspended {
				t.Errorf("%s is not suspended", a.Name)
			}
		}
	})
}

// The status line for the service manager says if the file is rejected or waits for confirmation. A reload through the
// service manager still succeeds.
func TestStatusLine(t *testing.T) {
	agents := []city.Agent{{Name: "a", State: city.Running}, {Name: "b", State: city.Quarantined}}
	for want, c := range map[string]city.ConfigInfo{
		"1 of 2 agents running, 1 quarantined": {},
		"1 of 2 agents running, 1 quarantined, the " +
			"configuration was rejected": {Rejected: "city.toml:1:1: no"},
		"1 of 2 agents running, 1 quarantined, a configuration " +
			"change is waiting for confirmation": {Held: &city.Held{}},
	} {
		if got := status(&city.Snapshot{Agents: agents, Config: c}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Work that is assigned to a suspended agent is reported after a while. It is no longer reported when it has been
// returned.
func TestStrandedWorkIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := fake.New("tw")
		w := newTown(t, strings.Replace(two, "[[agents]]", "[[agents]]\nsuspended = true", 1),
			func(o *Options) {
				o.Stores = func(string) (beads.Store, error) { return store, nil }
			})
		end := w.begin()
		defer end()
		synctest.Wait()
		if got := w.state("a"); got != string(city.Suspended) {
			t.Fatal(got)
		}
		b, err := store.Create(t.Context(), beads.Bead{Title: "x", Status: beads.StatusInProgress,
			Assignee: "a"})
		if err != nil {
			t.Fatal(err)
		}
		lines := func() string {
			s, err := w.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(s.StrandedLines(), "\n")
		}
		time.Sleep(city.StrandedAfter - time.Minute)
		if got := lines(); got != "" {
			t.Errorf("too soon: %s", got)
		}
		time.Sleep(3 * time.Minute)
		if got := lines(); !strings.HasPrefix(got, b.ID+" is assigned to a, which is "+
			"suspended in city.toml; ") {
			t.Errorf("after a while: got %q", got)
		}
		if _, err := w.Do(t.Context(), city.UpdateBead{ID: b.ID,
			Patch: beads.Patch{Status: new(beads.StatusOpen), Assignee: new("")}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := lines(); got != "" {
			t.Errorf("given back: %s", got)
		}
	})
}

// A pending configuration in a real file passes through the whole loop: it is held, shown, refused and confirmed.
func TestHeldUntilConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two)
		defer w.begin()()
		synctest.Wait()
		w.write("[[agents]]\nname = \"c\"\nstart_command = \"run c\"\n")
		w.poke <- struct{}{}
		synctest.Wait()
		time.Sleep(10 * time.Minute) // several patrols, which report nothing new
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
					"run `gcity reload --confirm` to apply it") {
				t.Errorf("%s: got error %v", cmd.Verb(), err)
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

// If a user's draft delays a text, the command still gets its reply within two seconds. The text is typed once, after
// the draft is deleted. No timer remains.
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
			t.Fatalf("after %v: got %+v, %+v, %v", took, r, r.Send, err)
		}
		if r, err := w.Do(t.Context(), city.SendKeys{Agent: "a", Keys: []string{"Up"}}); err !=
			nil {
			t.Errorf("SendKeys while a text is queued: got %+v, %v", r, err)
		}
		w.fake.Draft("a", false)
		time.Sleep(effect.TypingPause + effect.SendAgain)
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
			t.Errorf("next wake-up without queued texts: got %v, want none", next)
		}
		end()
		w.expect("controller.started", "agent.started a", "agent.started b", "agent.nudged a",
			"agent.stopped a", "agent.stopped b", "controller.stopped")
	})
}

// lineLimit is a provider that rejects long texts and unknown keys.
type lineLimit struct{ *sessionfake.Provider }

func (p lineLimit) SendPolitely(ctx context.Context, name, text string, quiet time.Duration) error {
	if len(text) > 4095 {
		return fmt.Errorf("send to %s: %w: the line is too long", name, session.ErrRejected)
	}
	return p.Provider.SendPolitely(ctx, name, text, quiet)
}

func (p lineLimit) SendKeys(_ context.Context, name string, _ ...string) error {
	return fmt.Errorf("send keys to %s: %w: unknown key", name, session.ErrRejected)
}

// Input that the session rejects is a conflict, because a retry would be in vain.
func TestRejectedInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, two, func(o *Options) { o.Provider = lineLimit{o.Provider.(*sessionfake.Provider)} })
		defer w.begin()()
		synctest.Wait()
		for _, c := range []city.Command{city.Nudge{Agent: "a", Text: strings.Repeat("x", 6000)},
			city.SendKeys{Agent: "a", Keys: []string{"Up"}}} {
			if _, err := w.Do(t.Context(), c); !city.HasCode(err, city.Conflict) {
				t.Errorf("%s: %v", c.Verb(), err)
			}
		}
	})
}

// An agent that gcity has stopped, or that has exited without a crash, does not show the output of an earlier crash.
func TestOutputOfAStoppedAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, "[[agents]]\nname = \"a\"\nstart_command = \"run a\"\nrestart = \"on-failure\"\n")
		defer w.begin()()
		do := func(c city.Command) {
			t.Helper()
			synctest.Wait()
			if _, err := w.Do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		check := func(want string) {
			t.Helper()
			if out, err := w.Output(t.Context(), "a", 0); err != nil || out != want {
				t.Errorf("got %q, %v, want %q", out, err, want)
			}
		}
		do(city.Nudge{Agent: "a", Text: "first"})
		w.fake.Crash("a", 3, "")
		do(city.Nudge{Agent: "a", Text: "second"})
		check("second")
		do(city.Suspend{Agent: "a"})
		check("")
		do(city.Resume{Agent: "a"})
		do(city.Nudge{Agent: "a", Text: "third"})
		w.fake.Crash("a", 0, "")
		synctest.Wait()
		check("")
		if files, err := perform.CrashList(perform.CrashDir(w.dir, "a")); err != nil || len(files) != 1 {
			t.Errorf("crash files: %q, %v", files, err)
		}
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

// The time limit of a stop is that of the configuration in force, before the loop runs and after a reload.
func TestStopLimit(t *testing.T) {
	const chain = "[daemon]\nshutdown_timeout = \"7s\"\n" +
		"[[agents]]\nname = \"a\"\nstart_command = \"x\"\n[[agents]]\nname = \"b\"\n" +
		"start_command = \"x\"\ndepends_on = [\"a\"]\n" +
		"[[agents]]\nname = \"c\"\nstart_command = \"x\"\ndepends_on = [\"b\"]\n[[agents]]\nname " +
		"= \"d\"\nstart_command = \"x\"\ndepends_on = [\"a\"]\n"
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, chain)
		if got, want := w.StopLimit(), 3*7*time.Second+machine.StopSlack; got != want {
			t.Errorf("StopLimit at first: got %s, want %s", got, want)
		}
		defer w.begin()()
		synctest.Wait()
		for _, c := range []struct {
			toml string
			want time.Duration
		}{
			{strings.Replace(chain, "7s", "9s", 1), 3*9*time.Second + machine.StopSlack},
			{strings.Replace(chain, `depends_on = ["b"]`, "", 1),
				2*7*time.Second + machine.StopSlack},
			{strings.Replace(chain, "7s", "0s", 1), machine.StopSlack},
		} {
			w.write(c.toml)
			if _, err := w.Do(t.Context(), city.Reload{}); err != nil {
				t.Fatal(err)
			}
			if got := w.StopLimit(); got != c.want {
				t.Errorf("%s, want %s, with\n%s", got, c.want, c.toml)
			}
		}
		w.write("[[agents]]\nnonsense")
		if _, err := w.Do(t.Context(), city.Reload{}); err == nil ||
			w.StopLimit() != machine.StopSlack {
			t.Errorf("after a rejected configuration: got error %v, limit %s", err, w.StopLimit())
		}
	})
}
