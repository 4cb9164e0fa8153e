package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Condition is how a store's file and folder are.
type Condition struct {
	There     bool     // there is a file
	Schema    int      // its version
	Damage    []string // what is wrong with the file, the first few
	Log       int64    // bytes of the write-ahead log
	Exposed   []string // what other users may read, or write, each with its mode
	Strangers []string // what is in the folder and not the store's, in name order
}

// LargeLog is how many bytes a write-ahead log has that nobody has been able to take in for long: it is cut to
// journal_size_limit whenever nobody reads.
const LargeLog = 64 << 20

// damages is how many damages are told.
const damages = 5

// Examine reads all of the store and looks for damage. It makes nothing; what belongs to another program is an
// error, and left as it is. With an error the condition has what was seen before.
func (s *Store) Examine(ctx context.Context) (Condition, error) {
	type found struct {
		c   Condition
		err error
	}
	f, err := call(ctx, s, func(ctx context.Context) (found, error) {
		var f found
		f.c, f.err = s.examine(ctx)
		return f, nil
	})
	if err != nil {
		return Condition{}, err
	}
	return f.c, f.err
}

func (s *Store) examine(ctx context.Context) (Condition, error) {
	c, err := s.look()
	if err == nil && !c.There {
		err = s.missing("is missing")
	}
	if err != nil || !c.There {
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
		rows, err := f.read.QueryContext(ctx, fmt.Sprintf(`PRAGMA quick_check(%d)`, damages))
		if err != nil {
			return err
		}
		defer rows.Close() // its error is that of Err
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			if line != "ok" {
				c.Damage = append(c.Damage, line)
			}
		}
		return rows.Err()
	})
	return c, err
}

// look sees what the file system says.
func (s *Store) look() (c Condition, err error) {
	entries, err := os.ReadDir(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("the folder of the store of beads cannot be read: %w", err)
	}
	if info, err := os.Stat(s.folder); err == nil && info.Mode().Perm()&0o022 != 0 {
		c.Exposed = append(c.Exposed, fmt.Sprintf("%s (%v)", s.folder, info.Mode().Perm()))
	}
	for _, e := range entries {
		name := e.Name()
		// where formulas are linked for tools that look there
		if name == ".gitignore" || name == "formulas" {
			continue
		}
		if !isOwn(name) {
			c.Strangers = append(c.Strangers, name)
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // it went meanwhile
		}
		if info.Mode().Perm()&0o077 != 0 {
			c.Exposed = append(c.Exposed, fmt.Sprintf("%s (%v)", filepath.Join(s.folder, name),
				info.Mode().Perm()))
		}
		switch name {
		case File:
			c.There = true
		case File + "-wal":
			c.Log = info.Size()
		}
	}
	return c, nil
}
