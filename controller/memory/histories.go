// Package memory reads and writes the files of a city that outlive its controller: crash histories, and what
// automations have done.
package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/disk"
)

// MemoryFile, in the city's .gc folder, keeps crash histories where [daemon] crash_history is "disk".
const MemoryFile = "crash-history.json"

// MemoryVersion is what this program writes, and all that it reads.
const MemoryVersion = 1

// HistoriesFile is the file: A is map[string]memo, encoded or not.
type HistoriesFile[A any] struct {
	Version int    `json:"version"`
	City    string `json:"city"` // the folder: in a copy of it other agents live
	Agents  A      `json:"agents"`
}

// ReadHistories returns what was kept of the agents of the city in dir, by name; a city without a file remembers
// nothing. The error says why nothing is known.
func ReadHistories(dir string) (map[string]effect.Memo, error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", MemoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var agents map[string]effect.Memo
	if err == nil {
		agents, err = DecodeHistories(data, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the crash histories in .gc/%s cannot be used: %w; every agent "+
			"begins with a clean slate, and the file is replaced when there is something "+
			"to remember", MemoryFile, err)
	}
	return agents, nil
}

func DecodeHistories(data []byte, dir string) (map[string]effect.Memo, error) {
	var m HistoriesFile[map[string]effect.Memo]
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if m.Version != MemoryVersion {
		return nil, fmt.Errorf("it is of version %d, and this program knows version %d", m.Version,
			MemoryVersion)
	}
	if m.City != dir {
		return nil, fmt.Errorf("it belongs to the city in %q", m.City)
	}
	for name, r := range m.Agents {
		switch r.State {
		case "", city.Backoff, city.Quarantined, city.Failed:
		default:
			return nil, fmt.Errorf("it is damaged: agent %q waits in the state %q", name, r.State)
		}
	}
	return m.Agents, nil
}

// WriteHistories replaces the file of a city; without agents it is removed.
func WriteHistories(at, dir string, agents []byte) error {
	path := filepath.Join(at, ".gc", MemoryFile)
	if agents == nil {
		if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(HistoriesFile[json.RawMessage]{MemoryVersion, dir, agents})
	if err != nil {
		return err
	}
	return disk.Save(path, append(data, '\n'), 0o600)
}
