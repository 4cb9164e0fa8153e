package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Condition is the state of a store's file and folder.
type Condition struct {
	Exists       bool
	Schema       int
	Damage       []string // the first few problems found in the file
	Log          int64    // size of the write-ahead log in bytes; 0 if a large log is checkpointed
	Exposed      []string // files with permissions for other users, each with its mode
	ForeignFiles []string // files in the folder that do not belong to the store, sorted
}

// LargeLog is the size in bytes above which a write-ahead log is suspicious. Such a log has not been checkpointed for a
// long time.
const LargeLog = 64 << 20

const maxDamage = 5

// Examine checks the whole store for damage. It does not create any file or change any bead. After an error, the
// condition contains the problems found so far.
func (s *Store) Examine(ctx context.Context) (Condition, error) {
	return call(ctx, s, s.examine)
}

func (s *Store) examine(ctx context.Context) (Condition, error) {
	c, err := s.inspectFolder()
	if err == nil && !c.Exists {
		err = s.missing("is missing")
	}
	if err != nil || !c.Exists {
		return c, err
	}
	f, err := s.open(ctx, false)
	if err != nil || f == nil {
		return c, err
	}
	err = s.attempt(ctx, func() error {
		if err := f.read.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&c.Schema); err != nil {
			return err
		}
		c.Damage = nil
		rows, err := f.read.QueryContext(ctx, fmt.Sprintf(`PRAGMA quick_check(%d)`, maxDamage))
		if err != nil {
			return err
		}
		return eachRow(rows, func() error {
			var line string
			err := rows.Scan(&line)
			if err == nil && line != "ok" {
				c.Damage = append(c.Damage, line)
			}
			return err
		})
	})
	if c.Log > LargeLog && f.checkpointed(ctx) {
		c.Log = 0
	}
	return c, err
}

// checkpointed checkpoints the write-ahead log and reports whether that was possible. The log keeps its size until the
// next write.
func (f *file) checkpointed(ctx context.Context) bool {
	var busy, frames, done int64
	err := f.read.QueryRowContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`).Scan(&busy, &frames, &done)
	return err == nil && busy == 0 && frames == done
}

func (s *Store) inspectFolder() (c Condition, err error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("cannot read the bead store's folder: %w", err)
	}
	if info, err := os.Stat(s.folder); err == nil && info.Mode().Perm()&0o022 != 0 {
		c.Exposed = append(c.Exposed, fmt.Sprintf("%s (%v)", s.folder, info.Mode().Perm()))
	}
	for _, e := range entries {
		name := e.Name()
		// gcity creates the folder "formulas", which contains links for other tools
		if name == ".gitignore" || name == "formulas" {
			continue
		}
		if !isOwn(name) {
			c.ForeignFiles = append(c.ForeignFiles, name)
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // the file was removed in the meantime
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.Exposed = append(c.Exposed, fmt.Sprintf("%s (%v)", filepath.Join(s.folder, name),
				info.Mode().Perm()))
		}
		switch name {
		case File:
			c.Exists = true
		case File + "-wal":
			c.Log = info.Size()
		}
	}
	return c, nil
}
