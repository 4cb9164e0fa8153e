package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/events"
	"gcity/internal/deadline"
)

// StartInBackground starts a city and waits until its agents have started. If supervised, the supervisor runs it.
func StartInBackground(ctx context.Context, e *env.Env, supervised bool) error {
	if len(e.Files) > 0 || e.Strict {
		return exit.Usage("the supervisor runs cities only from their city.toml: use -f and " +
			"--strict only with --standalone or --foreground")
	}
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	if err := consent.MayStart(e, dir); err != nil {
		return err
	}
	home, err := env.Home(e)
	if err != nil {
		return fmt.Errorf("%w; `gcity start --standalone` works without a supervisor", err)
	}
	start := func() error { return startUnowned(ctx, e, home, dir, supervised) }
	r, _ := host.FindSupervisor(e)
	other, err := otherController(ctx, dir, r.PID)
	if err != nil {
		return err
	}
	if other != nil {
		return takeOver(ctx, e, dir, other, start)
	}
	return start()
}

func startUnowned(ctx context.Context, e *env.Env, home env.SupervisorHome, dir string,
	supervised bool) error {
	before := folder.NewestSeq(ctx, dir)
	if _, _, is := Enrolled(e, dir); !is && !supervised {
		for _, u := range service.Units(e, "city", dir) {
			err := service.StartCity(ctx, e, u, dir)
			if errors.Is(err, service.ErrUnreachable) {
				service.WarnNoService(e, u, err)
				break
			}
			if err != nil {
				return err
			}
			return reportStarted(ctx, e, dir, before, u.Name()+" keeps the city running")
		}
	}
	r, runs := host.FindSupervisor(e)
	if !runs {
		if err := host.NameConflict(ctx, home, dir); err != nil {
			return err
		}
		var err error
		if r, err = host.StartSupervisor(ctx, e, home, true); err != nil {
			return fmt.Errorf("%w\n`gcity start --standalone` works without a supervisor", err)
		}
		e.Note(fmt.Sprintf("started the supervisor, pid %d; `gcity supervisor "+
			"status` shows it", r.PID))
	}
	info, err := registerRunning(ctx, e, dir)
	if err != nil {
		return err
	}
	err = reportStarted(ctx, e, dir, before,
		fmt.Sprintf("the supervisor, pid %d, keeps %s running", r.PID, info.Name))
	if !runs {
		_, notes := SupervisorTroubles(ctx, e)
		for _, text := range notes {
			e.Warn(text)
		}
	}
	return err
}

func reportStarted(ctx context.Context, e *env.Env, dir string, before uint64, by string) error {
	near, closeNear, err := folder.DialWithRetry(ctx, dir)
	if err != nil {
		return err
	}
	defer closeNear()
	s, err := awaitSettled(ctx, e, near)
	if err != nil {
		return err
	}
	did, err := AgentEventsAfter(ctx, dir, before)
	if err != nil {
		return err
	}
	return ReportStart(e, s, did, "; "+by)
}

const (
	settleTimeout = 10 * time.Minute
	// the wait ends after this many consecutive snapshots in which no agent is starting or stopping
	settleQuiet = 4
)

func awaitSettled(ctx context.Context, e *env.Env, c city.Control) (*city.Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	// a held configuration is not an error, because the result mentions it
	if _, err := c.Do(ctx, city.Reload{}); err != nil && !city.HasCode(err, city.Conflict) {
		return nil, err
	}
	defer env.SaySettling(ctx, e, c)()
	for quiet := 0; ; {
		s, err := c.Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("the city was started, but the state of its agents is "+
				"unknown: %w", err)
		}
		quiet++
		if slices.ContainsFunc(s.Agents,
			func(g city.Agent) bool {
				return g.State == city.Starting || g.State == city.Stopping
			}) {
			quiet = 0
		}
		if quiet == settleQuiet {
			return s, nil
		}
		if !deadline.Pause(ctx, env.SayEvery/settleQuiet) {
			return nil, fmt.Errorf("the city was started, but not all of its agents are "+
				"running: %w", ctx.Err())
		}
	}
}

// AgentEventsAfter returns the agent events after the given sequence number, oldest first.
func AgentEventsAfter(ctx context.Context, dir string, before uint64) ([]events.Event, error) {
	return folder.ReadEvents(ctx, dir, events.Query{After: before, Forward: true,
		Types: []string{"agent.*"}, Limit: 10_000})
}

