package depot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/disk"
)

// An operation is a change with a name that the user chooses. Repeating the command with the same name does not repeat
// the change.

const (
	operationLabel = "op:"
	closedKey      = "closed_by_op" // metadata key
	operationLimit = 64             // length of an operation's name, in bytes
	operationPast  = 1000           // maximum number of a bead's events to search for an operation
)

// holdOperation locks the city's operations, so that two commands with the same --op do not both make the change.
func holdOperation(ctx context.Context, e *env.Env, dir string) (release func() error, err error) {
	if e.Op == "" {
		return func() error { return nil }, nil
	}
	if err := disk.MakePrivate(folder.StateDir(dir)); err != nil {
		return nil, err
	}
	lock, err := disk.AwaitLock(ctx, filepath.Join(folder.StateDir(dir), "operations.lock"))
	switch {
	case errors.Is(err, disk.ErrLocked):
		return nil, fmt.Errorf("another command with --op is still running: %w; this command "+
			"changed nothing, so run it again", ctx.Err())
	case err != nil:
		return nil, err
	}
	return lock.Release, nil
}

// Operation adds the flag --op to a command.
func Operation(e *env.Env, c *cobra.Command) {
	c.Flags().StringVar(&e.Op, "op", "",
		"a name for this change: repeating the command with the same name does not "+
			"repeat the change")
}

func checkOperation(e *env.Env) error {
	for _, r := range e.Op {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' &&
			r != '_' && r != '-' {
			return exit.Usage("invalid --op %q: use only letters, digits, \".\", \"_\" and \"-\"",
				e.Op)
		}
	}
	if len(e.Op) > operationLimit {
		return exit.Usage("invalid --op: the name has %d characters; at most %d are allowed",
			len(e.Op), operationLimit)
	}
	return nil
}

// CreateOnce creates a bead, or returns the bead that the current operation already created. announced means that the
// log contains the operation's event about that bead.
func CreateOnce(ctx context.Context, e *env.Env, d *Store, b beads.Bead) (made beads.Bead,
	announced bool, err error) {
	if err := checkOperation(e); err != nil {
		return made, false, err
	}
	if e.Op == "" {
		made, err = d.Create(ctx, b)
		return made, false, err
	}
	label := operationLabel + e.Op
	found, err := d.List(ctx, beads.Query{Labels: []string{label}, Limit: 1})
	if err != nil {
		return made, false, err
	}
	if len(found) > 0 {
		announced, err = WasReported(ctx, e, d, events.BeadCreated, found[0].ID)
		return found[0], announced, err
	}
	b.Labels = append(b.Labels, label)
	made, err = d.Create(ctx, b)
	return made, false, err
}

// MarkClosed adds the current operation to a patch that closes beads, for WasClosed. It does not use the label of
// CreateOnce, so a bead that an operation closes does not count as created by it.
func MarkClosed(e *env.Env, p beads.Patch) beads.Patch {
	if e.Op != "" {
		marked := map[string]string{closedKey: e.Op}
		maps.Copy(marked, p.SetMetadata)
		p.SetMetadata = marked
	}
	return p
}

// WasClosed reports whether the current operation closed a bead with a patch of MarkClosed.
func WasClosed(e *env.Env, b beads.Bead) bool {
	return e.Op != "" && b.Status == beads.StatusClosed && b.Metadata[closedKey] == e.Op
}

// WasReported reports whether the log contains the current operation's event of this type about a bead. Commands that
// make different changes may use the same name.
func WasReported(ctx context.Context, e *env.Env, d *Store, kind, id string) (bool, error) {
	if err := checkOperation(e); e.Op == "" || err != nil {
		return false, err
	}
	if e.Remote(d.City) { // the controller writes the event of a bead that it creates
		return kind == events.BeadCreated, nil
	}
	past, err := folder.ReadEvents(ctx, d.City,
		events.Query{Types: []string{kind}, Subject: id, Limit: operationPast})
	if err != nil {
		return false, fmt.Errorf("cannot check whether the event for operation %s is in the "+
			"log: %w", e.Op, err)
	}
	for _, ev := range past {
		var word beadEvent
		if json.Unmarshal(ev.Payload, &word) == nil && word.Op == e.Op {
			return true, nil
		}
	}
	return false, nil
}

// Repeated prints that the current operation has already been done.
func Repeated(e *env.Env, b beads.Bead) error {
	return e.Result(b, "operation %s was already carried out for %s: %s", e.Op, e.Bold(b.ID),
		output.SafeLine(b.Title))
}

func repeatHint(e *env.Env) string {
	if e.Op != "" {
		return "run the command again with the same --op to write only the event"
	}
	return "do not run the command again, because that would repeat the change; only a command " +
		"with --op NAME can be repeated"
}
