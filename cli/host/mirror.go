package host

import (
	"path/filepath"
	"strings"

	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/events/mirror"
	"gcity/trust"
)

// MirrorOf returns the options for sending a city's events to a script, without Log and Logger. ok is false without an
// allowed script.
func MirrorOf(c *config.City, grant trust.Grant) (o mirror.Options, ok bool) {
	path, ok := folder.ExternalScript(c.Events.Provider)
	if ok = ok && grant.Err() == nil; !ok {
		return mirror.Options{}, false
	}
	if strings.Contains(path, "/") && !filepath.IsAbs(path) {
		path = filepath.Join(c.Path, path)
	}
	return mirror.Options{Script: path, Dir: c.Path,
		Env: workstore.PlaceEnv(workstore.Places(c)[0]), State: folder.StateDir(c.Path)}, ok
}
