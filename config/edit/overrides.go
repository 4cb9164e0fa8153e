package edit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gcity/internal/disk"
	"gcity/internal/toml"
)

// OverridesFile is the name of the file in .gc with values that users have set.
const OverridesFile = "overrides.toml"

type overrides struct {
	Pools map[string]int `toml:"pools"`
}

// Overrides returns the sizes that users have set for pools, by qualified name.
func Overrides(dir string) (map[string]int, error) {
	path := filepath.Join(dir, ".gc", OverridesFile)
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var o overrides
	if err == nil {
		err = toml.Decode(data, &o)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the overrides in %s: %w; repair the file or remove it",
			path, err)
	}
	return o.Pools, nil
}

// SetOverride sets the size of a pool. If size is nil, the pool's check determines the size again. The caller validates
// the name and the size.
func SetOverride(dir, pool string, size *int) error {
	unlock, err := lockEdits(dir)
	if err != nil {
		return fmt.Errorf("cannot save the override: %w", err)
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
		if err := disk.RemoveAny(path); err != nil {
			return fmt.Errorf("cannot remove the override: %w", err)
		}
		return nil
	}
	tables, err := toml.Encode(overrides{all})
	if err != nil {
		return fmt.Errorf("cannot save the override: %w", err)
	}
	const head = "# Sizes set by `gcity pool scale NAME N`; " +
		"`gcity pool scale NAME auto` removes one.\n"
	if err := disk.Save(path, append([]byte(head), tables...), 0o600); err != nil {
		return fmt.Errorf("cannot save the override: %w", err)
	}
	return nil
}
