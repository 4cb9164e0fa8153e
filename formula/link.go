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

// Linked says what Link did, as names of formulas in order.
type Linked struct {
	Made, Removed []string
	// real files that stand where a link would be; they are left alone, and win
	Kept []string
}

// Link makes dir, a folder in a scope's ".beads", show the winners: a symbolic link for each, named like its file.
// Both folders are made if need be, see disk.OwnFolder. Every link in dir that is named like a formula belongs to
// Link, so one that no winner has is removed; real files are never touched. Each link comes and changes in one
// step, and a second run with the same winners changes nothing. On an error the rest is done all the same.
func Link(dir string, winners []Source) (Linked, error) {
	var done Linked
	var errs []error
	if len(winners) > 0 {
		err := disk.OwnFolder(filepath.Dir(dir))
		if err == nil {
			err = disk.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return done, fmt.Errorf("cannot make the folder of formulas: %w", err)
		}
	}
	entries, err := disk.ReadDir(dir)
	if err != nil && (len(winners) > 0 || !errors.Is(err, fs.ErrNotExist)) {
		return done, fmt.Errorf("cannot read the folder of formulas: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), Suffix)
		if !ok || e.Type() != fs.ModeSymlink ||
			slices.ContainsFunc(winners, func(s Source) bool { return s.Name == name }) {
			continue
		}
		if err := disk.Remove(filepath.Join(dir, e.Name())); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("cannot remove a link to a formula that is no more: %w",
				err))
			continue
		}
		done.Removed = append(done.Removed, name)
	}
	for _, s := range winners {
		made, kept, err := link(filepath.Join(dir, s.Name+Suffix), s.Path)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("cannot link the formula %s: %w", s.Name, err))
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
