package edit

import (
	"bytes"
	"errors"
	"fmt"
	"gcity/config"
	"gcity/config/files"
	"gcity/internal/toml"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// NewRig describes a rig to add. Empty strings are omitted.
type NewRig struct {
	Name, Path string
	Prefix     string
	Topology   string
	Suspended  bool
}

// InvalidRig means that the edit would make the configuration invalid. The positions in Err refer to the edited text,
// which was not written.
type InvalidRig struct {
	What  string // for example: cannot add the rig "demo"
	Err   *config.Error
	Owner string // the rig that already uses the folder, or "". If it is set, Err is nil
}

func (u *InvalidRig) Error() string {
	if u.Owner != "" {
		return fmt.Sprintf("%s: its folder is already the folder of the rig %q; nothing "+
			"was written", u.What, u.Owner)
	}
	return u.What + "; nothing was written, because the configuration would be " +
		"invalid:\n" + u.Err.Error()
}

// AddRig declares a rig in city.toml and returns the new configuration. For an invalid current configuration, the error
// is a *config.Error. For an invalid result, it is an *InvalidRig, and nothing is written.
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
	what := fmt.Sprintf("cannot add the rig %q", n.Name)
	if !utf8.ValidString(n.Path) {
		return nil, fmt.Errorf("%s: the path %q is not valid UTF-8, so %s cannot contain it; "+
			"rename the folder", what, n.Path, config.FileName)
	}
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
	return editCity(src, what, usable, func(c *config.City, data []byte) ([]byte, error) {
		if owner := rigAt(c, n.Path); owner != "" {
			return nil, &InvalidRig{What: what, Owner: owner}
		}
		root, faults := config.ParseTOML(data)
		if len(faults) > 0 {
			return nil, faults[0]
		}
		after := appendRig(data, root, keys)
		return after, differ(data, after, func(was, is map[string]any) {
			was["rigs"] = append(decodedTables(was["rigs"]), block)
			is["rigs"] = decodedTables(is["rigs"])
		})
	})
}

func rigAt(c *config.City, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Path, path)
	}
	real := func(path string) string {
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return to
		}
		return filepath.Clean(path)
	}
	for i := range c.Rigs {
		if real(c.Rigs[i].Path) == real(path) {
			return c.Rigs[i].Name
		}
	}
	return ""
}

func appendRig(data []byte, root *toml.Node, keys []string) []byte {
	rigs := root.Get("rigs")
	if rigs == nil || rigs.Shape != toml.ShapeArray {
		return appendTable(data, "[[rigs]]", strings.Join(keys, lineBreak(data)))
	}
	return appendItem(data, rigs, "{ "+strings.Join(keys, ", ")+" }")
}

// appendItem appends a table to a list in brackets: on a line of its own if the last table is alone on its line.
func appendItem(data []byte, list *toml.Node, item string) []byte {
	insert := func(at int, text string) { data = cut(data, toml.Span{Start: at, End: at}, text) }
	if len(list.Kids) == 0 {
		insert(list.Value.Start+1, item)
		return data
	}
	last := list.Kids[len(list.Kids)-1]
	indent := data[bytes.LastIndexByte(data[:last.At], '\n')+1 : last.At]
	end := itemEnd(data, last)
	next := end + toml.LineEnd(data[end:]) + 1
	switch comma := bytes.HasPrefix(bytes.TrimLeft(data[end:], " \t"), []byte(",")); {
	case len(bytes.TrimSpace(indent)) > 0:
		insert(end, ", "+item)
	case list.Value.End < next:
		insert(end, ","+lineBreak(data)+string(indent)+item)
	case comma:
		insert(next, string(indent)+item+","+lineBreak(data))
	default:
		insert(next, string(indent)+item+lineBreak(data))
		insert(end, ",")
	}
	return data
}

// itemEnd returns the offset after the closing brace of an inline table. Between the last key and this brace, there can
// be comments.
func itemEnd(data []byte, t *toml.Node) int {
	end := t.At
	var within func(n *toml.Node)
	within = func(n *toml.Node) {
		for _, kid := range n.Kids {
			if end = max(end, kid.Line.End); kid.Line.End == 0 { // dotted keys
				within(kid)
			}
		}
	}
	within(t)
	for end < len(data) && data[end] != '}' {
		if end++; data[end-1] == '#' {
			end += toml.LineEnd(data[end:])
		}
	}
	return min(end+1, len(data))
}

// RemoveRig removes a rig, its patches and its overrides from city.toml, and returns the new configuration. If agents
// is true, it also removes the rig's agents. Otherwise, it returns ErrInUse if the rig has agents. It returns an error
// if parts of the rig are in other files.
func RemoveRig(src config.Source, name string, agents bool) (*config.City, error) {
	what := fmt.Sprintf("cannot remove the rig %q", name)
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
		after := without(data, name)
		return after, differ(data, after, func(was, is map[string]any) {
			for _, m := range []map[string]any{was, is} {
				withoutRig(m, name)
			}
		})
	})
}

func declaredHere(c *config.City, rig string) error {
	elsewhere := func(what string, o config.Origin) error {
		return fmt.Errorf("%s is declared at %s, which gcity does not edit; remove it "+
			"there by hand",
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

// editCity applies change to city.toml and returns the new configuration. It writes the file only if the configuration
// is valid and accept, which may be nil, returns no error.
func editCity(
	src config.Source, what string, accept func(*config.City) error,
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
		return nil, &InvalidRig{What: what, Err: wrong}
	}
	if err == nil && accept != nil {
		err = accept(c)
	}
	if err != nil {
		return nil, err
	}
	return c, replace(path, before, after)
}

// differ returns an error if an edit changed more than intended. ignoreIntended adjusts the values before and after the
// edit so that only unintended changes remain. differ uses a different parser than the edit, to detect errors in the
// edit.
func differ(before, after []byte, ignoreIntended func(was, is map[string]any)) error {
	was, err := toml.Values(before)
	var is map[string]any
	if err == nil {
		is, err = toml.Values(after)
	}
	if err == nil {
		ignoreIntended(was, is)
		if !reflect.DeepEqual(was, is) {
			err = errors.New("the edit would also change other keys")
		}
	}
	if err != nil {
		return fmt.Errorf("cannot edit %s without changing anything else (%w); edit it by hand",
			config.FileName, err)
	}
	return nil
}
