package folder

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/internal/disk"
)

// ConfigCache is the part of a configuration that work and mail need. It is used if the configuration is invalid and no
// controller is running.
type ConfigCache struct {
	Name   string         `json:"name"`
	Store  city.WorkStore `json:"store,omitzero"`
	Rigs   []cachedRig    `json:"rigs,omitempty"` // rigs with a usable store
	Agents []cachedAgent  `json:"agents,omitempty"`
}

type cachedRig struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // relative to the city's folder if inside it
	Prefix string `json:"prefix"`
}

type cachedAgent struct {
	Name string `json:"name"`
	Rig  string `json:"rig,omitempty"`
	Most *int   `json:"most,omitempty"`
}

func cacheOf(c *config.City) ConfigCache {
	k := ConfigCache{Name: c.Workspace.Name, Store: WorkStore(c)}
	for _, r := range c.Rigs {
		if r.Problem == "" {
			path := r.Path
			if inside, err := filepath.Rel(c.Path, path); err == nil && filepath.IsLocal(inside) {
				path = inside
			}
			k.Rigs = append(k.Rigs, cachedRig{r.Name, path, r.Prefix})
		}
	}
	for i := range c.Agents {
		a := cachedAgent{Name: c.Agents[i].Qualified(), Rig: c.Agents[i].Rig}
		if p := c.Agents[i].Pool; p != nil {
			a.Most = &p.Max
		}
		k.Agents = append(k.Agents, a)
	}
	return k
}

// ConfigCachePath returns the path of the file in which a city's ConfigCache is saved.
func ConfigCachePath(dir string) string { return filepath.Join(StateDir(dir), "known.json") }

// SaveConfigCache saves a configuration's ConfigCache in the city's folder.
func SaveConfigCache(at string, c *config.City) error {
	data, err := json.Marshal(cacheOf(c))
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if have, err := disk.ReadFile(ConfigCachePath(at)); err == nil && slices.Equal(have, data) {
		return nil
	}
	return disk.Save(ConfigCachePath(at), data, 0o600)
}

// LoadConfigCache returns the valid parts of an invalid configuration, or else what a controller saved. It returns nil
// if there is neither.
func LoadConfigCache(dir string) *ConfigCache {
	if c := SourceOf(dir).LoadPartial(); c != nil {
		k := cacheOf(c)
		return &k
	}
	var k ConfigCache
	data, err := disk.ReadFile(ConfigCachePath(dir))
	if err != nil || json.Unmarshal(data, &k) != nil || k.Name == "" {
		return nil
	}
	if by := os.Getenv("GC_BEADS"); by != "" {
		k.Store.Provider = config.Beads{Provider: by}.Keeper()
	}
	return &k
}

// Snapshot returns a snapshot with the cached parts of the city. It shows no agent as running.
func (k *ConfigCache) Snapshot(dir string) *city.Snapshot {
	s := &city.Snapshot{Name: k.Name, Path: dir, Store: k.Store}
	for _, r := range k.Rigs {
		path := r.Path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		s.Rigs = append(s.Rigs, city.Rig{Name: r.Name, Path: path, Prefix: r.Prefix})
	}
	for _, a := range k.Agents {
		pool := ""
		if a.Most != nil {
			pool = a.Name
			s.Pools = append(s.Pools, city.Pool{Name: a.Name, Rig: a.Rig, Max: *a.Most})
		}
		if a.Most == nil || *a.Most == 1 {
			s.Agents = append(s.Agents, city.Agent{Name: a.Name, Rig: a.Rig, Pool: pool})
		}
	}
	return s
}

// MailResolver is a city.Control that finds mail recipients in the snapshot As.
type MailResolver struct {
	city.Control
	As *city.Snapshot
}

func (l MailResolver) Snapshot(context.Context) (*city.Snapshot, error) { return l.As, nil }

// NeedsFile appends why to a configuration error. Other errors are returned unchanged.
func NeedsFile(err error, why string) error {
	if _, invalid := errors.AsType[*config.Error](err); !invalid {
		return err
	}
	_, text := exit.Verdict(err)
	return exit.Errorf(exit.CodeConfig, "%s\n%s", text, why)
}

// UnknownWork says why work and mail are unavailable without a valid configuration.
const UnknownWork = "the stores and agents are unknown, because the configuration is invalid and " +
	"no controller has saved a valid copy; fix the file and try again"

// WorkStore returns the work store that a configuration selects.
func WorkStore(c *config.City) city.WorkStore {
	by := city.WorkStore{Provider: c.Beads.Keeper()}
	by.Host, by.Port = c.Dolt.Server()
	return by
}
