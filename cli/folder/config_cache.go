package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/internal/disk"
)

// Known is the part of a configuration that work and mail need: the stores and the agents. It is used while the
// configuration is invalid and no controller is running.
type Known struct {
	Name   string         `json:"name"`
	Store  city.WorkStore `json:"store,omitzero"`
	Rigs   []knownRig     `json:"rigs,omitempty"` // rigs with a usable store
	Agents []knownAgent   `json:"agents,omitempty"`
}

type knownRig struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // relative to the city's folder if it is inside that folder
	Prefix string `json:"prefix"`
}

// knownAgent is an agent. Most members of a pool are represented by the pool.
type knownAgent struct {
	Name string `json:"name"`
	Rig  string `json:"rig,omitempty"`
	Most *int   `json:"most,omitempty"`
}

func knownOf(c *config.City) Known {
	k := Known{Name: c.Workspace.Name, Store: WorkStore(c)}
	for _, r := range c.Rigs {
		if r.Problem == "" {
			path := r.Path
			if inside, err := filepath.Rel(c.Path, path); err == nil && filepath.IsLocal(inside) {
				path = inside
			}
			k.Rigs = append(k.Rigs, knownRig{r.Name, path, r.Prefix})
		}
	}
	for i := range c.Agents {
		a := knownAgent{Name: c.Agents[i].Qualified(), Rig: c.Agents[i].Rig}
		if p := c.Agents[i].Pool; p != nil {
			a.Most = &p.Max
		}
		k.Agents = append(k.Agents, a)
	}
	return k
}

// KnownPath returns the path of the file with the saved Known of a city.
func KnownPath(dir string) string { return filepath.Join(StateDir(dir), "known.json") }

// KeepKnown saves the Known of a configuration for the city at a path, unless the file is up to date.
func KeepKnown(at string, c *config.City) error {
	data, err := json.Marshal(knownOf(c))
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if have, err := disk.ReadFile(KnownPath(at)); err == nil && slices.Equal(have, data) {
		return nil
	}
	return disk.Save(KnownPath(at), data, 0o600)
}

// KnownAt returns the Known of a city with an invalid configuration: either what can still be read from the file,
// or what a controller saved last. It returns nil if neither exists.
func KnownAt(dir string) *Known {
	if c := SourceOf(dir).Legible(); c != nil {
		k := knownOf(c)
		return &k
	}
	var k Known
	data, err := disk.ReadFile(KnownPath(dir))
	if err != nil || json.Unmarshal(data, &k) != nil || k.Name == "" {
		return nil
	}
	if by := os.Getenv("GC_BEADS"); by != "" {
		k.Store.Provider = config.Beads{Provider: by}.Keeper()
	}
	return &k
}

// Snapshot returns a snapshot of the known parts of the city, without running agents.
func (k *Known) Snapshot(dir string) *city.Snapshot {
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

// Letterbox is a city with an invalid configuration and without a controller. It resolves the receivers of mail
// with Known.
type Letterbox struct {
	city.Control
	As *city.Snapshot
}

func (l Letterbox) Snapshot(context.Context) (*city.Snapshot, error) { return l.As, nil }

// Bead implements city.Getter.
func (l Letterbox) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return city.GetBead(ctx, l.Control, id)
}

// NeedsFile adds to a configuration error why the command needs the configuration, and what to do.
func NeedsFile(err error, why string) error {
	if _, refused := errors.AsType[*config.Error](err); !refused {
		return err
	}
	_, text := exit.Verdict(err)
	return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("%s\n%s", text, why)}
}

// UnknownWork is the reason why work and mail are unavailable without a valid configuration.
const UnknownWork = "the configuration names the stores and agents, and no controller has saved " +
	"a copy of them: correct the file and try again"

// WorkStore returns the store that a configuration selects.
func WorkStore(c *config.City) city.WorkStore {
	by := city.WorkStore{Provider: c.Beads.Keeper()}
	by.Host, by.Port = c.Dolt.Server()
	return by
}
