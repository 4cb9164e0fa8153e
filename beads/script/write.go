package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/beads/foreign"
)

// Create implements foreign.Backend. It returns an error if the script does not store all fields.
func (k *backend) Create(ctx context.Context, want beads.Bead) (beads.Bead, error) {
	in, err := encode(createInput(want))
	if err != nil {
		return beads.Bead{}, err
	}
	out, err := k.call(ctx, in, "create")
	if err != nil {
		return beads.Bead{}, err
	}
	got, err := k.made(ctx, out)
	if err != nil {
		return beads.Bead{}, err
	}
	if want.ID == "" {
		want.ID = got.ID
	}
	if want.ID != got.ID {
		return k.closeIncomplete(ctx, got, "id")
	}
	lost := foreign.Mismatched(want, got)
	if len(lost) == 0 {
		return got, nil
	}
	now := want
	now.Rev = got.Rev
	after, err := k.change(ctx, got, now)
	if err != nil {
		return got, fmt.Errorf("bead %s was created, but not completely: %w", got.ID, err)
	}
	if lost := foreign.Mismatched(want, after); len(lost) > 0 {
		return k.closeIncomplete(ctx, after, lost...)
	}
	return after, nil
}

func (k *backend) made(ctx context.Context, out []byte) (beads.Bead, error) {
	id := strings.TrimSpace(string(out))
	var text string
	if json.Unmarshal(out, &text) == nil {
		id = text
	}
	if beads.CheckID(id) == nil && id != "null" {
		return k.Get(ctx, id)
	}
	got, there, err := parseOne(out)
	if err != nil || !there {
		return got, fmt.Errorf("for create, the store script %s must print the new bead, "+
			"but it printed %s", k.o.Script, shown(out))
	}
	return got, nil
}

func (k *backend) closeIncomplete(ctx context.Context, got beads.Bead,
	lost ...string) (beads.Bead, error) {
	what := "so the bead was closed"
	if _, err := k.call(ctx, nil, "close", got.ID); err != nil {
		what = "and the bead could not be closed: " + err.Error()
	} else {
		got.Status = beads.StatusClosed
	}
	return got, fmt.Errorf("the store script %s created bead %s without its %s, %s: %w", k.o.Script,
		got.ID, strings.Join(lost, ", "), what, errors.ErrUnsupported)
}

// Update implements foreign.Backend.
func (k *backend) Update(ctx context.Context, was, now beads.Bead) (beads.Bead, error) {
	got, err := k.change(ctx, was, now)
	if err != nil {
		return got, err
	}
	lost := foreign.Intersection(foreign.Changed(was, now), foreign.Mismatched(now, got))
	if len(lost) > 0 {
		return got, fmt.Errorf("the store script %s changed bead %s, but did not "+
			"store its %s: %w",
			k.o.Script, now.ID, strings.Join(lost, ", "), errors.ErrUnsupported)
	}
	return got, nil
}

// change updates a bead. It closes the bead with "close", because "update" might not support the status "closed".
func (k *backend) change(ctx context.Context, was, now beads.Bead) (got beads.Bead, err error) {
	diff := updateInput(was, now)
	closing := now.Status == beads.StatusClosed && was.Status != beads.StatusClosed
	if closing {
		delete(diff, "status")
		delete(diff, "closed_at")
	}
	got = was
	if !closing || len(diff) > 2 {
		if got, err = k.put(ctx, diff, "update", now.ID); err != nil {
			return got, err
		}
		if got, err = k.setMetadata(ctx, was, now, got); err != nil {
			return got, err
		}
	}
	if !closing {
		return got, nil
	}
	return k.put(ctx, map[string]any{"rev": now.Rev, "updated_at": now.UpdatedAt,
		"closed_at": now.ClosedAt}, "close", now.ID)
}

func (k *backend) put(ctx context.Context, in map[string]any, op, id string) (beads.Bead, error) {
	text, err := encode(in)
	if err != nil {
		return beads.Bead{}, err
	}
	out, err := k.call(ctx, text, op, id)
	if err != nil {
		return beads.Bead{}, err
	}
	if got, there, err := parseOne(out); err == nil && there && got.ID == id {
		return got, nil
	}
	return k.Get(ctx, id)
}

// If a script never returns metadata, gcity assumes that it is stored.
func (k *backend) setMetadata(ctx context.Context, was, now, got beads.Bead) (beads.Bead, error) {
	set := setting(was, now)
	maps.DeleteFunc(set, func(key, value string) bool { return got.Metadata[key] == value })
	if len(set) == 0 {
		return got, nil
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if _, err := k.call(ctx, []byte(set[key]), "set-metadata", now.ID, key); err != nil {
			return got, err
		}
	}
	after, err := k.Get(ctx, now.ID)
	if err == nil && after.Metadata == nil {
		after.Metadata = maps.Clone(now.Metadata)
	}
	return after, err
}

// Cook implements foreign.Cooker. The operation "mol-cook" receives a molecule as {formula, title, beads}. The IDs of
// the beads are names ("$1") to which other beads refer. The script prints the beads in the same order, or only the ID
// of the root.
func (k *backend) Cook(ctx context.Context, want []beads.Bead) ([]beads.Bead, error) {
	root := want[0]
	if root.Type != beads.TypeMolecule {
		return nil, errors.ErrUnsupported
	}
	all := make([]map[string]any, len(want))
	for i, b := range want {
		all[i] = createInput(b)
	}
	in, err := encode(map[string]any{"formula": root.Ref, "title": root.Title, "beads": all})
	if err != nil {
		return nil, err
	}
	out, err := k.call(ctx, in, "mol-cook")
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if json.Unmarshal(out, &raw) == nil && len(raw) == len(want) {
		made := make([]beads.Bead, len(raw))
		var unreadable error
		for i, text := range raw {
			if made[i], err = read(text); err != nil {
				unreadable = fmt.Errorf("mol-cook of the store script %s: %w", k.o.Script, err)
			}
		}
		return made, unreadable
	}
	return k.below(ctx, out, want)
}

func (k *backend) below(ctx context.Context, out []byte, want []beads.Bead) ([]beads.Bead, error) {
	root, err := k.made(ctx, out)
	if err != nil {
		return nil, err
	}
	made := []beads.Bead{root}
	found, err := k.Find(ctx, beads.Query{Parent: root.ID})
	if err != nil {
		return made, fmt.Errorf("cannot find the steps of %s: %w", root.ID, err)
	}
	steps := slices.DeleteFunc(found.Beads, func(b beads.Bead) bool {
		return b.ParentID != root.ID
	})
	for _, w := range want[1:] {
		i := slices.IndexFunc(steps, func(b beads.Bead) bool {
			return b.Ref == w.Ref && b.Title == w.Title
		})
		if i < 0 {
			return append(made, steps...), fmt.Errorf("mol-cook of the store script %s created %s "+
				"without the step %q (%s)", k.o.Script, root.ID, w.Title, w.Ref)
		}
		made = append(made, steps[i])
		steps = slices.Delete(steps, i, i+1)
	}
	return made, nil
}

// Remove implements foreign.Remover. The script's purge operation receives the IDs as JSON.
func (k *backend) Remove(ctx context.Context, ids []string) error {
	in, err := encode(map[string]any{"ids": ids})
	if err != nil {
		return err
	}
	_, err = k.call(ctx, in, "purge")
	return err
}

var (
	_ foreign.Backend = (*backend)(nil)
	_ foreign.Remover = (*backend)(nil)
)
