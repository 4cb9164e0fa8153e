package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/controller"
	"gcity/controller/memory"
	"gcity/events"
	"gcity/session/fake"
)

var planned = [...]string{"runs", "quarantined", "backoff", "failed", "broken", "exited", "suspended", "waits", "waits2", "after", "fresh"}

var edits = [...]string{"", "command", "env", "policy", "suspend", "resume", "remove", "mend", "free"}

func declaration(name, edit string) string {
	lines := map[string]string{"start_command": `"exec sleep 1"`, "restart": `"always"`}
	switch name {
	case "broken":
		lines["session_setup_script"] = `"none.sh"`
	case "exited":
		lines["restart"] = `"never"`
	case "suspended":
		lines["suspended"] = "true"
	case "waits":
		lines["depends_on"] = `["broken"]`
	case "waits2":
		lines["depends_on"] = `["waits"]`
	case "after":
		lines["depends_on"] = `["exited", "fresh"]`
	}
	needed := name == "broken" || name == "waits" || name == "exited" || name == "fresh"
	if edit == "remove" && !needed {
		return ""
	}
	switch edit {
	case "command":
		lines["start_command"] = `"exec sleep 2"`
	case "env":
		lines["env"] = `{ COLOUR = "red" }`
	case "policy":
		lines["restart"] = `"on-failure"`
	case "suspend":
		lines["suspended"] = "true"
	case "resume":
		delete(lines, "suspended")
	case "mend":
		delete(lines, "session_setup_script")
	case "free":
		delete(lines, "depends_on")
	}
	text := fmt.Sprintf("[[agents]]\nname = %q\n", name)
	for key, value := range lines {
		text += key + " = " + value + "\n"
	}
	return text
}

// A plan matches what the controller then does, for every state of an agent and every edit.
func TestPlanIsWhatThenHappens(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a city dozens of times")
	}
	for _, edit := range edits {
		t.Run("all "+edit, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { comparePlan(t, func(string) string { return edit }, false) })
			synctest.Test(t, func(t *testing.T) { comparePlan(t, func(string) string { return edit }, true) })
		})
	}
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			any := func(string) string { return edits[rnd.IntN(len(edits))] }
			synctest.Test(t, func(t *testing.T) { comparePlan(t, any, false) })
			synctest.Test(t, func(t *testing.T) { comparePlan(t, any, true) })
		})
	}
}

type plannedCity struct {
	*controller.Controller
	t        *testing.T
	dir      string
	sessions *fake.Provider
	host     agent.Host
	log      *events.Log
}

func (b *plannedCity) run(c *config.City) (end func(city.Shutdown)) {
	b.t.Helper()
	var err error
	b.Controller, err = controller.New(controller.Options{Dir: b.dir, Mode: "headless", Version: "test", Provider: b.sessions, Log: b.log,
		ConfigChanged: make(chan struct{}), Host: b.host, Pulse: time.Hour}, c)
	if err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- b.Run(context.Background()) }()
	synctest.Wait()
	return func(how city.Shutdown) {
		_, failed := b.Do(b.t.Context(), how)
		if err := errors.Join(failed, <-ended); err != nil {
			b.t.Error(err)
		}
	}
}

