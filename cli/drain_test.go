package cli

import (
	"context"
	"errors"
	"testing"

	"gcity/api/client"
	"gcity/city"
	"gcity/cli/env"
)

var _ env.OneAgent = (*client.Client)(nil)

type counting struct {
	*fakeCity
	refuse       error
	ones, wholes int
}

func (c *counting) Agent(_ context.Context, name string) (*city.Agent, error) {
	c.ones++
	if c.refuse != nil {
		return nil, c.refuse
	}
	a, ok := c.snapshot.Agent(name)
	if !ok {
		return nil, &city.Error{Code: city.NotFound, Message: "no agent " + name}
	}
	return a, nil
}

func (c *counting) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	c.wholes++
	return c.fakeCity.Snapshot(ctx)
}

// A lookup by full name requests only that agent, because agents look up their own names often.
func TestFindAgent(t *testing.T) {
	broken := &city.Error{Code: city.Unavailable, Message: "broken"}
	for _, c := range []struct {
		name, want string
		refuse     error
		wholes     int
		code       city.Code
	}{
		{"demo/worker-10", "demo/worker-10", nil, 0, ""},
		{"web", "web", nil, 0, ""},
		{"worker-10", "demo/worker-10", nil, 1, ""},
		{"nobody", "", nil, 1, city.NotFound},
		{"web", "", broken, 0, city.Unavailable},
	} {
		ctl := &counting{fakeCity: groupedCity(), refuse: c.refuse}
		g, err := env.FindAgent(t.Context(), ctl, c.name)
		problem, _ := errors.AsType[*city.Error](err)
		switch {
		case ctl.ones != 1 || ctl.wholes != c.wholes:
			t.Errorf("%s: got requests for %d agents and %d snapshots",
				c.name, ctl.ones, ctl.wholes)
		case c.want != "" && (err != nil || g.Name != c.want):
			t.Errorf("%s: %+v, %v", c.name, g, err)
		case c.want == "" && (problem == nil || problem.Code != c.code):
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if g, err := env.FindAgent(t.Context(), groupedCity(), "worker-10"); err != nil || g.Name != "demo/worker-10" {
		t.Errorf("with a city that returns only snapshots: got %+v, %v", g, err)
	}
}
