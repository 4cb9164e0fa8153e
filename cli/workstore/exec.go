package workstore

import (
	"path/filepath"
	"slices"
	"strings"

	"gcity/cli/folder"
)

// PlaceEnv returns the variables that identify the city and the rig to scripts.
func PlaceEnv(p Place) []string {
	state := filepath.Join(p.Dir, folder.WorkFolder)
	own := []string{"GC_CITY=" + p.City, "GC_CITY_PATH=" + p.City, "BEADS_DIR=" + state,
		"GC_EXEC_STATE_DIR=" + state}
	if p.Rig != "" {
		own = append(own, "GC_RIG="+p.Rig, "GC_RIG_PATH="+p.Dir)
	}
	return own
}

func commandEnv(p Place, environ []string) []string {
	own := PlaceEnv(p)
	set := []string{"GC_CITY", "GC_CITY_PATH", "GC_RIG", "GC_RIG_PATH", "GC_EXEC_STATE_DIR"}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GC_") && !slices.Contains(set, name) {
			own = append(own, kv)
		}
	}
	return own
}
