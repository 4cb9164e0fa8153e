package depot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/cli/workstore"
)

// BuiltIn returns the store if it is the built-in one, or an error.
func (d *Store) BuiltIn() (workstore.EmbeddedStore, error) {
	if _, remote := d.Store.(*remoteStore); remote {
		return nil, errLocalOnly
	}
	s, ok := d.Store.(workstore.EmbeddedStore)
	if !ok {
		return nil, fmt.Errorf("%s stores the work of %s, so gcity cannot back it up or restore "+
			"it (%w); use %[1]s instead",
			d.By.Provider, d.Title(), errors.ErrUnsupported)
	}
	return s, nil
}

// BackupFor returns the path of the backup in args, or of the newest backup.
func (d *Store) BackupFor(args []string) (string, error) {
	if len(args) > 0 {
		from, err := filepath.Abs(args[0])
		if err == nil {
			if _, err = os.Stat(from); errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("the backup %s does not exist; the backups of this store "+
					"are in %s", from, d.BackupDir())
			}
		}
		return from, err
	}
	from, err := d.NewestBackup()
	if err == nil && from == "" {
		err = fmt.Errorf("no backup found in %s; specify a backup file, or run `%s "+
			"--new-store` to start with an empty store",
			d.BackupDir(), d.Ledger().Restore)
	}
	return from, err
}
