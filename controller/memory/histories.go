// Package memory reads and writes the files in which a controller saves state for the next one.
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

// CrashHistoryFile is the file in the city's .gc folder that stores agents' states for the next controller. It contains
// crash histories only if [daemon] crash_history is "disk", or if the agents keep running without a controller.
const CrashHistoryFile = "crash-history.json"

// CrashHistoryVersion is the version of the file format. Files of other versions are not read.
const CrashHistoryVersion = 1

// HistoriesFile is the content of CrashHistoryFile. A is map[string]effect.SavedAgent, or its encoded form.
type HistoriesFile[A any] struct {
	Version int    `json:"version"`
	City    string `json:"city"` // folder of the city; the file is invalid in a copy of the city
	// the controller left its agents running
	HandedOver bool `json:"handed_over,omitempty"`
	Agents     A    `json:"agents"`
}

// ReadHistories returns the saved histories of the city in dir. The result is empty if the file does not exist.
func ReadHistories(dir string) (all effect.Histories, err error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", CrashHistoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		all, err = DecodeHistories(data, dir)
	}
	if err != nil {
		return all, fmt.Errorf("the crash histories in .gc/%s cannot be used: %w; all agents "+
			"start without a crash history, and the next crash will replace the "+
			"file", CrashHistoryFile, err)
	}
	return all, nil
}

// DecodeHistories decodes the crash histories of the city in dir.
func DecodeHistories(data []byte, dir string) (all effect.Histories, err error) {
	var m HistoriesFile[map[string]effect.SavedAgent]
	if err := json.Unmarshal(data, &m); err != nil {
		return all, fmt.Errorf("the file is damaged: %w", err)
	}
	if m.Version != CrashHistoryVersion {
		return all, fmt.Errorf("the file has version %d, but this program reads only version %d",
			m.Version, CrashHistoryVersion)
	}
	if m.City != dir {
		return all, fmt.Errorf("the file belongs to the city in %q", m.City)
	}
	for name, r := range m.Agents {
		switch r.State {
		case "", city.Backoff, city.Quarantined, city.Failed:
		default:
			return all, fmt.Errorf("the file is damaged: agent %q has the invalid state %q",
				name, r.State)
		}
		if s := r.Stopped; s != nil && s.State != city.Suspended && s.State != city.Failed {
			return all, fmt.Errorf("the file is damaged: the stopped agent %q has "+
				"the invalid state %q", name, s.State)
		}
	}
	return effect.Histories{Agents: m.Agents, HandedOver: m.HandedOver}, nil
}

// WriteHistories replaces a city's crash history file, or removes it if agents is nil. handOver is true if the agents
// keep running for the next controller.
func WriteHistories(at, dir string, agents []byte, handOver bool) error {
	path := filepath.Join(at, ".gc", CrashHistoryFile)
	if agents == nil {
		return disk.RemoveAny(path)
	}
	data, err := json.Marshal(HistoriesFile[json.RawMessage]{CrashHistoryVersion, dir, handOver,
		agents})
	if err != nil {
		return err
	}
	return disk.Save(path, append(data, '\n'), 0o600)
}
