package edit

import (
	"errors"
	"fmt"
	"gcity/config"
	"gcity/config/files"
	"gcity/internal/toml"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// NewRig is a rig that is to be declared. Its strings are written as they are; empty ones are left out.
type NewRig struct {
	Name, Path string
	Prefix     string
	Topology   string
	Suspended  bool
}

// Unfit says that an edit was not made, because the configuration would be refused with it. Err says by what, with
// places in the file as it would have been.
type Unfit struct {
	What string // "the rig \"demo\" cannot be added"
	Err  *config.Error
}

func (u *Unfit) Error() string {
	return u.What + ", and nothing was written; the configuration would " +
		"be refused:\n" + u.Err.Error()
}

// AddRig declares a rig in the city.toml, and gives the configuration that there is then. Nothing else in the
// file changes. A configuration that is refused as it is, is an *Error; one that would be refused
// with the rig is an *Unfit, and stays as it was. A folder that cannot be worked in, and the city's own, is
// refused, too.
func AddRig(src config.Source, n NewRig) (*config.City, error) {
	keys := []string{"name = " + toml.Quote(n.Name), "path = " + toml.Quote(n.Path)}
	block := map[string]any{"name": n.Name, "path": n.Path}
	for key, value := range map[string]string{"prefix": n.Prefix, "topology": n.Topology} {
		if value != "" {
			keys = append(keys, key+" = "+toml.Quote(value))
			block[key] = value
		}
	}
	slices.Sort(keys[2:])
	if n.Suspended {
		keys = append(keys, "suspended = true")
		block["suspended"] = true
	}
	what := fmt.Sprintf("the rig %q cannot be added", n.Name)
	usable := func(c *config.City) error {
		r := c.Rig(n.Name)
		if r.Problem != "" {
			return fmt.Errorf("%s: %s", what, r.Problem)
		}
		if real, err := filepath.EvalSymlinks(r.Path); err == nil && real == c.Path {
			return fmt.Errorf("%s: %s is the city's own folder; agents without a dir work "+
				"there already", what, n.Path)
		}
		return nil
	}
	return editCity(src, what, usable, func(_ *config.City, data []byte) ([]byte, error) {
		root, faults := config.ParseTOML(data)
		if len(faults) > 0 {
			return nil, faults[0]
		}
		after := appendRig(data, root, keys)
		return after, differ(data, after, func(was, is map[string]any) {
			was["rigs"] = append(decodedTables(was["rigs"]), block)
			is["rigs"] = decodedTables(is["rigs"])
			// there the new one is the first
			if rigs := root.Get("rigs"); rigs != nil && rigs.Shape == toml.ShapeArray {
				all := was["rigs"].([]map[string]any)
				was["rigs"] = append([]map[string]any{block}, all[:len(all)-1]...)
			}
		})
	})
}

// appendRig is data with one rig more, in the shape of those that there are.
func appendRig(data []byte, root *toml.Node, keys []string) []byte {
	rigs := root.Get("rigs")
	if rigs == nil || rigs.Shape != toml.ShapeArray {
		return appendTable(data, "[[rigs]]", strings.Join(keys, lineBreak(data)))
	}
	inline := "{ " + strings.Join(keys, ", ") + " }"
	if len(rigs.Kids) > 0 {
		inline += ", "
	}
	return cut(data, toml.Span{Start: rigs.Value.Start + 1, End: rigs.Value.Start + 1}, inline)
}

// RemoveRig takes a rig out of the city.toml, with what is said there of it alone: patches of its agents,
// overrides of its automations, and, if agents, the agents that are declared for it. It gives the configuration
// that there is then. Comments above what goes stay, those within it go. Without agents, a rig that has some is
// ErrInUse. What stands in other files is left alone, and an error. Otherwise it is as AddRig.
func RemoveRig(src config.Source, name string, agents bool) (*config.City, error) {
	what := fmt.Sprintf("the rig %q cannot be removed", name)
	return editCity(src, what, nil, func(c *config.City, data []byte) ([]byte, error) {
		if _, err := c.SuspendedFlag(config.Target{Rig: name}); err != nil {
			return nil, err
		}
		has := c.RigAgents(name)
		if len(has) > 0 && !agents {
			return nil, fmt.Errorf("%s: %w: %s", what, ErrInUse, toml.List(has))
		}
		if err := declaredHere(c, name); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		root, faults := config.ParseTOML(data)
		if len(faults) > 0 {
			return nil, faults[0]
		}
		after, err := without(data, rigTables(root, name))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		return after, differ(data, after, func(was, is map[string]any) {
			for _, m := range []map[string]any{was, is} {
				withoutRig(m, name)
			}
		})
	})
}

// declaredHere says what of a rig is declared in a file other than city.toml; nil if nothing is.
func declaredHere(c *config.City, rig string) error {
	elsewhere := func(what string, o config.Origin) error {
		return fmt.Errorf("%s is declared at %s, which is left alone; take it out there by hand",
			what, o)
	}
	if r := c.Rig(rig); r.Origin.File != config.FileName {
		return elsewhere("it", r.Origin)
	}
	for i := range c.Agents {
		if a := &c.Agents[i]; a.Rig == rig && a.Topology == "" && a.Origin.File != config.FileName {
			return elsewhere("its agent "+a.Qualified(), a.Origin)
		}
	}
	return nil
}

// editCity changes the city.toml, if what comes of it is a configuration, and fit (nil = anything will do) accepts it.
func editCity(
	src config.Source, what string, fit func(*config.City) error,
	change func(c *config.City, data []byte) ([]byte, error),
) (*config.City, error) {
	dir, err := config.Canonical(src.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	src.Dir = dir
	unlock, err := lockEdits(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	defer unlock()
	path := filepath.Join(dir, config.FileName)
	before, err := files.ReadSource(path)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	c, err := src.Parse(before)
	if err != nil {
		return nil, err
	}
	after, err := change(c, before)
	if err != nil {
		return nil, err
	}
	c, err = src.Parse(after)
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		return nil, &Unfit{what, wrong}
	}
	if err == nil && fit != nil {
		err = fit(c)
	}
	if err != nil {
		return nil, err
	}
	return c, replace(path, before, after)
}

// differ decodes a file before and after an edit, with another parser than the one that found the places. even
// makes both equal, if the edit did what it was to do and nothing else.
func differ(before, after []byte, even func(was, is map[string]any)) error {
	was, err := toml.Values(before)
	var is map[string]any
	if err == nil {
		is, err = toml.Values(after)
	}
	if err == nil {
		even(was, is)
		if !reflect.DeepEqual(was, is) {
			err = errors.New("the result would differ in more")
		}
	}
	if err != nil {
		return fmt.Errorf("cannot edit %s without touching anything else (%w); do it by hand",
			config.FileName, err)
	}
	return nil
}
