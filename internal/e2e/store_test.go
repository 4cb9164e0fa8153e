package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"
)

// A locked store does not affect the agents. Automations run again after the lock is released.
func TestStoreLockedByOtherProcess(t *testing.T) {
	t.Parallel()
	c := newTown(t, 0, "")
	c.config("[workspace]\nname = \"bench\"\n[daemon]\npatrol_interval = \"200ms\"\nshutdown_timeout = \"100ms\"\nmax_restarts = 0\n" +
		"[[agents]]\nname = \"a\"\nstart_command = 'echo a $$ >births; exec sleep 1000000'\n")
	c.automation("tick", "exec = 'echo >>ticks'\ngate = \"cooldown\"\ninterval = \"1s\"\n")
	ctl := c.run()
	agent := c.born(1)
	c.until("the automation has run", func() bool { return c.has("ticks") })
	unlock := lock(t, filepath.Join(c.dir, ".beads", "beads.db"))
	var posts sync.WaitGroup
	for range 3 {
		posts.Go(func() {
			if code, says := c.post("beads", `{"title":"late"}`); code != http.StatusServiceUnavailable || !strings.Contains(says, "locked by another process") {
				t.Errorf("create in a locked store: got %d %s", code, says)
			}
		})
	}
	posts.Wait()
	const wrong = "the work of the city cannot be written (failing since "
	c.until("status shows the reason", func() bool { return strings.Contains(c.gcity(0, "status"), wrong) })
	c.until("the automation waits for it", func() bool {
		list := c.gcity(0, "automation", "show", "tick")
		return strings.Contains(list, "cannot start: "+wrong)
	})
	c.until("a new bead is rejected immediately", func() bool { // a request that probes the store takes longer
		code, says := c.post("beads", `{"title":"late"}`)
		if code != http.StatusServiceUnavailable {
			t.Errorf("create while the store is paused: got %d %s", code, says)
		}
		return strings.Contains(says, "retries at ")
	})
	if out := c.gcity(0, "bead", "list", "--type", "run"); !strings.Contains(out, "run of tick") {
		t.Errorf("want the readable work in\n%s", out)
	}
	if err := syscall.Kill(agent.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if next := c.born(1); next.pid == agent.pid {
		t.Error("an agent was restarted")
	}
	if out := c.gcity(0, "status"); !strings.Contains(out, wrong) {
		t.Errorf("store.healed was written while the store was locked:\n%s", out)
	}
	unlock()
	c.until("status shows no problem", func() bool { return !strings.Contains(c.gcity(0, "status"), wrong) })
	before := c.gcity(0, "bead", "list", "--type", "run", "--limit", "0")
	c.until("the automation runs again", func() bool { return c.gcity(0, "bead", "list", "--type", "run", "--limit", "0") != before })
	if out := c.gcity(0, "events", "--type", "store.*"); strings.Count(out, "store.failing") != 1 || strings.Count(out, "store.healed") != 1 {
		t.Errorf("the events are\n%s", out)
	}
	c.gcity(0, "stop")
	if err := ctl.Wait(); err != nil {
		t.Error(err)
	}
	c.nothingLeft()
}

// lock locks a database, like a process that hangs during a write.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (c *town) post(what, body string) (code int, says string) {
	socket := filepath.Join(c.dir, ".gc", "controller.sock")
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}}}
	answer, err := client.Post("http://city/v0/"+what, "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return 0, err.Error()
	}
	return answer.StatusCode, string(text)
}
