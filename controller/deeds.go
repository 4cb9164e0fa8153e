package controller

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

// deedsFile, in the city's .gc folder, keeps what automations have done: when each ran last, which events it has
// dealt with. Records of runs may be pruned; this stays.
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
	return disk.Save(filepath.Join(dir, ".gc", deedsFile), append(data, '\n'), 0o600)
}

// readDeeds returns what is remembered of the automations of the city in dir, by scoped name. With an error it is
// what can be used of it.
func readDeeds(dir string) (map[string]automation.Memory, error) {
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", deedsFile))
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
		return nil, fmt.Errorf("what automations have done, in .gc/%s, cannot be used: %w; each "+
			"begins anew", deedsFile, err)
	case len(bad) > 0:
		return deeds, fmt.Errorf("what some automations have done, in .gc/%s, cannot be used: "+
			"%s; these begin anew", deedsFile, strings.Join(bad, "; "))
	}
	return deeds, nil
}

// decodeDeeds gives what is understood, and of the rest whose it is and what is wrong with it.
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
func Deeds(dir string) (map[string]automation.Memory, error) { return readDeeds(dir) }

// recallDeeds reads what automations did under the controller before.
func (c *Controller) recallDeeds() {
	deeds, err := readDeeds(c.o.Dir)
	if err != nil {
		c.m.work.forgot = err.Error() + "; the file is kept as .gc/" + deedsFile + badSuffix
		if failed := keepBadDeeds(c.o.Dir); failed != nil {
			c.m.work.forgot = fmt.Sprintf("%v; and the file cannot be kept: %v", err, failed)
		}
		c.o.Logger.Warn("automations begin anew", "err", c.m.work.forgot)
	}
	for name, d := range deeds {
		c.m.work.deeds[name] = d
	}
}

// badSuffix is added to the name of a file that could not be used.
const badSuffix = ".bad"

// keepBadDeeds copies a file that cannot be used: under its own name it will be replaced. What is no regular file
// is moved.
func keepBadDeeds(dir string) error {
	path := filepath.Join(dir, ".gc", deedsFile)
	data, err := disk.ReadFile(path)
	if _, unsafe := errors.AsType[*disk.UnsafeError](err); unsafe {
		_, err = disk.SetAside(path)
		return err
	}
	if err != nil {
		return err
	}
	return disk.Replace(path+badSuffix, data, 0o600)
}
