package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/disk"
)

const backupLimit = 2 * time.Minute

// ErrNone is returned for a backup of a store that does not exist yet.
var ErrNone = errors.New("the bead store does not exist yet")

// errDamaged is returned for a file that SQLite can open but that has inconsistent content.
var errDamaged = errors.New("it is damaged")

// BackupInfo describes a file that contains all beads of a store.
type BackupInfo struct {
	Path string
	Identity
	Beads int
}

// Backup writes a consistent copy of the store to a file, and replaces an existing file. The file is never incomplete.
// On a local disk, backups and writers do not block each other.
func (s *Store) Backup(ctx context.Context, path string) (BackupInfo, error) {
	ctx, cancel := limited(ctx, backupLimit)
	defer cancel()
	return call(ctx, s, func(ctx context.Context) (BackupInfo, error) {
		f, err := s.open(ctx, false)
		if err != nil {
			return BackupInfo{}, err
		}
		if f == nil {
			return BackupInfo{}, ErrNone
		}
		c, err := duplicate(ctx, s.path, path+".unfinished", nil)
		if err == nil {
			err = os.Rename(c.Path, path)
			c.Path = path
		}
		if err == nil {
			err = disk.SyncDir(filepath.Dir(path))
		}
		if err != nil {
			err = fmt.Errorf("cannot back up the bead store: %w", s.explain(ctx, err))
			return BackupInfo{}, errors.Join(err, gone(os.Remove(path+".unfinished")))
		}
		return c, nil
	})
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func duplicate(ctx context.Context, from, to string,
	edit func(*sql.DB) error) (c BackupInfo, err error) {
	if err := gone(os.Remove(to)); err != nil {
		return c, err
	}
	// VACUUM INTO accepts an empty file and keeps its mode
	if err := mknod(to); err != nil {
		return c, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, gone(os.Remove(to)))
		}
	}()
	option := "mode=ro&"
	if frozen(from) {
		option = "immutable=1&"
	}
	if err := withDatabase(from, option, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `VACUUM INTO ?`, to)
		return err
	}); err != nil {
		return c, err
	}
	if edit != nil {
		if err := withDatabase(to, "", edit); err != nil {
			return c, err
		}
	}
	if c, err = inspect(ctx, to); err != nil {
		return c, err
	}
	return c, disk.SyncFile(to)
}

func withDatabase(path, option string, use func(*sql.DB) error) error {
	db, err := pool(path, 1, option)
	if err != nil {
		return err
	}
	return errors.Join(use(db), db.Close())
}

func inspect(ctx context.Context, path string) (c BackupInfo, err error) {
	if info, err := os.Stat(path); err != nil {
		return c, err
	} else if !info.Mode().IsRegular() || info.Size() == 0 {
		return c, errors.New("it is empty or not a regular file")
	}
	c.Path = path
	return c, withDatabase(path, "mode=ro&", func(db *sql.DB) error {
		var app, version, tables int
		const kind = `SELECT a.application_id, v.user_version
			FROM pragma_application_id a, pragma_user_version v`
		if err := db.QueryRowContext(ctx, kind).Scan(&app, &version); err != nil {
			return err
		}
		if app != application {
			return errors.New("it belongs to another program")
		}
		if version > newest {
			return fmt.Errorf("it was written by a newer gcity (schema %d; this gcity supports %d)",
				version, newest)
		}
		var state string
		if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&state); err != nil {
			return err
		}
		if state != "ok" {
			return fmt.Errorf("%w: %s", errDamaged, state)
		}
		const facts = `SELECT last, (SELECT count(*) FROM beads),
			(SELECT count(*) FROM sqlite_schema WHERE name = 'identity') FROM store`
		err := db.QueryRowContext(ctx, facts).Scan(&c.Last, &c.Beads, &tables)
		if err != nil || tables == 0 {
			return err
		}
		return db.QueryRowContext(ctx, `SELECT id FROM identity`).Scan(&c.ID)
	})
}

func setAside(path string) (string, error) {
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.old-%d", path, n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, nil
		} else if err != nil {
			return "", err
		}
	}
}

func isOwn(name string) bool {
	return name == File || strings.HasPrefix(name, File+"-") ||
		strings.HasPrefix(name, File+".old-")
}
