package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/disk"
)

// An operation is one change of work under a name that its caller chose. A command that failed is repeated under the same
// name: what is done already is not done again, and an event that is missing is written.

const (
	operationLabel = "op:" // of a bead, before the name of the operation that made it
	operationLimit = 64
	operationPast  = 1000 // events of a bead that are searched for an operation
	operationLook  = 20 * time.Millisecond
)

// holdOperation makes commands with --op take turns, so that two of the same name do not both do the work. Without --op it
// does nothing. It waits until ctx ends.
func (a *app) holdOperation(ctx context.Context, dir string) (release func() error, err error) {
	if a.op == "" {
		return func() error { return nil }, nil
	}
	if err := disk.MakePrivate(gcDir(dir)); err != nil {
		return nil, err
	}
	look := time.NewTicker(operationLook)
	defer look.Stop()
	for {
		lock, err := disk.TryLock(filepath.Join(gcDir(dir), "operations.lock"))
		if err == nil {
			return lock.Release, nil
		}
		if !errors.Is(err, disk.ErrLocked) {
			return nil, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("another command with --op has not ended: %w; nothing is changed, run it again", ctx.Err())
		}
	}
}

// operation gives a command the flag that names its operation.
func (a *app) operation(c *cobra.Command) {
	c.Flags().StringVar(&a.op, "op", "", "a name for this change: the same command with the same name does not repeat it")
}

// checkOperation refuses a name that is not one word of letters, digits and . _ -.
func (a *app) checkOperation() error {
	for _, r := range a.op {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-' {
			return exit.Usage("--op %q: use letters, digits, \".\", \"_\" and \"-\" only", a.op)
		}
	}
	if len(a.op) > operationLimit {
		return exit.Usage("--op: the name has %d characters, and %d are allowed", len(a.op), operationLimit)
	}
	return nil
}

// createOnce makes a bead, or finds the one that the same operation made before. announced: its event is in the log.
func (a *app) createOnce(ctx context.Context, d *depot, b beads.Bead) (made beads.Bead, announced bool, err error) {
	if err := a.checkOperation(); err != nil {
		return made, false, err
	}
	if a.op == "" {
		made, err = d.Create(ctx, b)
		return made, false, err
	}
	label := operationLabel + a.op
	found, err := d.List(ctx, beads.Query{Labels: []string{label}, Limit: 1})
	if err != nil {
		return made, false, err
	}
	if len(found) > 0 {
		announced, err = a.announced(ctx, d, found[0].ID)
		return found[0], announced, err
	}
	b.Labels = append(b.Labels, label)
	made, err = d.Create(ctx, b)
	return made, false, err
}

// announced reports whether the log has an event of this operation about a bead.
func (a *app) announced(ctx context.Context, d *depot, id string) (bool, error) {
	if err := a.checkOperation(); a.op == "" || err != nil {
		return false, err
	}
	past, err := readEvents(ctx, d.city, events.Query{Types: []string{"bead.*"}, Subject: id, Limit: operationPast})
	if err != nil {
		return false, fmt.Errorf("cannot tell whether operation %s was announced: %w", a.op, err)
	}
	for _, e := range past {
		var word beadWord
		if json.Unmarshal(e.Payload, &word) == nil && word.Op == a.op {
			return true, nil
		}
	}
	return false, nil
}

// repeated says that an operation is done already.
func (a *app) repeated(b beads.Bead) error {
	if a.JSON {
		return a.WriteJSON(b)
	}
	a.Sayf("%s is done already by operation %s: %s", a.Paint(output.Bold, output.SafeLine(b.ID)), a.op, output.SafeLine(b.Title))
	return nil
}

// repeatHint says how a command whose event is missing is repeated.
func (a *app) repeatHint() string {
	if a.op != "" {
		return "run it again with the same --op, which writes the event alone"
	}
	return "do not run it again, that would repeat the work; a command with --op NAME can be repeated"
}
