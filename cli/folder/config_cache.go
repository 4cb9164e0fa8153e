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

// Known is what of a configuration work and mail need: who keeps the work, and who there is. It is kept for the time
// when the file is refused and no controller runs.
type Known struct {
	Name   string         `json:"name"`
	Store  city.WorkStore `json:"store,omitzero"`
	Rigs   []knownRig     `json:"rigs,omitempty"` // those that can be worked in
	Agents []knownAgent   `json:"agents,omitempty"`
}

type knownRig struct {
	Name   string `json:"name"`
	Path   string `json:"path"` // from the city's folder, if it is inside
	Prefix string `json:"prefix"`
}

// knownAgent is an agent, or, of most members, a pool.
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

// KnownPath returns the file that keeps what is known of a city.
func KnownPath(dir string) string { return filepath.Join(StateDir(dir), "known.json") }

// KeepKnown writes down in the city at a path what is known of a configuration that has been read, unless that is what
// is written already.
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

// KnownAt is what is known of a city whose file is refused: what can still be read of the file, else what a controller
// wrote down last. It is nil if that is nothing.
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

// Snapshot is the city as far as it is known: nobody in it runs.
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

// Letterbox is a city without a controller whose file is refused: mail comes and goes by what is known of it.
type Letterbox struct {
	city.Control
	As *city.Snapshot
}

func (l Letterbox) Snapshot(context.Context) (*city.Snapshot, error) { return l.As, nil }

// Bead implements city.Getter.
func (l Letterbox) Bead(ctx context.Context, id string) (beads.Bead, error) {
	return city.GetBead(ctx, l.Control, id)
}

// NeedsFile adds to a refusal of the file why a command cannot do without it, and what to do.
func NeedsFile(err error, why string) error {
	if _, refused := errors.AsType[*config.Error](err); !refused {
		return err
	}
	_, text := exit.Verdict(err)
	return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("%s\n%s", text, why)}
}

// UnknownWork is why there is no work and no mail.
const UnknownWork = "who keeps the work, or who there is, cannot be told from it, and no " +
	"controller has written it down: mend the file and try again"

// WorkStore says who keeps the work of a configuration.
func WorkStore(c *config.City) city.WorkStore {
	by := city.WorkStore{Provider: c.Beads.Keeper()}
	by.Host, by.Port = c.Dolt.Server()
	return by
}
