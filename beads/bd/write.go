package bd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/foreign"
)

// maxArgument is the maximum length of one command-line argument, in bytes.
const maxArgument = 100 << 10

// Create implements foreign.Backend. bd creates every issue as open and adds its parent's labels, so a second call
// corrects the differences.
func (k *backend) Create(ctx context.Context, want beads.Bead) (beads.Bead, error) {
	if err := k.begin(ctx); err != nil {
		return beads.Bead{}, err
	}
	args, stdin, err := creation(want)
	if err != nil {
		return beads.Bead{}, err
	}
	got, err := k.changed(ctx, stdin, args...)
	if refusedField(err) == fieldType {
		if own := k.admitType(ctx, want.Type); own != nil {
			return beads.Bead{}, errors.Join(err, own)
		}
		got, err = k.changed(ctx, stdin, args...)
	}
	if err != nil {
		return beads.Bead{}, err
	}
	if want.ID == "" {
		want.ID = got.ID
	}
	if want.ParentID != "" || len(want.Needs) > 0 {
		if got, err = k.linked(ctx, want, got); err != nil {
			return k.closeIncomplete(ctx, got, err)
		}
	}
	if len(foreign.Mismatched(want, got)) == 0 {
		return got, nil
	}
	now := want
	now.Rev = got.Rev
	after, err := k.Update(ctx, got, now)
	if err == nil {
		return after, nil
	}
	return k.closeIncomplete(ctx, got, err)
}

func (k *backend) linked(ctx context.Context, want, got beads.Bead) (beads.Bead, error) {
	guess := got
	guess.ParentID, guess.Needs = want.ParentID, want.Needs
	if len(foreign.Mismatched(want, guess)) == 0 {
		after, err := k.changed(ctx, nil, "show", got.ID, "--json")
		if err != nil {
			return got, err
		}
		return after, nil
	}
	want.Rev = got.Rev
	after, err := k.Update(ctx, guess, want)
	if err != nil {
		return got, err
	}
	return after, nil
}

func (k *backend) closeIncomplete(ctx context.Context, got beads.Bead, err error) (beads.Bead,
	error) {
	if _, own := k.call(ctx, nil, "close", got.ID, "--force",
		"--reason="+beads.PartlyCreated, "--json"); own == nil {
		got.Status = beads.StatusClosed
	}
	return got, fmt.Errorf("bead %s was created, but not completely: %w", got.ID, err)
}

func creation(b beads.Bead) (args []string, stdin []byte, err error) {
	args = []string{"create", "--title=" + b.Title, "-t", b.Type, "-p",
		strconv.Itoa(b.Priority.Level()), "--json"}
	if b.ID != "" {
		args = append(args, "--id="+b.ID, "--force")
	}
	if len(b.Labels) > 0 {
		args = append(args, "--labels="+listed(b.Labels...))
	}
	if b.Assignee != "" {
		args = append(args, "--assignee="+b.Assignee)
	}
	if b.ParentID != "" {
		args = append(args, "--parent="+b.ParentID)
	}
	if len(b.Needs) > 0 {
		args = append(args, "--deps="+strings.Join(b.Needs, ","))
	}
	if b.Description != "" {
		args, stdin = described(args, b.Description)
	}
	meta := stored(b)
	meta[createdKey] = b.CreatedAt.Format(time.RFC3339Nano)
	text, err := json.Marshal(meta)
	if err != nil {
		return nil, nil, err
	}
	args = append(args, "--metadata="+string(text))
	return args, stdin, checkArguments(args)
}

// listed returns labels as one list, which bd reads as CSV.
func listed(labels ...string) string {
	items := make([]string, len(labels))
	for i, l := range labels {
		if items[i] = l; strings.Contains(l, `"`) {
			items[i] = `"` + strings.ReplaceAll(l, `"`, `""`) + `"`
		}
	}
	return strings.Join(items, ",")
}

func described(args []string, text string) ([]string, []byte) {
	if len(text) > maxArgument || text == "-" { // "--description=-" would read the standard input
		return append(args, "--body-file=-"), []byte(text)
	}
	return append(args, "--description="+text), nil
}

