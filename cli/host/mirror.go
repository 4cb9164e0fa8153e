package host

import (
	"context"
	"path/filepath"
	"strings"

	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/events/mirror"
	"gcity/trust"
)

// MirrorOf returns the options for sending a city's events to a script. Log, Logger and Last are not set. ok is false
// if the city has no script or may not run it.
func MirrorOf(c *config.City, grant trust.Grant) (o mirror.Options, ok bool) {
	line, ok := strings.CutPrefix(c.Events.Provider, "exec:")
	if ok = ok && grant.Err() == nil; !ok {
		return mirror.Options{}, false
	}
	path := line
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(c.Path, path)
	}
	return mirror.Options{Script: path, Dir: c.Path,
		Env: workstore.PlaceEnv(workstore.Places(c)[0]), State: folder.StateDir(c.Path),
		MayRun: func(ctx context.Context) error { return grant.ErrOf(ctx, line) }}, ok
}
