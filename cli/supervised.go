package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

// startKept has the city run from now on and waits until it has settled: by its own service, if it has one and is not registered,
// else, or where that is wanted, by the supervisor, which is started if none runs.
func (a *app) startKept(ctx context.Context, supervised bool) error {
	if len(a.files) > 0 || a.strict {
		return exit.Usage("the supervisor runs cities by their city.toml alone: -f and --strict need --standalone or --foreground")
	}
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	if a.readOnly {
		return refusedReadOnly("start")
	}
	if err := a.mayStart(dir); err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return fmt.Errorf("%w; `gcity start --standalone` needs no supervisor", err)
	}
	r, runs := a.findSupervisor()
	if err := runsElsewhere(ctx, dir, r.PID); err != nil {
		return err
	}
	before := newestSeq(ctx, dir)
	if _, _, is := a.enrolled(dir); !is && !supervised {
		for _, u := range a.units("city", dir) {
			err := a.raiseCity(ctx, u, dir)
			if errors.Is(err, errUnreachable) {
				a.warnNoService(u, err)
				break
			}
			if err != nil {
				return err
			}
			return a.reportKept(ctx, dir, before, u.name()+" keeps it so")
		}
	}
	if !runs {
		if err := clash(ctx, home, dir); err != nil {
			return err
		}
		if r, err = a.raiseSupervisor(ctx, home); err != nil {
			return fmt.Errorf("%w\n`gcity start --standalone` needs no supervisor", err)
		}
		a.Murmur(fmt.Sprintf("the supervisor was started, pid %d; `gcity supervisor status` shows it", r.PID))
	}
	info, err := a.enrol(ctx, dir)
	if err != nil {
		return err
	}
	return a.reportKept(ctx, dir, before, fmt.Sprintf("the supervisor, pid %d, keeps %s so", r.PID, info.Name))
}

// reportKept tells what has become of a city that somebody else has begun to run, once it has settled.
func (a *app) reportKept(ctx context.Context, dir string, before uint64, who string) error {
	near, closeNear, err := dialPatiently(ctx, dir)
	if err != nil {
		return err
	}
	defer closeNear()
	s, err := a.settledFar(ctx, near)
	if err != nil {
		return err
	}
	did, err := agentEventsAfter(ctx, dir, before)
	if err != nil {
		return err
	}
	return a.reportStart(s, did, "; "+who)
}

// runsElsewhere refuses a city that another controller runs.
func runsElsewhere(ctx context.Context, dir string, supervisor int) error {
	near, closeNear, err := dialPatiently(ctx, dir)
	if err != nil {
		return nil // whoever opens it finds out more
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, deafAfter)
	defer cancel()
	s, err := near.Snapshot(ctx)
	if err != nil || s.PID == supervisor {
		return nil
	}
	return &exit.Failure{Code: exit.CodeConflict, Err: fmt.Errorf("controller already running for %s (pid %d, %s): it was not given to the supervisor; `gcity stop` ends it", dir, s.PID, s.Mode)}
}

const (
	settlePatience = 10 * time.Minute
	settleQuiet    = 4 // looks in a row
)

// settledFar has the city read its configuration, and waits until nobody in it is being started or stopped.
func (a *app) settledFar(ctx context.Context, c city.Control) (*city.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, settlePatience)
	defer cancel()
	if _, err := c.Do(ctx, city.Reload{}); err != nil {
		if wrong, ok := errors.AsType[*city.Error](err); !ok || wrong.Code != city.Conflict { // held: that is shown
			return nil, err
		}
	}
	defer a.saySettling(ctx, c)()
	for quiet := 0; ; {
		s, err := c.Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("not settled: %w", err)
		}
		quiet++
		if slices.ContainsFunc(s.Agents, func(g city.Agent) bool { return g.State == city.Starting || g.State == city.Stopping }) {
			quiet = 0
		}
		if quiet == settleQuiet {
			return s, nil
		}
		if !pause(ctx, sayEvery/settleQuiet) {
			return nil, fmt.Errorf("not settled: %w", ctx.Err())
		}
	}
}

// agentEventsAfter are the events of a city's agents after a seq, the oldest first.
func agentEventsAfter(ctx context.Context, dir string, before uint64) ([]events.Event, error) {
	return readEvents(ctx, dir, events.Query{After: before, Forward: true, Types: []string{"agent.*"}, Limit: 10_000})
}

// reportStart tells what a start has done.
func (a *app) reportStart(s *city.Snapshot, did []events.Event, who string) (err error) {
	if a.JSON {
		err = a.WriteJSON(struct {
			Events output.List[events.Event]      `json:"events"`
			Agents output.List[output.AgentShape] `json:"agents"`
		}{output.ListOf(did), output.ListOf(output.ShapesOf(s.Agents))})
	} else {
		err = a.tellSettled(s, did, who)
	}
	if err == nil && s.Count()[city.Failed] > 0 {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}

// enrolled finds a city among those that are registered. What cannot be read has none.
func (a *app) enrolled(dir string) (supervisorHome, registered, bool) {
	home, err := a.home()
	if err != nil {
		return home, registered{}, false
	}
	all, err := registry(home)
	if err != nil {
		return home, registered{}, false
	}
	i := slices.IndexFunc(all, func(e registered) bool { return e.Path == dir })
	if i < 0 {
		return home, registered{}, false
	}
	return home, all[i], true
}

// isSupervised reports whether the supervisor runs a city that is within reach.
func (a *app) isSupervised(ctx context.Context, l *link) bool {
	r, runs := a.findSupervisor()
	if !runs {
		return false
	}
	s, err := l.Snapshot(ctx)
	return err == nil && s.PID == r.PID
}

// isKept reports whether a city is the supervisor's that runs: it runs there, or waits there to be tried again.
func (a *app) isKept(ctx context.Context, l *link) bool {
	if l.live {
		return a.isSupervised(ctx, l)
	}
	_, runs := a.findSupervisor()
	_, _, is := a.enrolled(l.dir)
	return runs && is
}

// stopSupervised stops a city that the supervisor runs, and has it run no more. It is not ok if that does not, or not any more.
func (a *app) stopSupervised(ctx context.Context, l *link) (ok bool, err error) {
	home, e, is := a.enrolled(l.dir)
	if !is || a.readOnly || !a.isSupervised(ctx, l) {
		return false, nil
	}
	_, err = a.dismiss(ctx, home, e)
	return true, err
}
