package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var recordKills = flag.Int("record-kills", 20, "number of times that TestEverythingIsRecordedOnce kills the controller")

// Even if the controller is killed, the log has one end of each session, and one start and one end of each run.
func TestEverythingIsRecordedOnce(t *testing.T) {
	t.Parallel()
	n := *recordKills
	seed := newSeed()
	t.Logf("go test ./internal/e2e -run %s -record-kills %d -seed %d", t.Name(), n, seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	c := newTown(t, 0, "")
	c.config(recordedCity)
	c.automation("beat", "gate = \"cooldown\"\ninterval = \"1s\"\nexec = \"true\"\n")
	c.automation("hears", "gate = \"event\"\non = \"agent.*\"\nexec = \"sleep 0.05; rm odd 2>/dev/null || { touch odd; exit 1; }\"\n")
	for range n {
		ctl := c.begin()
		time.Sleep(time.Duration(100+rnd.IntN(900)) * time.Millisecond) // the moment of the kill is random
		if err := ctl.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		ctl.Wait()
	}
	before := len(c.recorded())
	c.run()
	c.until("the last controller has started a run", func() bool { return c.firesAfter(before) })
	c.gcity(0, "stop")
	c.nothingLeft()
	log := c.recorded()
	c.livesAreRecorded(log)
	c.runsAreRecorded(log)
}

const recordedCity = `[workspace]
name = "record"
[daemon]
max_restarts = 0
restart_backoff = "50ms"
patrol_interval = "200ms"
shutdown_timeout = "100ms"
[[agents]]
name = "loop"
start_command = "echo loop $GC_SESSION_ID >>lives; echo last words; sleep 0.1; exit 3"
[[agents]]
name = "done"
start_command = "echo done $GC_SESSION_ID >>lives; sleep 0.15"
[[agents]]
name = "asks"
start_command = "echo asks $GC_SESSION_ID >>lives; sleep 0.3; gc agent request-restart; sleep 1000"
[[agents]]
name = "fam"
strategy = "rest_for_one"
start_command = "echo fam $GC_SESSION_ID >>lives; sleep 0.4; exit 1"
[[agents]]
name = "kid"
depends_on = ["fam"]
start_command = "echo kid $GC_SESSION_ID >>lives; exec sleep 1000"
`

type logLine struct {
	Seq     int
	Type    string
	Subject string
	Message string
	Payload struct{ Session, Run string }
}

func (c *town) recorded() (all []logLine) {
	c.t.Helper()
	files, err := filepath.Glob(filepath.Join(c.dir, ".gc", "events*.jsonl"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			c.t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var e logLine
			if json.Unmarshal(line, &e) == nil {
				all = append(all, e)
			}
		}
	}
	return all
}

func (c *town) firesAfter(lines int) bool {
	began := false
	for _, e := range c.recorded()[lines:] {
		began = began || e.Type == "controller.started"
		if began && e.Type == "automation.fired" && e.Subject == "beat" {
			return true
		}
	}
	return false
}

func (c *town) livesAreRecorded(log []logLine) {
	c.t.Helper()
	ends := map[string][]logLine{}
	for _, e := range log {
		switch e.Type {
		case "agent.crashed", "agent.stopped", "agent.suspended":
			ends[e.Payload.Session] = append(ends[e.Payload.Session], e)
		}
	}
	data, err := os.ReadFile(filepath.Join(c.dir, "lives"))
	if err != nil {
		c.t.Fatal(err)
	}
	lives := 0
	for line := range strings.Lines(string(data)) {
		agent, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		lives++
		if n := len(ends[id]); n == 0 {
			c.t.Errorf("the log has no exit of session %s of %s; the last lines are %v",
				id, agent, newest(log, agent))
		}
	}
	for id, all := range ends {
		if len(all) > 1 {
			c.t.Errorf("the log has %d exits of session %s: %+v", len(all), id, all)
		}
	}
	c.t.Logf("got %d sessions, %d exits", lives, len(ends))
}

func newest(log []logLine, agent string) []logLine {
	log = slices.DeleteFunc(slices.Clone(log), func(e logLine) bool { return e.Subject != agent })
	return log[max(0, len(log)-12):]
}

func (c *town) runsAreRecorded(log []logLine) {
	c.t.Helper()
	fired, ended := map[string]int{}, map[string]int{}
	for _, e := range log {
		switch e.Type {
		case "automation.fired":
			fired[e.Payload.Run]++
		case "automation.completed", "automation.failed":
			ended[e.Payload.Run]++
		}
	}
	runs := 0
	for _, name := range []string{"beat", "hears"} {
		var list struct {
			Items []struct{ ID, Outcome string }
		}
		if err := json.Unmarshal([]byte(c.gcity(0, "automation", "history", name, "--json", "--limit", "0")), &list); err != nil {
			c.t.Fatal(err)
		}
		for _, r := range list.Items {
			if runs++; r.Outcome != "void" && (fired[r.ID] != 1 || ended[r.ID] != 1) {
				c.t.Errorf("the log has %d start events and %d end events of run %s of %s (%s)",
					fired[r.ID], ended[r.ID], r.ID, name, r.Outcome)
			}
		}
	}
	if runs == 0 {
		c.t.Error("no automation has run")
	}
	c.t.Logf("%d runs", runs)
}