// ReportStart prints the result of a start. It returns an error if an agent failed. The parameter by says what runs the
// city.
func ReportStart(e *env.Env, s *city.Snapshot, did []events.Event, by string) (err error) {
	if e.JSON {
		err = e.WriteJSON(struct {
			Events output.List[events.Event]      `json:"events"`
			Agents output.List[output.AgentShape] `json:"agents"`
		}{output.ListOf(did), output.ListOf(output.ShapesOf(s.Agents))})
	} else {
		printSettled(e, s, did, by)
	}
	if err == nil {
		return failedAgents(s)
	}
	return err
}

func failedAgents(s *city.Snapshot) error {
	var failed []*city.Agent
	var names []string
	for i := range s.Agents {
		if a := &s.Agents[i]; a.State == city.Failed {
			failed, names = append(failed, a), append(names, a.Name)
		}
	}
	switch len(failed) {
	case 0:
		return nil
	case 1:
		return exit.Errorf(exit.CodeFailed, "agent %s has failed: %s; see `gcity why %[1]s`",
			names[0], failed[0].Reason)
	}
	return exit.Errorf(exit.CodeFailed, "%d agents have failed: %s; `gcity why NAME` shows why",
		len(names), strings.Join(names, ", "))
}

// Enrolled returns a city's registry entry. It returns false if the city is not registered or the registry cannot be
// read.
func Enrolled(e *env.Env, dir string) (env.SupervisorHome, host.Registered, bool) {
	home, err := env.Home(e)
	if err != nil {
		return home, host.Registered{}, false
	}
	all, err := host.Registry(home)
	if err != nil {
		return home, host.Registered{}, false
	}
	i := slices.IndexFunc(all, func(e host.Registered) bool { return e.Path == dir })
	if i < 0 {
		return home, host.Registered{}, false
	}
	return home, all[i], true
}

func isSupervised(ctx context.Context, e *env.Env, l *env.Link) (bool, error) {
	r, runs := host.FindSupervisor(e)
	if !runs {
		return false, nil
	}
	s, err := l.Snapshot(ctx)
	return err == nil && s.PID == r.PID, err
}

// IsManaged reports whether the running supervisor runs this city or will start it again.
func IsManaged(ctx context.Context, e *env.Env, l *env.Link) bool {
	if l.Live {
		is, _ := isSupervised(ctx, e, l)
		return is
	}
	_, runs := host.FindSupervisor(e)
	_, _, is := Enrolled(e, l.Dir)
	return runs && is
}

// StopSupervised stops and unregisters a city that the supervisor runs. For any other city, ok is false.
func StopSupervised(ctx context.Context, e *env.Env, l *env.Link) (ok bool, err error) {
	home, entry, is := Enrolled(e, l.Dir)
	if !is || e.ReadOnly {
		return false, nil
	}
	supervised, err := isSupervised(ctx, e, l)
	if exit.IsSilent(err) {
		return true, err
	}
	if !supervised {
		return false, nil
	}
	_, err = UnregisterAndWait(ctx, e, home, entry)
	return true, err
}

// Forgotten is the message for an unregistered city.
const Forgotten = "the city is no longer registered; " + HowToReturn

// HowToReturn says how to start a city that is no longer registered.
const HowToReturn = "`gcity start` registers and starts it again"

// ForgetStopped unregisters a stopped city if a running supervisor would start it again. It returns a message for the
// user.
func ForgetStopped(ctx context.Context, e *env.Env, dir string) (string, error) {
	home, entry, is := Enrolled(e, dir)
	if _, runs := host.FindSupervisor(e); is && !runs {
		return "the city is stopped; it stays registered, so `gcity supervisor start` starts " +
			"it again", nil
	}
	if is {
		if _, err := UnregisterAndWait(ctx, e, home, entry); err != nil {
			return "", fmt.Errorf("the city is stopped, but cannot be unregistered, so the "+
				"supervisor might start it again: %w", err)
		}
	}
	return "the city is stopped and no longer registered; " + HowToReturn, nil
}

func printSettled(e *env.Env, s *city.Snapshot, did []events.Event, by string) {
	e.WriteEventLines("", did)
	for _, why := range s.Degraded {
		e.Sayf("! %s", why)
	}
	surplus := false
	for i := range s.Pools {
		if p := &s.Pools[i]; p.Size > p.Desired {
			surplus = true
			e.Sayf("! pool %s has %d running members and needs %d (%s); a running controller asks "+
				"the others to finish", p.Name, p.Size, p.Desired, output.SafeLine(p.Reason))
		}
	}
	if len(did) == 0 && len(s.Degraded) == 0 && !surplus && failedAgents(s) == nil {
		e.Sayf("the city already matches its configuration")
	}
	e.Sayf("%s%s", output.HeadCount(s), by)
}
