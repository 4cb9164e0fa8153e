package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gcity/city"
	"gcity/cli/doctor"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/events"
	"gcity/session"
)

const (
	snapshotTimeout = 2 * time.Second
	sessionsTimeout = 5 * time.Second
	shownEvents     = 10
)

// statusOfFiles prints the state of a city according to its files and sessions, unless the output is JSON. It always
// returns an error, because the controller does not respond.
func statusOfFiles(ctx context.Context, e *env.Env, dir string) error {
	silent := fmt.Errorf("the controller for %s did not respond within %s; %s", dir,
		snapshotTimeout, doctor.SilentRemedy(dir))
	if e.JSON {
		return silent
	}
	ctx, cancel := context.WithTimeout(ctx, sessionsTimeout)
	defer cancel()
	e.Sayf("%s\n", e.Paint(output.Yellow,
		"! the controller does not respond; the state below comes from the city's files "+
			"and sessions"))
	if err := writeSessions(ctx, e, dir); err != nil {
		e.Sayf("cannot list the sessions: %s", output.SafeLine(err.Error()))
	}
	last, err := folder.ReadEvents(ctx, dir, events.Query{Limit: shownEvents})
	if err != nil {
		e.Sayf("\ncannot read the events: %s", output.SafeLine(err.Error()))
		return silent
	}
	e.Sayf("\nrecent events")
	e.WriteEventLines("  ", output.OldestFirst(last))
	return silent
}

func writeSessions(ctx context.Context, e *env.Env, dir string) error {
	provider, closeSessions, err := sessions.ObserveSessions(dir, folder.Trusted(dir, nil))
	if err != nil {
		return err
	}
	defer closeSessions()
	all, err := provider.List(ctx)
	slices.SortFunc(all, func(x, y session.Status) int {
		return city.CompareNames(x.Agent, y.Agent)
	})
	table := output.NewTable("SESSION", "AGENT", "SINCE", "PID")
	for _, st := range all {
		table.Add(sessionWord(st), output.Tinted(st.Agent, output.Bold), e.Age(st.Started),
			output.Tinted(strconv.Itoa(st.PID), output.Dim))
	}
	if len(table.Rows) == 0 && err == nil {
		e.Sayf("no sessions")
		return nil
	}
	return cmp.Or(err, e.Table(table))
}

func sessionWord(st session.Status) string {
	switch {
	case !st.Alive:
		return "ended"
	case st.Frozen:
		return "stopped"
	}
	return "alive"
}
