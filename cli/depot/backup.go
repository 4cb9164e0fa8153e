package depot

import (
	"errors"
	"fmt"
	"path/filepath"

	"gcity/city"
	"gcity/cli/workstore"
)

// BuiltIn returns the store of a depot if it is the built-in one, otherwise an error.
func (d *Depot) BuiltIn() (workstore.EmbeddedStore, error) {
	s, ok := d.Store.(workstore.EmbeddedStore)
	if !ok {
		return nil, fmt.Errorf("the work of %s is stored by %s; back it up and restore it with "+
			"that program: %w",
			d.Title(), d.By.Provider, errors.ErrUnsupported)
	}
	return s, nil
}

// BackupFor returns the path of the backup that the arguments select.
func (d *Depot) BackupFor(args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	from, err := d.NewestBackup()
	if err == nil && from == "" {
		text := fmt.Sprintf("no backup in %s; name a file, or run `%s --new-store` to start with "+
			"an empty store",
			d.BackupDir(), d.Ledger().Restore)
		err = &city.Error{Code: city.NotFound, Message: text}
	}
	return from, err
}
