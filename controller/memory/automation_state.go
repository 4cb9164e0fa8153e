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

// AutomationsFile is the file in the city's .gc folder that stores the state of the automations.
const AutomationsFile = "automations.json"

// files of other versions are not read
const automationsVersion = 1

type automationsFile[A any] struct {
	Version int `json:"version"`
	States  A   `json:"automations"`
}

func WriteAutomations(dir string, memory []byte) error {
	data, err := json.Marshal(automationsFile[json.RawMessage]{automationsVersion, memory})
	if err != nil {
		return err
	}
	return disk.Save(filepath.Join(dir, ".gc", AutomationsFile), append(data, '\n'), 0o600)
}

// ReadAutomations returns the saved automation state of the city in dir, by scoped name. If it returns an error, the
// map contains only the readable entries.
func ReadAutomations(dir string) (map[string]automation.Memory, error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", AutomationsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var states map[string]automation.Memory
	var bad []string
	if err == nil {
		states, bad, err = decodeAutomations(data)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the automation state in .gc/%s cannot be used: %w; all "+
			"automations start without it", AutomationsFile, err)
	case len(bad) > 0:
		return states, fmt.Errorf("part of the automation state in .gc/%s cannot be used: %s; "+
			"the affected automations start without it", AutomationsFile,
			strings.Join(bad, "; "))
	}
	return states, nil
}

func decodeAutomations(data []byte) (states map[string]automation.Memory, bad []string, err error) {
	var kept automationsFile[map[string]json.RawMessage]
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, nil, fmt.Errorf("the file is damaged: %w", err)
	}
	if kept.Version != automationsVersion {
		return nil, nil, fmt.Errorf("the file has version %d, but this program reads only "+
			"version %d",
			kept.Version,
			automationsVersion)
	}
	states = map[string]automation.Memory{}
	for _, name := range slices.Sorted(maps.Keys(kept.States)) {
		var d automation.Memory
		if err := json.Unmarshal(kept.States[name], &d); err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		states[name] = d
	}
	return states, bad, nil
}

// BadSuffix is appended to the names of unreadable files.
const BadSuffix = ".bad"

// CopyBadAutomations keeps a copy of an unreadable AutomationsFile. It moves the file if it is not a regular file.
func CopyBadAutomations(dir string) error {
	path := filepath.Join(dir, ".gc", AutomationsFile)
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