func checkArguments(args []string) error {
	for _, arg := range args {
		if len(arg) > maxArgument+1<<10 {
			name, _, _ := strings.Cut(arg, "=")
			return fmt.Errorf("bd accepts at most %d bytes for %s: %w", maxArgument, name,
				errors.ErrUnsupported)
		}
	}
	return nil
}

func stored(b beads.Bead) map[string]string {
	meta := map[string]string{}
	for key, value := range b.Metadata {
		if !strings.HasPrefix(key, ownKeys) {
			meta[key] = value
		}
	}
	if b.Ref != "" {
		meta[refKey] = b.Ref
	}
	return meta
}

func (k *backend) admitType(ctx context.Context, kind string) error {
	const key = "types.custom"
	types, err := k.setting(ctx, key)
	if err != nil || slices.Contains(types, kind) {
		return err
	}
	_, err = k.call(ctx, nil, "config", "set", key, strings.Join(append(types, kind), ","))
	return err
}

// setting returns the entries of a list in bd's configuration.
func (k *backend) setting(ctx context.Context, key string) ([]string, error) {
	out, err := k.call(ctx, nil, "config", "get", key, "--json")
	if err != nil {
		return nil, err
	}
	var have struct {
		Value string `json:"value"`
	}
	if text, ok := payload(out); !ok || json.Unmarshal(text, &have) != nil {
		return nil, fmt.Errorf("bd config get %s must print JSON with a value, but printed %q", key,
			foreign.FirstLine(string(out)))
	}
	return strings.FieldsFunc(have.Value, func(r rune) bool { return r == ',' || r == ' ' }), nil
}

func (k *backend) changed(ctx context.Context, stdin []byte, args ...string) (beads.Bead, error) {
	found, err := k.issues(ctx, stdin, args...)
	if n := len(found.Beads) + len(found.Unreadable); err == nil && n != 1 {
		err = fmt.Errorf("bd %s must return one issue, but returned %d", args[0], n)
	}
	if err == nil && len(found.Unreadable) > 0 {
		err = unreadable(args[0], found.Unreadable[0])
	}
	if err != nil {
		return beads.Bead{}, err
	}
	return found.Beads[0], nil
}

// Update implements foreign.Backend.
func (k *backend) Update(ctx context.Context, was, now beads.Bead) (beads.Bead, error) {
	closing := now.Status == beads.StatusClosed && was.Status != beads.StatusClosed
	args, stdin, err := update(was, now, closing)
	if err != nil {
		return was, err
	}
	if len(args) > 0 {
		args = append([]string{"update", now.ID, "--json"}, args...)
		if err := k.change(ctx, was, now, stdin, args); err != nil {
			return was, err
		}
	}
	for _, id := range foreign.Difference(was.Needs, now.Needs) {
		if _, err := k.call(ctx, nil, "dep", "remove", now.ID, id, "--json"); err != nil {
			return was, err
		}
	}
	for _, id := range foreign.Difference(now.Needs, was.Needs) {
		if _, err := k.call(ctx, nil, "dep", "add", now.ID, id, "--type", "blocks",
			"--json"); err != nil {
			return was, err
		}
	}
	if closing {
		// unlike gcity, bd closes a bead with open needs only with --force
		args := []string{"close", now.ID, "--json", "--force"}
		if why := now.Metadata[beads.CloseReason]; why != "" {
			args = append(args, "--reason="+why)
		}
		if _, err := k.call(ctx, nil, args...); err != nil {
			return was, err
		}
	}
	got, err := k.changed(ctx, nil, "show", now.ID, "--json")
	if err != nil {
		return was, err
	}
	lost := foreign.Intersection(foreign.Changed(was, now), foreign.Mismatched(now, got))
	if slices.Contains(lost, fieldType) { // bd has other names for some types
		return got, &beads.Invalid{Which: "bead " + now.ID, Field: fieldType,
			Reason: fmt.Sprintf("cannot be %q: bd has stored it as %q", now.Type, got.Type)}
	}
	if len(lost) > 0 {
		return got, fmt.Errorf("bd changed bead %s, but did not store its %s: %w", now.ID,
			strings.Join(lost, ", "), errors.ErrUnsupported)
	}
	return got, nil
}

