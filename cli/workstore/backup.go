package workstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/beads/sqlite"
	"gcity/cli/folder"
	"gcity/internal/disk"
)

const (
	backupsKept = 3
	backupEvery = 24 * time.Hour

	stampLayout = "20060102T150405Z"
	daily       = "daily"
	Manual      = "manual"
)

// EmbeddedStore is the built-in store, with its operations for backup and restore.
type EmbeddedStore interface {
	Backup(ctx context.Context, path string) (sqlite.BackupInfo, error)
	Recover(ctx context.Context, from string, force bool) (sqlite.Recovered, error)
	Accept(ctx context.Context) (sqlite.Recovered, error)
}

type (
	StoreCopy      = sqlite.BackupInfo
	StoreRecovered = sqlite.Recovered
)

// LostStore returns err as a *sqlite.LostError, or nil if it is another error.
func LostStore(err error) *sqlite.LostError {
	lost, _ := errors.AsType[*sqlite.LostError](err)
	return lost
}

func (p Place) scopeFile() string {
	if p.Rig == "" {
		return "city"
	}
	return "rig-" + p.Rig
}

// Ledger returns the ledger in which the city records this place's store.
func (p Place) Ledger() sqlite.Ledger {
	at, home := disk.Real(p.Dir), disk.Real(p.City)
	if below, err := filepath.Rel(home, at); err == nil && filepath.IsLocal(below) {
		at = below
	}
	how := "gcity bead restore"
	if p.Rig != "" {
		how += " --rig " + p.Rig
	}
	if p.City == "" {
		return sqlite.Ledger{Restore: how}
	}
	file := filepath.Join(folder.StateDir(p.City), "stores", p.scopeFile()+".json")
	return sqlite.Ledger{File: file, Folder: at, Restore: how}
}

func (p Place) embedded() (*sqlite.Store, error) {
	return sqlite.OpenKnown(p.Dir, p.Prefix, p.Ledger())
}

// BackupDir returns the folder with the backups of a place's store.
func (p Place) BackupDir() string {
	return filepath.Join(folder.StateDir(p.City), "backups", p.scopeFile())
}

// A backup's file name is KIND-STORE-TIME.db.
type backupFile struct {
	path, kind, store string
	at                time.Time
	written           time.Time // differs from at if the clock was set back
}

func shortID(id string) string { return cmp.Or(id[:min(8, len(id))], "unnamed") }

func (p Place) backups() ([]backupFile, error) {
	entries, err := disk.ReadDir(p.BackupDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []backupFile
	for _, e := range entries {
		parts := strings.Split(strings.TrimSuffix(e.Name(), ".db"), "-")
		if len(parts) != 3 || !strings.HasSuffix(e.Name(), ".db") {
			continue
		}
		at, err := time.Parse(stampLayout, parts[2])
		if err != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			path := filepath.Join(p.BackupDir(), e.Name())
			all = append(all, backupFile{path, parts[0], parts[1], at, info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b backupFile) int { return b.at.Compare(a.at) })
	return all, nil
}

// NewestBackup returns the newest backup of the ledger's store. If that store has no backup, it returns the newest one
// of any store.
func (p Place) NewestBackup() (string, error) {
	all, err := p.backups()
	if err != nil || len(all) == 0 {
		return "", err
	}
	if id, ok, err := p.Ledger().Read(); ok && err == nil {
		for _, b := range all {
			if b.store == shortID(id.ID) {
				return b.path, nil
			}
		}
	}
	return all[0].path, nil
}

// lockBackups waits until no other command makes a backup of this kind.
func (p Place) lockBackups(ctx context.Context, kind string) (*disk.Lock, error) {
	lock, err := disk.AwaitLock(ctx, filepath.Join(p.BackupDir(), kind+".lock"))
	if errors.Is(err, disk.ErrLocked) {
		err = fmt.Errorf("another command is still making a backup: %w", ctx.Err())
	}
	return lock, err
}

// BackUp writes a backup of a place's store to the city's folder.
func (p Place) BackUp(
	ctx context.Context, s EmbeddedStore, kind string, now time.Time,
) (_ sqlite.BackupInfo, err error) {
	if err := disk.MkdirState(p.BackupDir(), 0o700); err != nil {
		return sqlite.BackupInfo{}, fmt.Errorf("cannot create the folder for backups: %w", err)
	}
	lock, err := p.lockBackups(ctx, kind)
	if err != nil {
		return sqlite.BackupInfo{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	all, err := p.backups()
	if err != nil {
		return sqlite.BackupInfo{}, err
	}
	at := now.UTC().Truncate(time.Second)
	if len(all) > 0 && !at.After(all[0].at) {
		// The new backup must sort first, also after the clock was set back. It must not replace a backup that was made
		// in the same second.
		at = all[0].at.Add(time.Second)
	}
	made, err := s.Backup(ctx, filepath.Join(p.BackupDir(), kind+"-new"))
	if err != nil {
		return sqlite.BackupInfo{}, err
	}
	name := kind + "-" + shortID(made.ID) + "-" + at.Format(stampLayout) + ".db"
	if err := disk.Rename(made.Path, name); err != nil {
		return sqlite.BackupInfo{}, fmt.Errorf("cannot rename the backup: %w", err)
	}
	made.Path = filepath.Join(p.BackupDir(), name)
	return made, nil
}

func (p Place) backUpDaily(ctx context.Context, now time.Time) (err error) {
	all, err := p.backups()
	if err != nil {
		return err
	}
	for _, b := range all {
		age := now.Sub(b.at)
		if age < 0 {
			age = now.Sub(b.written)
		}
		if b.kind == daily && 0 <= age && age < backupEvery {
			return nil
		}
	}
	s, err := p.embedded()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	made, err := p.BackUp(ctx, s, daily, now)
	if errors.Is(err, sqlite.ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	all, err = p.backups()
	same := slices.DeleteFunc(all, func(b backupFile) bool {
		return b.kind != daily || b.store != shortID(made.ID)
	})
	for _, old := range same[min(backupsKept, len(same)):] {
		err = errors.Join(err, folder.IgnoreNotExist(disk.Remove(old.path)))
	}
	return err
}

// backUpAll ignores lost stores, because other checks report them.
func backUpAll(ctx context.Context, all []Place, now time.Time) error {
	var failed error
	for _, p := range all {
		if p.By.Provider != "" || p.Gone() {
			continue
		}
		if err := p.backUpDaily(ctx, now); err != nil && LostStore(err) == nil {
			failed = errors.Join(failed, fmt.Errorf("the work of %s: %w", p.Title(), err))
		}
	}
	return failed
}
