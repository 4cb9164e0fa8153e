package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

// builtIn returns the store of a depot if gcity keeps it itself.
func (d *depot) builtIn() (embeddedStore, error) {
	s, ok := d.store.(embeddedStore)
	if !ok {
		return nil, fmt.Errorf("the work of %s is kept by %s; back it up and restore it with that program: %w",
			d.title(), d.by.Provider, errors.ErrUnsupported)
	}
	return s, nil
}

func (a *app) beadBackup() *cobra.Command {
	return a.withWork(&cobra.Command{
		Use: "backup [FILE]", Short: "Copy the whole store to a file, while it is in use",
		Args: between(0, 1),
		Long: `backup writes a consistent copy of the store, checks it, and then names it FILE.
Without FILE the copy goes to the folder .gc/backups of the city, where "bead
restore" finds it. A running city backs up its stores there once a day and keeps
the three newest of these; copies made by this command are kept until you delete
them.`,
		Example: `  gcity bead backup
  gcity bead backup --rig shop /mnt/safe/shop.db`,
	}, false, func(ctx context.Context, d *depot, args []string) error {
		s, err := d.builtIn()
		if err != nil {
			return err
		}
		made, err := a.backup(ctx, d, s, args)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.WriteJSON(map[string]any{"file": made.Path, "beads": made.Beads})
		}
		a.Sayf("backed up %s of %s to %s", output.Counted(made.Beads, "bead"), d.title(),
			output.SafeLine(made.Path))
		return nil
	})
}

func (a *app) backup(
	ctx context.Context, d *depot, s embeddedStore, args []string,
) (storeCopy, error) {
	if len(args) == 0 {
		return d.backUp(ctx, s, manual, a.Now())
	}
	to, err := filepath.Abs(args[0])
	if err != nil {
		return storeCopy{}, err
	}
	return s.Backup(ctx, to)
}

func (a *app) beadRestore() *cobra.Command {
	var force, fresh bool
	c := a.withWork(&cobra.Command{
		Use: "restore [FILE]", Short: "Replace the store by a backup, or accept a new store",
		Args: between(0, 1),
		Long: `restore replaces the store by the backup in FILE, or by the newest one in the
folder .gc/backups of the city. The file that is there is kept as beads.db.old-N.
The city may run meanwhile: what is written during the restore goes to the old
file or to the restored store, and numbers of ids are not used again.

A city remembers which store it has. If the store is missing, empty or another
one, gcity refuses to work with it. --new-store accepts the store that is there
now, or begins an empty one; the beads of the old store are then gone.`,
		Example: `  gcity bead restore
  gcity bead restore --rig shop /mnt/safe/shop.db
  gcity bead restore --new-store`,
	}, true, func(ctx context.Context, d *depot, args []string) error {
		if fresh && (force || len(args) > 0) {
			return exit.Usage("--new-store takes neither FILE nor --force")
		}
		s, err := d.builtIn()
		if err != nil {
			return err
		}
		var done storeRecovered
		from := ""
		if fresh {
			done, err = s.Accept(ctx)
		} else {
			if from, err = d.backupFor(args); err != nil {
				return err
			}
			done, err = s.Recover(ctx, from, force)
		}
		if err != nil {
			return err
		}
		return a.restored(ctx, d, from, done)
	})
	c.Flags().BoolVar(&force, "force", false, "replace a store that is in order, too")
	c.Flags().BoolVar(&fresh, "new-store", false, "accept the store that is there, or an empty one")
	return c
}

// backupFor returns the backup that the arguments name.
func (d *depot) backupFor(args []string) (string, error) {
	if len(args) > 0 {
		return filepath.Abs(args[0])
	}
	from, err := d.newestBackup()
	if err == nil && from == "" {
		text := fmt.Sprintf("there is no backup in %s; name a file, or run `%s --new-store` to begin an empty store",
			d.backupDir(), d.ledger().Restore)
		err = &city.Error{Code: city.NotFound, Message: text}
	}
	return from, err
}

// restored reports a restore, to the caller and in the event log.
func (a *app) restored(ctx context.Context, d *depot, from string, done storeRecovered) error {
	text := fmt.Sprintf("restored %s of %s from %s", output.Counted(done.Beads, "bead"), d.title(),
		from)
	if from == "" {
		text = fmt.Sprintf("accepted a new store of %s with %s", d.title(),
			output.Counted(done.Beads, "bead"))
	}
	if a.JSON {
		facts := map[string]any{"from": from, "beads": done.Beads, "kept": done.Kept}
		if err := a.WriteJSON(facts); err != nil {
			return err
		}
	} else {
		a.Sayf("%s; new ids begin above %d", output.SafeLine(text), done.Last)
		if done.Kept != "" {
			a.Sayf("  the file that was there is %s", output.SafeLine(done.Kept))
		}
	}
	facts := map[string]any{"rig": d.rig, "from": from, "beads": done.Beads, "kept": done.Kept}
	payload, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	e := events.Event{Type: events.StoreRestored, Subject: d.rig, Message: text, Payload: payload}
	return a.emit(ctx, d.city, e)
}
