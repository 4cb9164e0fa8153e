package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gcity/city"
)

// A nudge waits while a user's draft is on the input line, and is typed once.
func TestTextWaitsForADraft(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.lines(map[string]string{"echo": `echo up; while read -r line; do echo "got <$line>"; done`})
	c.run()
	c.until("it runs", func() bool { return c.count("running") == 1 })
	c.sees("echo", "up")

	v := c.attach("echo")
	v.until("up")
	v.types("half a li")
	v.until("half a li")
	var r city.Receipt
	// On a busy machine, the command may return before the controller knows that the text must wait.
	if err := json.Unmarshal([]byte(c.gcity(0, "agent", "nudge", "echo", "never", "--json")), &r); err != nil || r.Send == nil || r.Send.Stage != city.Queued && r.Send.Stage != city.Typing {
		t.Fatalf("%v: %+v", err, r)
	}
	c.gcity(0, "agent", "unsend", "echo")
	if out := c.gcity(0, "agent", "nudge", "echo", "after it"); strings.Contains(out, "accepted the nudge") {
		t.Errorf("nudge while there is a draft: got %s", out)
	}
	c.until("the reason for the wait is shown", func() bool {
		out := c.gcity(0, "agent", "show", "echo")
		return strings.Contains(out, "queued since") && strings.Contains(out, "after it (8 bytes); a user's draft is on the input line")
	})
	v.types("ne\r")
	c.sees("echo", "got <after it>")
	c.gcity(0, "agent", "nudge", "echo", "the last", "--wait")
	c.sees("echo", "got <the last>")
	screen := c.gcity(0, "agent", "peek", "echo")
	var got []string // the terminal may echo text before the agent has answered the previous line
	for _, after := range strings.Split(screen, "got <")[1:] {
		line, _, _ := strings.Cut(after, ">")
		got = append(got, line)
	}
	if !slices.Equal(got, []string{"half a line", "after it", "the last"}) || strings.Contains(screen, "never") {
		t.Errorf("input of the agent: got\n%s", screen)
	}

	v.types("left, ")
	v.until("left, ")
	v.types("\x11") // ctrl+q detaches. The draft stays.
	v.ends(0)
	c.gcity(0, "agent", "nudge", "echo", "at once", "--now")
	c.sees("echo", "got <left, at once>")
	if out := c.gcity(0, "events", "--type", "agent.nudge_dropped"); !strings.Contains(out, "canceled by operator") {
		t.Errorf("event log: got\n%s", out)
	}
}
