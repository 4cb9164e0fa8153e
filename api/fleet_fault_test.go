package api_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

type faultyCity struct {
	city.Control
	look, past, live, screen bool
}

func (f faultyCity) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	if f.look {
		panic("a fault in Snapshot")
	}
	return f.Control.Snapshot(ctx)
}

func (f faultyCity) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	if f.past {
		panic("a fault in History")
	}
	return f.Control.History(ctx, q)
}

func (f faultyCity) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	if f.live {
		panic("a fault in Events")
	}
	return f.Control.Events(ctx, after)
}

func (f faultyCity) Output(ctx context.Context, agent string, lines int) (string, error) {
	if f.screen {
		panic("a fault in Output")
	}
	return f.Control.Output(ctx, agent, lines)
}

// A panic in one city fails only the request to that city. Responses about all cities report it and cover the other
// cities.
func TestFaultyCity(t *testing.T) {
	well := named("well")
	happen(well, 1, "x.y")
	for _, c := range []struct {
		path string
		bad  faultyCity
		says string
	}{
		{"/v0/agents", faultyCity{look: true}, `"unreachable":[{"city":"bad","error":"bad failed to respond`},
		{"/health", faultyCity{look: true}, "bad failed to respond"},
		{"/metrics", faultyCity{look: true}, `gcity_city_up{city="bad"} 0`},
		{"/v0/events", faultyCity{past: true}, `"unreachable":[{"city":"bad"`},
		{"/v0/agents?peek=1", faultyCity{screen: true}, `"name":"worker"`},
	} {
		bad := named("bad")
		c.bad.Control = bad
		m := citytest.NewDirectory(well)
		m.Add("bad", "/bad", c.bad)
		path, _ := serveFleet(t, m, api.Options{})
		status, _, body := get(t, curl(t, path), c.path)
		if status != 200 || !strings.Contains(body, c.says) || !strings.Contains(body, "well") && c.path != "/health" {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
	for _, f := range []faultyCity{{past: true}, {live: true}} {
		f.Control = named("bad")
		m := citytest.NewDirectory(well)
		m.Add("bad", "/bad", f)
		path, _ := serveFleet(t, m, api.Options{})
		st := openSSE(t, curl(t, path), "/v0/events/stream?after=0", "")
		if got, _ := st.events(2); !sameWords(got, "well:1 bad:0 gap") {
			t.Error(got)
		}
		st.end()
	}
}