// change calls "bd update". If bd rejects the type or the assignee, it meets bd's requirement and repeats the call.
func (k *backend) change(ctx context.Context, was, now beads.Bead, stdin []byte,
	args []string) error {
	_, err := k.call(ctx, stdin, args...)
	switch refusedField(err) {
	case fieldType:
		if own := k.admitType(ctx, now.Type); own != nil {
			return errors.Join(err, own)
		}
	case fieldAssignee:
		// newer versions of bd require the current assignee to reassign work in progress
		args = append(args, "--if-assignee="+was.Assignee)
	default:
		return err
	}
	_, err = k.call(ctx, stdin, args...)
	return err
}

func update(was, now beads.Bead, closing bool) (args []string, stdin []byte, err error) {
	for _, name := range foreign.Changed(was, now) {
		switch name {
		case "title":
			args = append(args, "--title="+now.Title)
		case "status":
			if !closing {
				args = append(args, "--status="+string(now.Status))
			}
		case "type":
			args = append(args, "--type="+now.Type)
		case "priority":
			args = append(args, "--priority="+strconv.Itoa(now.Priority.Level()))
		case "assignee":
			args = append(args, "--assignee="+now.Assignee)
		case "parent_id":
			args = append(args, "--parent="+now.ParentID)
		case "description":
			args, stdin = described(args, now.Description)
		case "labels":
			for _, l := range foreign.Difference(now.Labels, was.Labels) {
				args = append(args, "--add-label="+listed(l))
			}
			for _, l := range foreign.Difference(was.Labels, now.Labels) {
				args = append(args, "--remove-label="+listed(l))
			}
		}
	}
	before, after := stored(was), stored(now)
	if closing { // "bd close" sets the reason
		delete(after, beads.CloseReason)
	}
	meta, err := metadata(before, after)
	if err != nil {
		return nil, nil, err
	}
	args = append(args, meta...)
	return args, stdin, checkArguments(args)
}

// isPlainKey reports whether "--set-metadata" and "--unset-metadata" accept a key.
func isPlainKey(key string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	return strings.Trim(key, letters+"0123456789.") == "" && strings.ContainsAny(key[:1], letters)
}

// metadata returns the arguments that change an issue's metadata. "--metadata" accepts all keys, but it cannot remove
// a key, so a removed key gets the value "", which has the same meaning in a bead.
func metadata(before, after map[string]string) ([]string, error) {
	changes := map[string]string{}
	for key, value := range after {
		if have, ok := before[key]; !ok || have != value {
			changes[key] = value
		}
	}
	for key := range before {
		if _, stays := after[key]; !stays {
			changes[key] = ""
		}
	}
	keys := slices.Sorted(maps.Keys(changes))
	if slices.ContainsFunc(keys, func(key string) bool { return !isPlainKey(key) }) {
		text, err := json.Marshal(changes)
		return []string{"--metadata=" + string(text)}, err
	}
	var args []string
	for _, key := range keys {
		if changes[key] == "" {
			args = append(args, "--unset-metadata="+key)
		} else {
			args = append(args, "--set-metadata="+key+"="+changes[key])
		}
	}
	return args, nil
}

const removeAtOnce = 500

// Remove implements foreign.Remover. It skips beads that no longer exist.
func (k *backend) Remove(ctx context.Context, ids []string) error {
	for some := range slices.Chunk(ids, removeAtOnce) {
		err := k.remove(ctx, some)
		if errors.Is(err, beads.ErrNotFound) {
			var found foreign.Found
			if found, err = k.Find(ctx, beads.Query{}); err != nil {
				return err
			}
			err = k.remove(ctx, slices.DeleteFunc(slices.Clone(some), func(id string) bool {
				return !slices.ContainsFunc(found.Beads, func(b beads.Bead) bool {
					return b.ID == id
				})
			}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (k *backend) remove(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := k.call(ctx, nil, append(append([]string{"delete"}, ids...), "--force", "--json")...)
	return err
}
