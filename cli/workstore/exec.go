package workstore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/cli/folder"
)

// ScriptEnv is the environment of a script that keeps work: who the user is, where programs are, and of gcity what says
// where it is and for whom.
func ScriptEnv(p Place) []string {
	plain := []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"}
	own := []string{"GC_CITY=" + p.City, "GC_CITY_PATH=" + p.City, "BEADS_DIR=" +
		filepath.Join(p.Dir, folder.WorkFolder), "GC_EXEC_STATE_DIR=" +
		filepath.Join(p.Dir, folder.WorkFolder)}
	if p.Rig != "" {
		own = append(own, "GC_RIG="+p.Rig, "GC_RIG_PATH="+p.Dir)
	}
	set := []string{"GC_CITY", "GC_CITY_PATH", "GC_RIG", "GC_RIG_PATH", "GC_EXEC_STATE_DIR"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(plain, name) || strings.HasPrefix(name, "LC_") ||
			strings.HasPrefix(name, "GC_") && !slices.Contains(set, name) {
			own = append(own, kv)
		}
	}
	return own
}
