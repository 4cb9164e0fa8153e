package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gcity/city"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/proc"
	"gcity/session"
)

const (
	// statusPatience is how long status waits for the snapshot of a controller.
	statusPatience = 2 * time.Second
	// filesPatience bounds the look at the sessions of a controller that does not answer.
	filesPatience = 5 * time.Second
	// filesEvents is how many events that look shows.
	filesEvents = 10
)

// statusOfFiles shows what the files and the sessions say of a city whose controller does not answer, and fails.
func (a *app) statusOfFiles(ctx context.Context, dir string) error {
	silent := fmt.Errorf("the controller of %s has not answered for %s: %s", dir, statusPatience, silentRemedy(dir))
	if a.JSON {
		return silent
	}
	ctx, cancel := context.WithTimeout(ctx, filesPatience)
	defer cancel()
	a.Sayf("%s\n", a.Paint(output.Yellow, "! the controller does not answer; this is what the files and the sessions say"))
	if err := a.writeSessions(ctx, dir); err != nil {
		a.Sayf("the sessions cannot be listed: %s", output.SafeLine(err.Error()))
	}
	last, err := readEvents(ctx, dir, events.Query{Limit: filesEvents})
	if err != nil {
		a.Sayf("\nthe events cannot be read: %s", output.SafeLine(err.Error()))
		return silent
	}
	a.Sayf("\nlast events")
	a.WriteEventLines("  ", output.InOrder(last))
	return silent
}

// writeSessions writes a table of the sessions of a city, as their holders tell.
func (a *app) writeSessions(ctx context.Context, dir string) error {
	provider, closeSessions, err := openSessions(sessionOptions{
		dir: dir, grant: trusted(dir, nil), observe: true, logger: quietLogger(),
	})
	if err != nil {
		return err
	}
	defer closeSessions()
	all, err := provider.List(ctx)
	slices.SortFunc(all, func(x, y session.Status) int { return city.CompareNames(x.Agent, y.Agent) })
	rows := make([][]output.Cell, 0, len(all))
	for _, st := range all {
		rows = append(rows, []output.Cell{
			output.Plain(sessionWord(st)), output.Tinted(st.Agent, output.Bold), output.Plain(a.Age(st.Started)), output.Tinted(strconv.Itoa(st.PID), output.Dim),
		})
	}
	if len(rows) == 0 && err == nil {
		a.Sayf("no sessions")
		return nil
	}
	return cmp.Or(err, a.Table(a.Out, a.Columns(), []string{"SESSION", "AGENT", "SINCE", "PID"}, rows))
}

// sessionWord is a session's state in a word.
func sessionWord(st session.Status) string {
	switch {
	case !st.Alive:
		return "ended"
	case st.Frozen:
		return "stopped"
	}
	return "alive"
}

// silentRemedy says what to do about a controller that does not answer.
func silentRemedy(dir string) string {
	const takesOver = "start the city again; the agents run on, and the next controller takes them over"
	pid, err := strconv.Atoi(pidText(dir))
	if err != nil {
		return "end its process and " + takesOver
	}
	if st, err := proc.ReadStat(pid); err == nil && (st.State == 'T' || st.State == 't') {
		return fmt.Sprintf("its process is stopped, `kill -CONT %d` continues it", pid)
	}
	return fmt.Sprintf("`kill -9 %d`, then %s", pid, takesOver)
}
