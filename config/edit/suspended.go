package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"gcity/config/files"
	"path/filepath"
	"strings"
	"time"

	"gcity/config"
	"gcity/internal/disk"
)

// Errors from edits. Edits also return the errors from config.City.SuspendedFlag.
var (
	ErrChanged = errors.New("the file was changed in the meantime")
	ErrInUse   = errors.New("this rig has agents")
)

const lockWait = 5 * time.Second

// SetSuspended sets the key `suspended` of a target. For an agent from another file, it uses a [[patches.agents]] block
// in city.toml. Resuming removes the text that suspending has added, or else sets the key to false.
//
// If the configuration is invalid, the error is a *config.Error. ErrChanged means that another program has edited the
// file. The error is ErrNoAgent or ErrNoRig for an unknown name, ErrMember for a member, and ErrAmbiguous for an
// ambiguous name.
func SetSuspended(src config.Source, t config.Target, on bool) error {
	dir, err := config.Canonical(src.Dir)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	src.Dir = dir
	unlock, err := lockEdits(dir)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	defer unlock()
	path := filepath.Join(dir, config.FileName)
	before, err := files.ReadSource(path)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	c, err := src.Parse(before)
	if err != nil {
		return err
	}
	s, err := placeOf(c, t)
	if err != nil || s.On == on {
		return err
	}
	if filepath.IsAbs(s.File) {
		return s.externalChange(on)
	}
	if s.File != config.FileName {
		path = filepath.Join(dir, s.File)
		if before, err = files.ReadSource(path); err != nil {
			return fmt.Errorf("cannot edit the configuration: %w", err)
		}
	}
	after, err := s.set(before, on)
	if err != nil {
		return err
	}
	memo, key := addedIn(dir), s.key(s.File)
	if on {
		memo.note(key, before, after)
		if err := memo.write(dir); err != nil {
			return err
		}
		return replace(path, before, after)
	}
	if left := s.unset(src, t, before, memo); left != nil {
		after = left
	}
	if err := replace(path, before, after); err != nil {
		return err
	}
	delete(memo, key)
	// an outdated entry is harmless, because resuming checks it
	_ = memo.write(dir)
	return nil
}

func (s flagPlace) externalChange(on bool) error {
	what := fmt.Sprintf("the %s %q is declared", strings.TrimSuffix(s.List, "s"), s.Name)
	if s.List == "workspace" || strings.HasPrefix(s.List, "patches.") || s.Rig != "" {
		what = "suspended is set"
	}
	return fmt.Errorf("%s in %s, which other cities may use, so gcity does not edit it; set "+
		"suspended = %t there by hand", what, s.File, on)
}

func (s flagPlace) unset(
	src config.Source, t config.Target, data []byte, memo addedLines,
) []byte {
	root, faults := config.ParseTOML(data)
	if len(faults) > 0 {
		return nil
	}
	flag := s.table(root).Get("suspended")
	if flag == nil {
		return nil
	}
	return memo.without(s.key(s.File), data, flag.Value, func(left []byte) ([]byte, error) {
		then := s
		if s.File == config.FileName {
			c, err := src.Parse(left)
			if err != nil {
				return nil, err
			}
			if then, err = placeOf(c, t); err != nil {
				return nil, err
			}
		}
		return then.set(left, true)
	})
}

// Replace replaces the content of a source file of the city in dir. It returns ErrChanged if the file does not contain
// before.
func Replace(dir, path string, before, after []byte) error {
	unlock, err := lockEdits(dir)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	defer unlock()
	return replace(path, before, after)
}

func replace(path string, before, after []byte) error {
	err := disk.WriteFileIf(path, after, 0o644, func() error {
		now, err := files.ReadSource(path)
		if err == nil && !bytes.Equal(now, before) {
			err = ErrChanged
		}
		return err
	})
	switch {
	case errors.Is(err, ErrChanged):
		return fmt.Errorf("cannot edit %s: %w by another program; nothing was written; try again",
			path, err)
	case err != nil:
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	return nil
}

func lockEdits(dir string) (unlock func(), err error) {
	state := filepath.Join(dir, ".gc")
	if err := disk.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(state, "config.lock")
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	l, err := disk.AwaitLock(ctx, path)
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, fmt.Errorf("another edit has kept %s locked for %s; find the process that "+
			"has the file open, and try again", path, lockWait)
	case err != nil:
		return nil, err
	}
	// if this fails, the kernel releases the lock when the process exits
	return func() { _ = l.Release() }, nil
}
