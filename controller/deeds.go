package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/automation"
	"gcity/internal/disk"
)

// deedsFile, in the city's .gc folder, keeps what automations have done: when each ran last, which events it has dealt
// with. Records of runs may be pruned; this stays.
const deedsFile = "automations.json"

// deedsVersion is what this program writes, and all that it reads.
const deedsVersion = 1

type deedsOf[A any] struct {
	Version int `json:"version"`
	Deeds   A   `json:"automations"`
}

func writeDeeds(dir string, memory []byte) error {
	data, err := json.Marshal(deedsOf[json.RawMessage]{deedsVersion, memory})
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, ".gc", deedsFile), append(data, '\n'), 0o600)
}

// readDeeds returns what is remembered of the automations of the city in dir, by scoped name.
func readDeeds(dir string) (map[string]automation.Memory, error) {
	data, err := os.ReadFile(filepath.Join(dir, ".gc", deedsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var kept deedsOf[map[string]automation.Memory]
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil && kept.Version != deedsVersion {
		err = fmt.Errorf("it has version %d, and this program reads %d", kept.Version, deedsVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("what automations have done, in .gc/%s, cannot be used: %w; each begins anew", deedsFile, err)
	}
	return kept.Deeds, nil
}

// Deeds returns what the last controller of the city in dir remembered of its automations, by scoped name.
func Deeds(dir string) (map[string]automation.Memory, error) { return readDeeds(dir) }

// recallDeeds reads what automations did under the controller before.
func (c *Controller) recallDeeds() {
	deeds, err := readDeeds(c.o.Dir)
	if err != nil {
		c.o.Logger.Warn("automations begin anew", "err", err)
		c.m.work.forgot = err.Error()
	}
	for name, d := range deeds {
		c.m.work.deeds[name] = d
	}
}
