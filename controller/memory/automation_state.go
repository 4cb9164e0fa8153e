package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gcity/automation"
	"gcity/internal/disk"
)

// DeedsFile is the file in the city's .gc folder with the state of automations, for example when each ran last. It
// remains when records of runs are pruned.
const DeedsFile = "automations.json"

// deedsVersion is the version of the file that this program writes, and the only one that it reads.
const deedsVersion = 1

type deedsOf[A any] struct {
	Version int `json:"version"`
	Deeds   A   `json:"automations"`
}

func WriteDeeds(dir string, memory []byte) error {
	data, err := json.Marshal(deedsOf[json.RawMessage]{deedsVersion, memory})
	if err != nil {
		return err
	}
	return disk.Save(filepath.Join(dir, ".gc", DeedsFile), append(data, '\n'), 0o600)
}

// ReadDeeds returns the saved state of the automations of the city in dir, by scoped name. With an error, it
// returns the part that could be read.
func ReadDeeds(dir string) (map[string]automation.Memory, error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", DeedsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var deeds map[string]automation.Memory
	var bad []string
	if err == nil {
		deeds, bad, err = decodeDeeds(data)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the saved state of automations in .gc/%s cannot be used: %w; all "+
			"start without it", DeedsFile, err)
	case len(bad) > 0:
		return deeds, fmt.Errorf("part of the saved state of automations in .gc/%s cannot be "+
			"used: %s; the affected automations start without it", DeedsFile,
			strings.Join(bad, "; "))
	}
	return deeds, nil
}

// decodeDeeds returns the valid entries, and a message for each invalid one.
func decodeDeeds(data []byte) (deeds map[string]automation.Memory, bad []string, err error) {
	var kept deedsOf[map[string]json.RawMessage]
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, nil, fmt.Errorf("it is damaged: %w", err)
	}
	if kept.Version != deedsVersion {
		return nil, nil, fmt.Errorf("it has version %d, but this program reads only %d",
			kept.Version,
			deedsVersion)
	}
	deeds = map[string]automation.Memory{}
	for _, name := range slices.Sorted(maps.Keys(kept.Deeds)) {
		var d automation.Memory
		if err := json.Unmarshal(kept.Deeds[name], &d); err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		deeds[name] = d
	}
	return deeds, bad, nil
}

// Deeds returns the state of automations that the last controller of the city in dir saved, by scoped name.
func Deeds(dir string) (map[string]automation.Memory, error) { return ReadDeeds(dir) }

// BadSuffix is appended to the name of a file that could not be read.
const BadSuffix = ".bad"

// KeepBadDeeds makes a copy of a file that could not be read, because a new file will replace it. Anything but a
// regular file is moved.
func KeepBadDeeds(dir string) error {
	path := filepath.Join(dir, ".gc", DeedsFile)
	data, err := disk.ReadFile(path)
	if _, unsafe := errors.AsType[*disk.UnsafeError](err); unsafe {
		_, err = disk.SetAside(path)
		return err
	}
	if err != nil {
		return err
	}
	return disk.Replace(path+BadSuffix, data, 0o600)
}
