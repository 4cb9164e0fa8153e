package formula

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/disk"
)

// Linked is the result of Link. Its lists contain formula names, sorted.
type Linked struct {
	Made, Removed []string
	// formulas for which Link kept a regular file
	Kept []string
}

// Link makes dir contain a symbolic link to the file of each selected formula. dir is a folder in the ".beads" folder
// of a city or rig. Link removes all other links that are named like formulas, but never touches regular files. After
// an error, it continues with the remaining links.
func Link(dir string, selected []Source) (Linked, error) {
	var done Linked
	var errs []error
	if len(selected) > 0 {
		err := disk.OwnFolder(filepath.Dir(dir))
		if err == nil {
			err = disk.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return done, fmt.Errorf("cannot create the formula folder: %w", err)
		}
	}
	entries, err := disk.ReadDir(dir)
	if err != nil && (len(selected) > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return done, fmt.Errorf("cannot read the formula folder: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), Suffix)
		if !ok || e.Type() != fs.ModeSymlink ||
			slices.ContainsFunc(selected, func(s Source) bool { return s.Name == name }) {
			continue
		}
		if err := disk.RemoveAny(filepath.Join(dir, e.Name())); err != nil {
			errs = append(errs, fmt.Errorf("cannot remove the link to a removed formula: %w",
				err))
			continue
		}
		done.Removed = append(done.Removed, name)
	}
	for _, s := range selected {
		made, kept, err := link(filepath.Join(dir, s.Name+Suffix), s.Path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("cannot link formula %s: %w", s.Name, err))
		case made:
			done.Made = append(done.Made, s.Name)
		case kept:
			done.Kept = append(done.Kept, s.Name)
		}
	}
	return done, errors.Join(errs...)
}

func link(path, target string) (made, kept bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return false, false, err
	case info.Mode().Type() != fs.ModeSymlink:
		return false, true, nil
	default:
		if now, err := os.Readlink(path); err == nil && now == target {
			return false, false, nil
		}
	}
	return true, false, disk.Link(target, path)
}
