package offline

import (
	"context"
	"errors"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
)

// ReachCity opens the city in dir. It is the default of env.Env.Reach.
func ReachCity(ctx context.Context, e *env.Env, dir string) (*env.Link, error) {
	near, closeNear, err := folder.DialWithRetry(ctx, dir)
	if err == nil {
		return &env.Link{Control: near, Dir: dir, Live: true, Close: closeNear}, nil
	}
	if !exit.IsNotRunning(err) {
		return nil, err
	}
	if e.Remote(dir) {
		return nil, env.Unreachable(err)
	}
	held, _ := errors.AsType[*folder.HeldError](err)
	c, err := newCity(dir, true, e.Now, nil)
	if err != nil {
		return nil, err
	}
	c.held = held
	env.NoteUntrusted(e, c.grant)
	return &env.Link{Control: c, Dir: dir, Held: held, ConfigCache: c.known, Close: c.close}, nil
}
