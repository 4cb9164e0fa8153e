package main

import (
	"context"
	"fmt"
	"iter"
	"time"

	"gcity/city"
)

type cityList struct{ tape *player }

// Cities implements city.Directory.
func (c cityList) Cities(context.Context) ([]city.Info, error) {
	now := c.tape.now()
	again := now.Add(38 * time.Second)
	all := []city.Info{
		{Name: "archive", Status: city.CitySuspended, Since: now.Add(-50 * time.Hour)},
		{Name: "bakery", Status: city.CityCrashed, Since: now.Add(-22 * time.Second), Until: &again,
			Crashes: 2,
			Error: "its loop panicked: runtime error: index out of range [3] with length 3; " +
				"its agents keep running"},
		{Name: "demo", Status: city.CityRunning, Since: now.Add(-3 * time.Hour)},
		{Name: "harbour", Status: city.CityRunning, Since: now.Add(-9 * time.Hour)},
		{Name: "observatory", Status: city.CityRunning, Since: now.Add(-31 * time.Hour)},
		{Name: "quarry", Status: city.CityRefused, Since: now.Add(-4 * time.Minute),
			Error: "city.toml:12:3: there is no key \"comand\"; did you mean \"command\"?"},
		{Name: "tower", Status: city.CityStopped, Since: now.Add(-2 * time.Hour)},
		{Name: "windmill", Status: city.CityRunning, Since: now.Add(-6 * time.Hour)},
	}
	for i := range all {
		in := &all[i]
		in.Path, in.Running = "/srv/"+in.Name, in.Status == city.CityRunning ||
			in.Status == city.CitySuspended
	}
	return all, nil
}

// Watch implements city.Directory. It yields the list whenever the tape's time changes.
func (c cityList) Watch(ctx context.Context) iter.Seq2[[]city.Info, error] {
	return func(yield func([]city.Info, error) bool) {
		for all, err := c.Cities(ctx); yield(all, err); all, err = c.Cities(ctx) {
			_, moved := c.tape.look()
			select {
			case <-ctx.Done():
				return
			case <-moved:
			}
		}
	}
}

// City implements city.Directory.
func (c cityList) City(name string) (city.Control, error) {
	if name == "demo" {
		return c.tape, nil
	}
	return fakeCity{c.tape, name}, nil
}

// fakeCity is an invented city. It implements only snapshots.
type fakeCity struct {
	*player
	name string
}

func (s fakeCity) made() *city.Snapshot {
	now := s.now()
	snap := &city.Snapshot{Name: s.name, Path: "/srv/" + s.name, Host: "devbox", Version: "0.1",
		Rev: 1, At: now, Started: now.Add(-6 * time.Hour),
		Patrol: city.Patrol{Interval: 30 * time.Second, Last: now}, Suspended: s.name == "archive"}
	agents := map[string]int{"archive": 5, "harbour": 24, "observatory": 9, "windmill": 6}[s.name]
	for i := range agents {
		a := city.Agent{Name: fmt.Sprint("worker-", i+1), State: city.Running, Running: true,
			Since: now.Add(-6 * time.Hour)}
		if snap.Suspended {
			a.State, a.Running = city.Suspended, false
		}
		snap.Agents = append(snap.Agents, a)
	}
	switch s.name {
	case "harbour":
		snap.Work, snap.Mail = city.Work{Open: 41, InProgress: 17}, city.MailCount{Unread: 3}
	case "observatory":
		until := now.Add(41 * time.Minute)
		snap.Agents[2] = city.Agent{Name: "lens-grinder", State: city.Quarantined,
			Reason: "crashed 6× in 4m, last: exit 2", Since: now.Add(-19 * time.Minute),
			Until: &until, RecentCrashes: city.RecentCrashes{Crashes: 6,
				Quarantine: &city.Quarantine{LastCrash: "exit 2", Span: 4 * time.Minute}}}
		snap.Work = city.Work{Open: 4, InProgress: 6}
	case "windmill":
		snap.Config.Held = &city.Held{Removes: []string{"worker-1", "worker-2", "worker-3",
			"worker-4"}, Running: 6}
		snap.Work = city.Work{Open: 2, InProgress: 1}
	}
	return snap
}

// Snapshot implements city.Control.
func (s fakeCity) Snapshot(context.Context) (*city.Snapshot, error) { return s.made(), nil }

// Snapshots implements city.Control.
func (s fakeCity) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		for yield(s.made(), nil) {
			_, moved := s.look()
			select {
			case <-ctx.Done():
				return
			case <-moved:
			}
		}
	}
}
