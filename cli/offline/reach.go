package offline

import (
	"context"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
)

// ReachCity opens the city in dir. It is the usual value of env.Env.Reach.
func ReachCity(ctx context.Context, e *env.Env, dir string) (*env.Link, error) {
	near, closeNear, err := folder.DialPatiently(ctx, dir)
	if err == nil {
		return &env.Link{Control: near, Dir: dir, Live: true, Close: closeNear}, nil
	}
	if !exit.IsNotRunning(err) {
		return nil, err
	}
	beside, err := newCity(dir, true, e.Now, nil)
	if err != nil {
		return nil, err
	}
	env.NoteUntrusted(e, beside.grant)
	return &env.Link{Control: beside, Dir: dir, Known: beside.known, Close: beside.close}, nil
}
