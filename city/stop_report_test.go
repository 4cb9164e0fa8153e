package city

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A report names what delays the stop, and repeats it only after a change.
func TestStopReport(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	grace := at.Add(5 * time.Second)
	s := &Snapshot{Ending: &Ending{Since: at, Hurry: at.Add(25 * time.Second),
		Until: at.Add(35 * time.Second)}, Agents: []Agent{
		{Name: "a", Provider: "exec:./s", State: Stopping, Reason: "the city is stopped", Since: at,
			Until: &grace},
		{Name: "b", State: Exited, Reason: "the city is being stopped", Since: at},
	}}
	var f StopReport
	tell := func(want string) {
		t.Helper()
		if got := strings.Join(f.NewLines(s), "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
	tell("stopping since 12:00:00: remaining agents will be killed at 12:00:25; gcity will give up " +
		"at 12:00:35\n" +
		"waiting for a: it has until 12:00:05 to exit")
	tell("")
	s.Agents[0].Until, s.Agents[0].Reason = &s.Ending.Until, "being killed"
	tell("waiting for a (exec:./s): stopping since 12:00:00, being killed, until 12:00:35")
	s.Agents[0].Until, s.Agents[0].Reason = nil, "it does not exit"
	tell("waiting for a (exec:./s): stopping since 12:00:00, it does not exit")
	s.Agents[0].State = Exited
	s.Ending.Hurried, s.Ending.Until, s.Ending.Waits = true, at.Add(11*time.Second),
		[]string{"the run of x is ending"}
	tell("stopping since 12:00:00: gcity will give up at 12:00:11\nwaiting: the run of x is ending")
	s.Ending.Waits = nil
	for i := range 100 {
		s.Agents = append(s.Agents, Agent{Name: fmt.Sprint("m", i), State: Stopping, Since: at})
	}
	lines := f.NewLines(s)
	if len(lines) != maxNamedAgents || lines[len(lines)-1] != "waiting for 93 more agents" {
		t.Errorf("%q", lines)
	}
	tell("")
	s.Agents = s.Agents[len(s.Agents)-2:]
	tell("waiting for m98: stopping since 12:00:00, \nwaiting for m99: stopping since 12:00:00, ")
	tell("")
	s.Ending = nil
	tell("")
	f = StopReport{}
	s.Agents = []Agent{{Name: "a", State: Starting, Reason: "declared", Since: at},
		{Name: "b", State: Running, Running: true, Since: at}}
	if got := f.Unsettled(s); len(got) != 1 || got[0] != "waiting for a: starting since "+
		"12:00:00, declared" || len(f.Unsettled(s)) != 0 {
		t.Errorf("%q", got)
	}
}
