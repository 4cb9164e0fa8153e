package controller_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/events"
	"gcity/internal/eventually"
)

// Clients over TCP cannot write events of gcity's own types and cannot claim another actor. Events that they cause name
// the client.
func TestEventsOfPeers(t *testing.T) {
	c := openWith(t, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- api.Serve(ctx, l, c, api.Options{Guard: &api.Guard{}}) }()
	t.Cleanup(func() { cancel(); <-ended })
	post := func(path, body string) int {
		r, err := http.NewRequest("POST", "http://"+l.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-GC-Request", "1")
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for body, want := range map[string]int{
		`{"type":"agent.quarantined","subject":"worker"}`:                  400,
		`{"type":"bead.created","subject":"tw-1"}`:                         400,
		`{"type":"deploy.done","actor":"controller"}`:                      403,
		`{"type":"deploy.done","actor":"operator"}`:                        403,
		`{"type":"deploy.done","emitted_by":"controller","peer":"nobody"}`: 200,
	} {
		if got := post("/v0/events", body); got != want {
			t.Errorf("%s: got %d, want %d", body, got, want)
		}
	}
	if got := post("/v0/automation/chore/run", `{"by":"worker"}`); got != 403 {
		t.Errorf("run with a different author: got status %d, want 403", got)
	}
	command := func(verb string) {
		if got := post("/v0/agent/worker/"+verb, ""); got != 200 {
			t.Errorf("%s: got status %d, want 200", verb, got)
		}
	}
	command("restart")
	eventually.True(t, "the restart's start names the peer", func() bool {
		started, err := c.History(t.Context(), events.Query{Types: []string{events.AgentStarted},
			Subject: "worker"})
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(started, func(e events.Event) bool { return e.Peer != "" })
	})
	command("suspend")
	command("resume")
	if got := post("/v0/beads", `{"title":"paint"}`); got != 200 {
		t.Errorf("a bead: %d", got)
	}
	for _, want := range []struct{ kind, actor, by string }{
		{"deploy.done", "api", "api (tcp 127.0.0.1:"}, {events.AgentSuspended, "api", ""},
		{events.AgentResumed, "api", ""},
		{events.BeadCreated, "api", ""},
	} {
		all, err := c.History(t.Context(), events.Query{Types: []string{want.kind}, Limit: 1})
		if err != nil || len(all) != 1 || !strings.HasPrefix(all[0].Peer, "tcp 127.0.0.1:") ||
			!strings.HasPrefix(all[0].EmittedBy, want.by) ||
			all[0].Actor != want.actor || want.by == "" && all[0].EmittedBy != "" {
			t.Errorf("%s: %+v %v", want.kind, all, err)
		}
	}
}

// A request that a session helper forwards is attributed to the agent of the session that the request names. If any
// other process names a session, the request is attributed to the process.
func TestEventsOfForwardedAgents(t *testing.T) {
	c := openWith(t, nil)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var isHelper atomic.Bool
	options := api.Options{Forwards: func(pid int) bool { return isHelper.Load() && pid == os.Getpid() }}
	go func() { ended <- api.Serve(ctx, l, c, options) }()
	t.Cleanup(func() { cancel(); <-ended })
	session := ""
	eventually.True(t, "the worker runs", func() bool {
		snap, err := c.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range snap.Agents {
			if a := &snap.Agents[i]; a.Name == "worker" && a.Session != nil {
				session = a.Session.ID
			}
		}
		return session != ""
	})
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
	defer client.CloseIdleConnections()
	for _, sent := range []struct {
		isHelper    bool
		session, by string
	}{
		{true, session, "worker (session " + session + ")"}, {true, "unknown", "(session unknown)"},
		{false, session, fmt.Sprintf("operator (pid %d)", os.Getpid())},
	} {
		isHelper.Store(sent.isHelper)
		body := strings.NewReader(`{"type":"deploy.done"}`)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://city/v0/events", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(city.SessionHeader, sent.session)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-GC-Request", "1")
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		all, err := c.History(t.Context(), events.Query{Types: []string{"deploy.done"}, Limit: 1})
		if err != nil || len(all) != 1 || all[0].EmittedBy != sent.by {
			t.Errorf("%s: got %s, %+v, %v", sent.by, resp.Status, all, err)
		}
	}
}
