package citytest

import (
	"context"
	"time"

	"gcity/city"
)

// Inspect implements city.Control.
func (f *Fake) Inspect(_ context.Context, agent string) (*city.Inspection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.snap.Agent(agent)
	if !ok {
		return nil, newError(city.NotFound, "agent %q not found", agent)
	}
	about := city.Inspection{Agent: agent, At: time.Now(), Drift: []city.Difference{},
		Crashes: []city.Crash{}, Spec: &city.Spec{Source: a.Source, Command: a.Command, Dir: a.Dir}}
	if a.Session != nil {
		about.Life = a.Session.ID
	}
	return &about, nil
}
