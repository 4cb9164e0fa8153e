package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gcity/api/client"
	"gcity/city"
)

// patrolling writes heartbeats until it is silenced.
const patrolling = `exec 3<&0
while read -r line; do echo "told <$line>"; done <&3 &
while :; do [ -e silent ] || gc heartbeat; sleep 0.2; done`

// scouting saves the facts about the watched agent, and waits until the test decides. At the first check, that agent
// might not have started.
const scouting = `[ -e crash ] && exit 3
[ "$GC_WATCHDOG_SESSION" = alive ] || exec gc watchdog decide nothing --reason "it is not there yet"
cp "$GC_WATCHDOG_FACTS" facts.json
echo "$GC_WATCHDOG $GC_WATCHDOG_WATCHES $GC_WATCHDOG_BEAT $GC_WATCHDOG_SESSION $GC_WATCHDOG_FRESHNESS $GC_WATCHDOG_ADVICE" >asked.new
mv asked.new asked
exec sleep 1000000`

func (c *town) watched(more string) {
	c.t.Helper()
	c.put("patrol.sh", patrolling)
	c.put("scout.sh", scouting)
	c.config("[workspace]\nname = \"chain\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\n" +
		"[[agents]]\nname = \"patrol\"\nstart_command = \"exec sh patrol.sh\"\nrestart = \"never\"\n" +
		"[[watchdogs]]\nname = \"care\"\nwatches = \"patrol\"\nevery = \"500ms\"\nfresh = \"2s\"\nvery_stale = \"10s\"\nnudge = \"you have mail\"\nwake = \"wake up\"\n" +
		"escalate_to = \"ann\"\nescalate_command = \"env >called\"\nescalate_after = 2\n" + more)
}

func (c *town) care() *city.Watchdog {
	cl, err := client.Dial(c.socket())
	if err != nil {
		return &city.Watchdog{}
	}
	defer cl.Close()
	s, err := cl.Snapshot(c.t.Context())
	if err != nil {
		return &city.Watchdog{}
	}
	w, ok := s.Watchdog("care")
	if !ok {
		c.t.Fatal("the city has no watchdog")
	}
	return w
}

func (c *town) said(kind, text string) bool {
	return strings.Contains(c.gcity(0, "events", "--type", kind, "--limit", "1000"), text)
}

// A silent agent is nudged, then woken, and then a user is called.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.watched("")
	c.run()
	c.until("its heartbeat has arrived", func() bool {
		w := c.care()
		return w.Last != nil && w.Last.Decision == city.RemedyNothing && strings.HasPrefix(w.Last.Reason, "its heartbeat is") && w.Freshness == city.Fresh
	})
	c.put("silent", "")
	c.gcity(0, "mail", "send", "patrol", "go", "on", "--from", "ann")
	c.sees("patrol", "told <you have mail>")
	c.sees("patrol", "told <wake up>")
	c.until("a user is called", func() bool {
		return c.care().Escalated != nil && c.has("called") && strings.Contains(c.gcity(0, "mail", "inbox", "ann"), "patrol is unhealthy")
	})
	env, err := os.ReadFile(filepath.Join(c.dir, "called"))
	if err != nil || !strings.Contains(string(env), "GC_WATCHDOG=care\n") || !strings.Contains(string(env), "GC_WATCHDOG_WATCHES=patrol\n") ||
		!strings.Contains(string(env), "GC_PACK_DIR="+c.dir+"\n") {
		t.Errorf("environment of the command: got %s (%v)", env, err)
	}
	if err := os.Remove(filepath.Join(c.dir, "silent")); err != nil {
		t.Fatal(err)
	}
	c.until("it is healthy again", func() bool {
		return c.care().Escalated == nil && c.said("watchdog.recovered", "patrol is healthy again")
	})

	stopped := c.signal("patrol", syscall.SIGSTOP)
	c.until("the process is reported as stopped", func() bool { return c.said("watchdog.acted", fmt.Sprintf("kill -CONT %d", stopped)) })
	if err := syscall.Kill(stopped, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.until("its heartbeat is fresh again", func() bool { return c.care().Freshness == city.Fresh })

	if err := syscall.Kill(stopped, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.until("the agent runs again", func() bool {
		a := c.byName()["patrol"]
		return a.State == "running" && a.PID != stopped && c.said("watchdog.acted", "start patrol: starting")
	})
}

// A check starts a triage agent. Without its decision, the thresholds apply.
func TestTriage(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.put("silent", "")
	c.watched("triage = \"scout\"\ntriage_ttl = \"1h\"\n[[agents]]\nname = \"scout\"\nstart_command = \"exec sh scout.sh\"\n")
	ctl := c.begin()
	c.ctl = ctl
	asked := func() (beat, said string) {
		data, _ := os.ReadFile(filepath.Join(c.dir, "asked"))
		if words := strings.Fields(string(data)); len(words) > 2 {
			beat = words[2]
		}
		return beat, string(data)
	}
	c.until("the triage agent is started", func() bool { beat, _ := asked(); return beat != "" })
	beat, said := asked()
	if !strings.HasPrefix(said, "care patrol "+beat+" alive ") {
		t.Errorf("arguments of the triage agent: got %q", said)
	}
	if facts, err := os.ReadFile(filepath.Join(c.dir, "facts.json")); err != nil || !strings.Contains(string(facts), `"beat": "`+beat+`"`) {
		t.Errorf("facts for the triage agent: got %s, %v", facts, err)
	}

	if err := ctl.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctl.Wait()
	c.run()
	c.until("the triage agent is started again", func() bool { next, _ := asked(); return next != beat })
	alone := func() bool {
		n := 0
		for _, pid := range c.marked() {
			if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && strings.Contains(string(env), "GC_WATCHDOG=care\x00") {
				n++
			}
		}
		return n <= 1
	}
	c.until("at most one triage agent is running", alone)

	cl, err := client.Dial(c.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	if _, err := cl.Do(t.Context(), city.Decide{Watchdog: "care", Decision: city.RemedyWake, Reason: "late", Beat: beat}); err == nil || !strings.Contains(err.Error(), "check "+beat+" of watchdog care is over") {
		t.Errorf("a decision about an earlier beat: got %v", err)
	}
	beat, _ = asked()
	if _, err := cl.Do(t.Context(), city.Decide{Watchdog: "care", Decision: city.RemedyWake, Reason: "it hangs", Beat: beat}); err != nil {
		t.Fatal(err)
	}
	c.sees("patrol", "told <wake up>")
	c.until("the decision is carried out", func() bool {
		return c.said("watchdog.triaged", "wake: it hangs") && c.said("watchdog.acted", "wake patrol: typed; it hangs")
	})
	c.until("the triage agent is stopped, and the next check starts a new one", func() bool { next, _ := asked(); return next != beat })

	c.put("crash", "")
	c.gcity(0, "agent", "kill", "scout")
	c.until("the triage agent crashes, and the thresholds decide", func() bool {
		w := c.care()
		return strings.Contains(w.Degraded, "ended without a decision: exit 3") && w.Last != nil && w.Last.By == "thresholds"
	})
	if scout := c.byName()["scout"]; scout.State == "quarantined" || scout.Crashes > 0 {
		t.Errorf("exits of the triage agent count as crashes: %+v", scout)
	}
}
