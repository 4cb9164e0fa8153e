package perform

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/session"
)

// agentFilesTTL is how long the files of an agent are kept after the city no longer has the agent.
const agentFilesTTL = 30 * 24 * time.Hour

// removeAgentFiles removes crash files and heartbeats that have not changed for agentFilesTTL and belong to none of the
// agents. It returns the paths of the removed files and folders.
func removeAgentFiles(city string, agents []string, now time.Time) (removed []string, err error) {
	var encoded []string
	for _, name := range agents {
		encoded = append(encoded, session.Encode(name))
	}
	for folder, suffix := range map[string]string{"crashes": "", "heartbeats": ".json"} {
		dir := filepath.Join(city, ".gc", folder)
		entries, readErr := disk.ReadDir(dir)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
		}
		for _, e := range entries {
			name, ours := strings.CutSuffix(e.Name(), suffix)
			if !ours || e.IsDir() != (suffix == "") || slices.Contains(encoded, name) {
				continue
			}
			info, infoErr := e.Info()
			if infoErr != nil || now.Sub(info.ModTime()) < agentFilesTTL {
				continue
			}
			path := filepath.Join(dir, e.Name())
			if removeErr := disk.RemoveAll(path); removeErr != nil {
				err = errors.Join(err, removeErr)
				continue
			}
			removed = append(removed, path)
		}
	}
	return removed, err
}
