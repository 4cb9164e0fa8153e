package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"gcity/api/client"
	"gcity/cli/env"
	"gcity/cli/service"
)

// SpawnLimit is how long a new supervisor may take to respond.
const SpawnLimit = 30 * time.Second

// StartSupervisor starts a supervisor, as a service if possible. If untilEmpty is set, a supervisor that is not a
// service exits when its last city is unregistered.
func StartSupervisor(ctx context.Context, e *env.Env, home env.SupervisorHome,
	untilEmpty bool) (supervisorRunning, error) {
	for _, u := range service.Units(e, "supervisor", home.Dir) {
		err := u.Start(ctx, func() (bool, error) {
			pid, err := SupervisorOf(home.Dir)
			return pid != 0, err
		})
		if errors.Is(err, service.ErrUnreachable) {
			service.WarnNoService(e, u, err)
			break
		}
		if err != nil {
			return supervisorRunning{}, err
		}
		ctx, cancel := context.WithTimeout(ctx, SpawnLimit)
		defer cancel()
		r, err := awaitSupervisor(ctx, e, nil)
		if err != nil {
			err = fmt.Errorf("the supervisor did not start through its service: %w; see `%s`",
				err, u.Manager.Line("status", u.Name()))
		}
		return r, err
	}
	return spawnSupervisor(ctx, e, home, untilEmpty)
}

// spawnSupervisor starts a supervisor and waits until one responds, perhaps one that another process started.
func spawnSupervisor(ctx context.Context, e *env.Env, home env.SupervisorHome,
	untilEmpty bool) (supervisorRunning, error) {
	if CannotSpawn() {
		return supervisorRunning{}, cannotSpawn("supervisor", "supervisor")
	}
	if err := CheckHome(home); err != nil {
		return supervisorRunning{}, err
	}
	if err := home.Make(); err != nil {
		return supervisorRunning{}, err
	}
	log, err := os.OpenFile(home.Log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return supervisorRunning{}, fmt.Errorf("cannot write the supervisor's log: %w", err)
	}
	cmd := &exec.Cmd{Dir: home.Dir, Env: withoutCityEnv(os.Environ()),
		Args: []string{"gcity", "supervisor", "run", "--detached"}}
	if untilEmpty {
		cmd.Args = append(cmd.Args, "--until-empty")
	}
	died, began, err := spawn(cmd, log, "the supervisor")
	if err != nil {
		return supervisorRunning{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, SpawnLimit)
	defer cancel()
	r, err := awaitSupervisor(ctx, e, died)
	if err != nil {
		return r, notStarted("the supervisor", err, tailOf(home.Log(), began))
	}
	return r, nil
}

func awaitSupervisor(ctx context.Context, e *env.Env, died <-chan error) (r supervisorRunning,
	err error) {
	err = awaitReady(ctx, died, func() (ready, another bool) {
		var fleet *client.Fleet
		if fleet, r, err = DialSupervisor(e); err == nil {
			_, err = fleet.Cities(ctx)
			_ = fleet.Close()
		}
		return err == nil, r.PID != 0
	})
	return r, err
}

// withoutCityEnv removes the variables of a city and an agent, because a supervisor runs many cities.
func withoutCityEnv(env []string) []string {
	var out []string
	for _, pair := range env {
		if !strings.HasPrefix(pair, "GC_") || strings.HasPrefix(pair, "GC_HOME=") {
			out = append(out, pair)
		}
	}
	return out
}
