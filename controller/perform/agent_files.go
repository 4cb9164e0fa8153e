package perform

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/session"
)

// agentFilesTTL is how long the files of a removed agent are kept after their last change.
const agentFilesTTL = 30 * 24 * time.Hour

// removeAgentFiles removes crash files, heartbeats and records of turns that have not changed for agentFilesTTL and
// belong to none of the agents. It returns the paths of the removed files and folders, relative to .gc.
func removeAgentFiles(city string, agents []string, now time.Time) (removed []string, err error) {
	encoded := map[string]bool{}
	for _, name := range agents {
		encoded[session.Encode(name)] = true
	}
	suffixes := map[string]string{"crashes": "", "heartbeats": ".json", "turns": ".json"}
	for folder, suffix := range suffixes {
		dir := filepath.Join(city, ".gc", folder)
		entries, readErr := disk.ReadDir(dir)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			err = errors.Join(err, readErr)
		}
		for _, e := range entries {
			name, ours := strings.CutSuffix(e.Name(), suffix)
			if !ours || e.IsDir() != (suffix == "") || encoded[name] {
				continue
			}
			info, infoErr := e.Info()
			if infoErr != nil || now.Sub(info.ModTime()) < agentFilesTTL {
				continue
			}
			if removeErr := disk.RemoveAll(filepath.Join(dir, e.Name())); removeErr != nil {
				err = errors.Join(err, removeErr)
				continue
			}
			removed = append(removed, filepath.Join(folder, e.Name()))
		}
	}
	return removed, err
}
