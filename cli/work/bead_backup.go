package work

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/disk"
)

func beadBackup(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{
		Use: "backup [FILE]", Short: "Copy the whole store to a file, even while it is in use",
		Long: `backup writes a consistent copy of the store, checks it, and then renames it to FILE.
Without FILE the copy goes to .gc/backups in the city's folder, where "bead restore"
finds it. A running city backs up its stores there once a day and keeps the three
newest of these copies. Copies made by this command are kept until you delete them.`,
		Example: `  gcity bead backup
  gcity bead backup --rig shop /mnt/safe/shop.db`,
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
		s, err := d.BuiltIn()
		if err != nil {
			return err
		}
		made, err := backup(ctx, e, d, s, args)
		if err != nil {
			return err
		}
		return e.Result(map[string]any{"file": made.Path, "beads": made.Beads},
			"backed up %s of %s to %s", describe.Count(made.Beads, "bead"), d.Title(),
			output.SafeLine(made.Path))
	})
}

func backup(
	ctx context.Context, e *env.Env, d *depot.Store, s workstore.EmbeddedStore, args []string,
) (workstore.StoreCopy, error) {
	if len(args) == 0 {
		return d.BackUp(ctx, s, workstore.Manual, e.Now())
	}
	if err := d.CheckOutput(args[0]); err != nil {
		return workstore.StoreCopy{}, err
	}
	to, err := filepath.Abs(args[0])
	if err == nil {
		to, err = disk.Target(to)
	}
	if err != nil {
		return workstore.StoreCopy{}, disk.Named(err)
	}
	return s.Backup(ctx, to)
}

func beadRestore(e *env.Env) *cobra.Command {
	var force, fresh bool
	c := depot.WithWork(e, &cobra.Command{
		Use: "restore [FILE]", Short: "Replace the store with a backup, or accept a new store",
		Long: `restore replaces the store with the backup in FILE, or with the newest one in
.gc/backups in the city's folder. It keeps the current file as beads.db.old-N. The
city can keep running: what it writes during the restore goes either to the old file
or to the restored store. IDs are not reused.

A city remembers the identity of its store. If the store is missing, empty or a
different one, gcity does not use it. --new-store accepts the current store, or
creates an empty one; the beads in the old store are then lost.`,
		Example: `  gcity bead restore
  gcity bead restore --rig shop /mnt/safe/shop.db
  gcity bead restore --new-store`,
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
		if fresh && (force || len(args) > 0) {
			return exit.Usage("--new-store cannot be combined with FILE or --force")
		}
		s, err := d.BuiltIn()
		if err != nil {
			return err
		}
		var done workstore.StoreRecovered
		from := ""
		if fresh {
			done, err = s.Accept(ctx)
		} else {
			if from, err = d.BackupFor(args); err != nil {
				return err
			}
			done, err = s.Recover(ctx, from, force)
		}
		if err != nil {
			return err
		}
		return restored(ctx, e, d, from, done)
	})
	c.Flags().BoolVar(&force, "force", false, "replace the store even if it is intact")
	c.Flags().BoolVar(&fresh, "new-store", false, "accept the current store as the "+
		"city's store; create an empty one if none exists")
	return c
}

func restored(ctx context.Context, e *env.Env, d *depot.Store, from string,
	done workstore.StoreRecovered) error {
	text := fmt.Sprintf("restored %s of %s from %s", describe.Count(done.Beads, "bead"), d.Title(),
		from)
	if from == "" {
		text = fmt.Sprintf("accepted a new store with %s for %s",
			describe.Count(done.Beads, "bead"), d.Title())
	}
	if e.JSON {
		facts := map[string]any{"from": from, "beads": done.Beads, "kept": done.Kept}
		if err := e.WriteJSON(facts); err != nil {
			return err
		}
	} else {
		e.Sayf("%s; new IDs begin after %d", output.SafeLine(text), done.Last)
		if done.Kept != "" {
			e.Sayf("  the previous file is now %s", output.SafeLine(done.Kept))
		}
	}
	facts := map[string]any{"rig": d.Rig, "from": from, "beads": done.Beads, "kept": done.Kept}
	payload, err := json.Marshal(facts)
	if err != nil {
		return err
	}
	ev := events.Event{Type: events.StoreRestored, Subject: d.Rig, Message: text, Payload: payload}
	return depot.Emit(ctx, e, d.City, ev)
}
