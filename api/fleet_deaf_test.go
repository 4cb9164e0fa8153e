package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

// unresponsiveCity is a city that never returns its log or its screens.
type unresponsiveCity struct {
	city.Control
	free chan struct{}
}

func (m *unresponsiveCity) History(context.Context, events.Query) ([]events.Event, error) {
	<-m.free
	return nil, context.Canceled
}

func (m *unresponsiveCity) Output(context.Context, string, int) (string, error) {
	<-m.free
	return "", context.Canceled
}

// A city that hangs blocks neither other requests nor the supervisor's shutdown.
func TestCityDoesNotRespond(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	for p, want := range map[string]string{
		"/v0/agents?peek=1": `"city":"deaf"`, "/v0/events": `"unreachable":[{"city":"deaf","error":"deaf did not respond in time`,
	} {
		// each request has its own server, because a server rejects a second request to a city that hangs
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			well := named("well")
			happen(well, 1, "x.y")
			m := citytest.NewDirectory(well)
			h := &unresponsiveCity{named("deaf"), make(chan struct{})}
			m.Add("deaf", "/deaf", h)
			defer close(h.free)
			path, stop := serveFleet(t, m, api.Options{})
			hc := curl(t, path)
			st := openSSE(t, hc, "/v0/events/stream?after=0", "")
			if got, _ := st.events(1); got != "well:1" {
				t.Error(got)
			}
			if status, _, body := get(t, hc, p); status != http.StatusOK || !strings.Contains(body, want) || !strings.Contains(body, `"city":"well"`) {
				t.Errorf("%d %s", status, body)
			}
			stop()
		})
	}
}
