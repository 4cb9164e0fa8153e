package fleet

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/service"
	"gcity/describe"
)

// otherController returns nil if no controller other than the supervisor runs the city. It returns an error only if the
// city's controller does not respond, or runs with another .gc than the city's.
func otherController(ctx context.Context, dir string, supervisor int) (*city.Snapshot, error) {
	near, closeNear, err := folder.DialWithRetry(ctx, dir)
	held, ok := errors.AsType[*folder.HeldError](err)
	switch {
	case exit.IsSilent(err):
		return nil, err
	case ok && held.Replaced:
		return nil, folder.NoController(dir, "cannot start", held)
	case err != nil:
		return nil, nil
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
	defer cancel()
	s, err := near.Snapshot(ctx)
	if exit.IsSilent(err) {
		return nil, err
	}
	if err != nil || s.PID == supervisor {
		return nil, nil
	}
	return s, nil
}

// takeOver stops a background controller, but not its agents, and calls start. If start fails, it starts a background
// controller again.
func takeOver(ctx context.Context, e *env.Env, dir string, s *city.Snapshot,
	start func() error) error {
	how := ""
	switch u := service.ServedBy(ctx, e, dir); {
	case s.Mode == "console":
		how = "a control room is running it; leave that room with q and b, then run `gcity " +
			"start` again"
	case u != nil:
		how = u.Name() + " is running it; `gcity daemon uninstall` removes that service"
	case s.Mode != "headless":
		how = "`gcity stop` stops that controller"
	case host.CannotSpawn():
		how = "a command within an agent or an automation could not start that controller " +
			"again if the supervisor refused the city; run `gcity start` in a terminal"
	}
	if how != "" {
		return exit.Errorf(exit.CodeConflict, "a controller is already running for %s, so the "+
			"supervisor did not take over the city: %s; %s", dir, describe.Runner(s.Mode, s.PID),
			how)
	}
	if err := release(ctx, dir, s.PID); err != nil {
		return fmt.Errorf("the controller of %s (pid %d) did not hand over its agents: %w", dir,
			s.PID, err)
	}
	e.Note(fmt.Sprintf("the background controller (pid %d) handed over its agents", s.PID))
	err := start()
	if held, unsure := folder.IsHeld(dir); err == nil || held || unsure != nil {
		return err
	}
	pid, again := host.SpawnHeadless(ctx, e, dir)
	if again != nil {
		code, why := exit.Verdict(err)
		return exit.Errorf(code, "%s\n%w\nno controller is running, but the agents keep "+
			"running; run `gcity start` again", why, again)
	}
	return fmt.Errorf("%w\nthe city is running in the background again (pid %d)", err, pid)
}

func release(ctx context.Context, dir string, pid int) error {
	near, closeNear, err := folder.Dial(dir)
	if err != nil {
		return err
	}
	defer closeNear()
	if _, err := near.Do(ctx, city.Shutdown{Leave: true}); err != nil {
		return err
	}
	return folder.WaitReleased(ctx, dir, strconv.Itoa(pid))
}
