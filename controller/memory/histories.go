// Package memory reads and writes the files of a city that outlive its controller: crash histories, and the state
// of automations.
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

// MemoryFile is the file in the city's .gc folder with the crash histories, if [daemon] crash_history is "disk".
const MemoryFile = "crash-history.json"

// MemoryVersion is the version of the file that this program writes, and the only one that it reads.
const MemoryVersion = 1

// HistoriesFile is the content of the file. A is a map[string]effect.Memo, or its encoded form.
type HistoriesFile[A any] struct {
	Version int    `json:"version"`
	City    string `json:"city"` // folder of the city; a copy of it has other agents
	Agents  A      `json:"agents"`
}

// ReadHistories returns the saved crash histories of the city in dir, by agent. Without a file it returns none. The
// error describes why the file cannot be used.
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
		return nil, fmt.Errorf("the crash histories in .gc/%s cannot be used: %w; all agents "+
			"start without a crash history, and the next crash replaces the file", MemoryFile, err)
	}
	return agents, nil
}

func DecodeHistories(data []byte, dir string) (map[string]effect.Memo, error) {
	var m HistoriesFile[map[string]effect.Memo]
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if m.Version != MemoryVersion {
		return nil, fmt.Errorf("it has version %d, but this program reads only %d", m.Version,
			MemoryVersion)
	}
	if m.City != dir {
		return nil, fmt.Errorf("it belongs to the city in %q", m.City)
	}
	for name, r := range m.Agents {
		switch r.State {
		case "", city.Backoff, city.Quarantined, city.Failed:
		default:
			return nil, fmt.Errorf("it is damaged: agent %q cannot wait in the state %q", name,
				r.State)
		}
	}
	return m.Agents, nil
}

// WriteHistories replaces the file of a city, or removes it if agents is empty.
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