func (b *plannedCity) write(edit func(name string) string) *config.City {
	b.t.Helper()
	text := "[workspace]\nname = \"t\"\n[daemon]\nmax_restarts = 2\nrestart_backoff = \"20s\"\n"
	for _, name := range planned {
		text += declaration(name, edit(name))
	}
	if err := os.WriteFile(filepath.Join(b.dir, config.FileName), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	c, err := config.Load(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

func settled(t *testing.T) (b *plannedCity, end func(city.Shutdown)) {
	b = &plannedCity{t: t, dir: t.TempDir(), sessions: fake.New(), host: agent.Host{Environ: []string{"PATH=/bin"}, BinDir: "/gc/bin"}}
	first := b.write(func(name string) string {
		if name == "fresh" {
			return "suspend"
		}
		return ""
	})
	log, err := events.Open(filepath.Join(b.dir, ".gc"), events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	b.log = log
	end = b.run(first)
	b.sessions.Crash("exited", 0, "")
	for range 3 {
		b.sessions.Crash("quarantined", 1, "")
		time.Sleep(30 * time.Second)
		synctest.Wait()
	}
	for range 2 {
		b.sessions.Crash("backoff", 1, "")
		synctest.Wait()
	}
	b.sessions.Fail("failed", errors.New("no terminal"))
	b.sessions.Crash("failed", 1, "")
	synctest.Wait()
	b.sessions.Fail("failed", nil)
	return b, end
}

func comparePlan(t *testing.T, edit func(name string) string, anew bool) {
	b, end := settled(t)
	defer func() { end(city.Shutdown{}) }()
	ctx := t.Context()
	var err error
	v := planInput{now: time.Now(), clock: func(t time.Time) string { return t.Format(time.TimeOnly) }}
	if v.running, err = b.Snapshot(ctx); err != nil {
		t.Fatal(err)
	}
	if v.sessions, err = b.sessions.List(ctx); err != nil {
		t.Fatal(err)
	}
	before, began := states(t, v.running), map[string]int{}
	for _, name := range planned {
		began[name] = b.sessions.Started(name)
	}
	next := b.write(edit)
	v.wants, v.pools = agent.Plan(next, b.host), agent.Pools(next, b.host)
	v.inForce = v.running.Config.Revision == folder.Short(next.Revision)
	if anew {
		end(city.Shutdown{Leave: true})
		v.running = nil
		if v.saved, err = memory.ReadHistories(b.dir); err != nil {
			t.Fatal(err)
		}
	}
	plan := changes(v)
	if anew {
		end = b.run(next)
	} else if _, err = b.Do(ctx, city.Reload{}); err != nil {
		_, err = b.Do(ctx, city.Reload{Confirm: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	now, err := b.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range plan {
		g, shown := now.Agent(c.Agent)
		did := observedChange(before[c.Agent], shown && g.Running, b.sessions.Started(c.Agent)-began[c.Agent])
		as := c.Change
		if as == "wait" || as == "fail" || as == "remove" {
			as = "none"
		}
		if c.Change == "remove" && shown {
			t.Errorf("%s: planned %q (%s), but it is %s", c.Agent, c.Change, c.Reason, g.State)
		}
		if did != as {
			t.Errorf("%s, which was %s: planned %q (%s), but got %q",
				c.Agent, before[c.Agent], c.Change, c.Reason, did)
		}
		if shown && (c.Change == "wait" && g.State == city.Running || c.Change == "fail" && g.State != city.Failed) {
			t.Errorf("%s: planned %q (%s), but it is %s", c.Agent, c.Change, c.Reason, g.State)
		}
	}
}

func observedChange(before city.State, lives bool, starts int) string {
	switch {
	case before == city.Running && lives && starts == 1:
		return "restart"
	case before == city.Running && !lives:
		return "stop"
	case before != city.Running && lives && starts == 1:
		return "start"
	case starts == 0:
		return "none"
	}
	return fmt.Sprintf("%d starts", starts)
}

func states(t *testing.T, s *city.Snapshot) map[string]city.State {
	t.Helper()
	out := map[string]city.State{}
	for _, g := range s.Agents {
		out[g.Name] = g.State
	}
	for name, want := range map[string]city.State{
		"runs": city.Running, "quarantined": city.Quarantined, "backoff": city.Backoff, "failed": city.Failed, "broken": city.Failed,
		"exited": city.Exited, "suspended": city.Suspended, "waits": city.Waiting, "waits2": city.Waiting, "after": city.Waiting, "fresh": city.Suspended,
	} {
		if out[name] != want {
			t.Fatalf("%s: got %s, want %s: %+v", name, out[name], want, out)
		}
	}
	return out
}
