package controller

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

// memoryFile, in the city's .gc folder, keeps crash histories where [daemon] crash_history is "disk".
const memoryFile = "crash-history.json"

// memoryVersion is what this program writes, and all that it reads.
const memoryVersion = 1

// memoryOf is the file: A is map[string]memo, encoded or not.
type memoryOf[A any] struct {
	Version int    `json:"version"`
	City    string `json:"city"` // the folder: in a copy of it other agents live
	Agents  A      `json:"agents"`
}

// writeMemory replaces the file of a city; without agents it is removed.
func writeMemory(o *Options, agents []byte) error {
	path := filepath.Join(o.At, ".gc", memoryFile)
	if agents == nil {
		if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, err := json.Marshal(memoryOf[json.RawMessage]{memoryVersion, o.Dir, agents})
	if err != nil {
		return err
	}
	return disk.Save(path, append(data, '\n'), 0o600)
}

// readMemory returns what was kept of the agents of the city in dir, by name; a city without a file remembers
// nothing. The error says why nothing is known.
func readMemory(dir string) (map[string]memo, error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", memoryFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var agents map[string]memo
	if err == nil {
		agents, err = decodeMemory(data, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("the crash histories in .gc/%s cannot be used: %w; every agent "+
			"begins with a clean slate, and the file is replaced when there is something "+
			"to remember", memoryFile, err)
	}
	return agents, nil
}

func decodeMemory(data []byte, dir string) (map[string]memo, error) {
	var m memoryOf[map[string]memo]
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if m.Version != memoryVersion {
		return nil, fmt.Errorf("it is of version %d, and this program knows version %d", m.Version,
			memoryVersion)
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

// recall reads what the controller before left, if its successor is to know.
func (c *Controller) recall(first *effect.Configuration) {
	if !first.OnDisk {
		return
	}
	agents, err := readMemory(c.o.Dir)
	if err != nil {
		c.o.Logger.Warn("no crash histories", "err", err)
		c.m.keeper.unread = err.Error()
	}
	c.m.keeper.recalled = agents
}

// keep writes what the loop had no more time for. Nothing else is in flight any more.
func (c *Controller) keep() {
	if c.m.lost != nil || !c.m.unwritten() && !c.m.keeper.busy {
		return
	}
	content, err := c.m.memory()
	if err == nil {
		err = writeMemory(&c.o, content)
	}
	if err != nil {
		c.o.Logger.Error("crash histories are not kept", "err", err)
	}
}
