package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/foreign"
)

// wire is a bead in a script's JSON. Only the ID and the title are required.
type wire struct {
	ID          string                     `json:"id"`
	Title       string                     `json:"title"`
	Status      string                     `json:"status"`
	Type        string                     `json:"type"`
	CreatedAt   string                     `json:"created_at"`
	Assignee    string                     `json:"assignee"`
	ParentID    string                     `json:"parent_id"`
	Ref         string                     `json:"ref"`
	Needs       []string                   `json:"needs"`
	Description string                     `json:"description"`
	Labels      []string                   `json:"labels"`
	Priority    *beads.Priority            `json:"priority"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	UpdatedAt   string                     `json:"updated_at"`
	ClosedAt    string                     `json:"closed_at"`
	Rev         uint64                     `json:"rev"`
}

const statusKey = "script.status"

// read returns the bead in a script's JSON. After an error, only the bead's ID, status and links are valid.
func read(text []byte) (beads.Bead, error) {
	var w wire
	bad := json.Unmarshal(text, &w) // decodes the other fields even if one has the wrong type
	b := beads.Bead{
		ID: w.ID, Title: w.Title, Type: w.Type, Assignee: w.Assignee, ParentID: w.ParentID,
		Ref: w.Ref, Needs: w.Needs,
		Description: w.Description, Labels: w.Labels, Metadata: map[string]string{}, Rev: w.Rev,
	}
	if w.Priority != nil {
		b.Priority = *w.Priority
	}
	for k, raw := range w.Metadata {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		b.Metadata[k] = s
	}
	var known bool
	if b.Status, known = beads.StatusOf(w.Status); !known && w.Status != "" {
		b.Metadata[statusKey] = w.Status
	}
	if bad != nil {
		return b, fmt.Errorf("%w: not a bead in the script format: %w", beads.ErrUnreadable, bad)
	}
	for _, t := range []struct {
		text string
		to   *time.Time
	}{{w.CreatedAt, &b.CreatedAt}, {w.UpdatedAt, &b.UpdatedAt}} {
		if err := moment(t.text, t.to); err != nil {
			return b, err
		}
	}
	if w.ClosedAt != "" {
		b.ClosedAt = &time.Time{}
		if err := moment(w.ClosedAt, b.ClosedAt); err != nil {
			return b, err
		}
	}
	normal, err := foreign.Normalize(b)
	if err != nil {
		return b, err
	}
	if w.Rev == 0 {
		normal.Rev = foreign.ContentHash(normal)
	}
	return normal, nil
}

func moment(text string, to *time.Time) (err error) {
	if text == "" {
		return nil
	}
	if *to, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("%w: %q is not an RFC 3339 time", beads.ErrUnreadable, text)
	}
	return nil
}

// parseOne parses an object, or an array with one object. found is false for empty output, null or [].
func parseOne(out []byte) (b beads.Bead, found bool, err error) {
	out = bytes.TrimSpace(out)
	var list []json.RawMessage
	if json.Unmarshal(out, &list) == nil {
		if len(list) == 0 {
			return b, false, nil
		}
		out = list[0]
	}
	if len(out) == 0 || bytes.Equal(out, []byte("null")) {
		return b, false, nil
	}
	if b, err = read(out); err != nil {
		return b, false, fmt.Errorf("%w; it printed %s", err, shown(out))
	}
	return b, true, nil
}

func shown(out []byte) string {
	if text := foreign.FirstLine(string(out)); text != "" {
		return text
	}
	return "nothing"
}

// createInput returns the input for "create". It includes rev, updated_at and closed_at, because a script can store
// them.
func createInput(b beads.Bead) map[string]any {
	out := map[string]any{
		"title": b.Title, "type": b.Type, "status": b.Status, "priority": b.Priority,
		"created_at": b.CreatedAt, "updated_at": b.UpdatedAt, "rev": b.Rev,
	}
	for name, text := range map[string]string{"id": b.ID, "assignee": b.Assignee,
		"parent_id": b.ParentID, "ref": b.Ref, "description": b.Description} {
		if text != "" {
			out[name] = text
		}
	}
	for name, list := range map[string][]string{"labels": b.Labels, "needs": b.Needs} {
		if len(list) > 0 {
			out[name] = list
		}
	}
	if len(b.Metadata) > 0 {
		out["metadata"] = b.Metadata
	}
	if b.ClosedAt != nil {
		out["closed_at"] = b.ClosedAt
	}
	return out
}

func updateInput(was, now beads.Bead) map[string]any {
	out := map[string]any{"rev": now.Rev, "updated_at": now.UpdatedAt, "closed_at": now.ClosedAt}
	full := createInput(now)
	for _, name := range foreign.Changed(was, now) {
		switch name {
		case "labels":
			put(out, "labels", foreign.Difference(now.Labels, was.Labels))
			put(out, "remove_labels", foreign.Difference(was.Labels, now.Labels))
		case "metadata":
			out["metadata"] = setting(was, now)
		case "needs":
			out["needs"] = append([]string{}, now.Needs...)
		case "assignee", "parent_id", "ref", "description":
			out[name] = ""
			if v, ok := full[name]; ok {
				out[name] = v
			}
		default:
			out[name] = full[name]
		}
	}
	return out
}

func put(out map[string]any, name string, list []string) {
	if len(list) > 0 {
		out[name] = list
	}
}

// setting returns the changed metadata. The value "" removes a key.
func setting(was, now beads.Bead) map[string]string {
	set := map[string]string{}
	maps.Copy(set, now.Metadata)
	for k, v := range was.Metadata {
		switch have, stays := now.Metadata[k]; {
		case !stays:
			set[k] = ""
		case have == v:
			delete(set, k)
		}
	}
	return set
}

func encode(v any) ([]byte, error) {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(out.String()), err
}
