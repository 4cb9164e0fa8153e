package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	burnt "github.com/BurntSushi/toml"

	"gcity/internal/disk"
)

// OverridesFile keeps, below the city's .gc folder, what operators have set by hand over what the configuration
// works out.
const OverridesFile = "overrides.toml"

type overrides struct {
	Pools map[string]int `toml:"pools"`
}

// Overrides returns the sizes that operators have set for pools, by qualified name. A city without any has no file.
func Overrides(dir string) (map[string]int, error) {
	path := filepath.Join(dir, ".gc", OverridesFile)
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var o overrides
	var meta burnt.MetaData
	if err == nil {
		meta, err = burnt.Decode(string(data), &o)
	}
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("it has the unknown key %q", meta.Undecoded()[0].String())
	}
	if err != nil {
		return nil, fmt.Errorf("the overrides in %s cannot be read: %w; mend the file or remove it",
			path, err)
	}
	return o.Pools, nil
}

// SetOverride sets the size of a pool by hand, or with nil gives it back to its check. The name and the bounds are the
// caller's to check.
func SetOverride(dir, pool string, size *int) error {
	unlock, err := lockEdits(dir)
	if err != nil {
		return fmt.Errorf("the override cannot be kept: %w", err)
	}
	defer unlock()
	all, err := Overrides(dir)
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]int{}
	}
	delete(all, pool)
	if size != nil {
		all[pool] = *size
	}
	path := filepath.Join(dir, ".gc", OverridesFile)
	if len(all) == 0 {
		if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the override cannot be taken back: %w", err)
		}
		return nil
	}
	var b strings.Builder
	b.WriteString("# Sizes set by `gcity pool scale NAME N`; `gcity pool scale NAME auto` " +
		"takes one out.\n")
	if err := burnt.NewEncoder(&b).Encode(overrides{all}); err != nil {
		return fmt.Errorf("the override cannot be kept: %w", err)
	}
	if err := disk.Save(path, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("the override cannot be kept: %w", err)
	}
	return nil
}
