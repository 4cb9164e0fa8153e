package citytest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gcity/city"
)

// Describe sets the result of Inspect for an agent, except for its crashes, which come from the log.
func (f *Fake) Describe(about city.Inspection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inspects == nil {
		f.inspects = map[string]city.Inspection{}
	}
	f.inspects[about.Agent] = about
}

// Inspect implements city.Control.
func (f *Fake) Inspect(_ context.Context, agent string) (*city.Inspection, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.snap.Agent(agent)
	if !ok {
		return nil, &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("agent %q not found", agent)}
	}
	about, known := f.inspects[agent]
	if !known {
		about.Agent = agent
		about.Spec = &city.Spec{Source: a.Source, Command: a.Command, Dir: a.Dir,
			Provider: a.Provider, Cols: 80, Rows: 24,
			IdleTimeout: a.IdleTimeout, DependsOn: a.DependsOn,
			Restart: city.RestartPolicy{Mode: "always"}}
		about.Env = []city.Variable{{Name: "GC_AGENT", Value: agent, From: city.FromCity}}
	}
	about.At = time.Now()
	if a.Session != nil {
		about.Life = a.Session.ID
	}
	if about.Drift == nil {
		about.Drift = []city.Difference{}
	}
	about.Crashes = []city.Crash{}
	for i := range slices.Backward(f.log) {
		e := &f.log[i]
		if c, ok := city.CrashOf(e); ok && e.Subject == agent &&
			len(about.Crashes) < city.MaxCrashes {
			about.Crashes = append(about.Crashes, c)
		}
	}
	return &about, nil
}
