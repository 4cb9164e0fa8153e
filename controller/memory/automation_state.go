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

// DeedsFile, in the city's .gc folder, keeps what automations have done: when each ran last, which events it has
// dealt with. Records of runs may be pruned; this stays.
const DeedsFile = "automations.json"

// deedsVersion is what this program writes, and all that it reads.
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

// ReadDeeds returns what is remembered of the automations of the city in dir, by scoped name. With an error it is
// what can be used of it.
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
			"used: %s; these start without it", DeedsFile, strings.Join(bad, "; "))
	}
	return deeds, nil
}

// decodeDeeds returns the entries that it can read, and a text for each entry that it cannot read.
func decodeDeeds(data []byte) (deeds map[string]automation.Memory, bad []string, err error) {
	var kept deedsOf[map[string]json.RawMessage]
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, nil, fmt.Errorf("it is damaged: %w", err)
	}
	if kept.Version != deedsVersion {
		return nil, nil, fmt.Errorf("it has version %d, and this program reads %d", kept.Version,
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

// Deeds returns what the last controller of the city in dir remembered of its automations, by scoped name.
func Deeds(dir string) (map[string]automation.Memory, error) { return ReadDeeds(dir) }

// BadSuffix is added to the name of a file that could not be used.
const BadSuffix = ".bad"

// KeepBadDeeds copies a file that cannot be read, because a new one will replace it. It moves a file that is not a
// regular file.
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
