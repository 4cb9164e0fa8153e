package beads

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An issue is a piece of work in the format of the tool `bd`. Metadata keys with a special prefix keep the fields that
// only issues or only beads have.
const (
	// prefix of a metadata key, followed by the name of the issue's field
	foreign       = "bd."
	foreignStatus = foreign + "status"       // the original status, if StatusOf converted it
	foreignLinks  = foreign + "dependencies" // dependencies other than needs and parents
	ownRef        = "gc.ref"
	statusDeleted = "tombstone"
)

var errOther = errors.New("not an issue")

type link struct {
	Issue string `json:"issue_id"`
	On    string `json:"depends_on_id"`
	Type  string `json:"type"`
}

const (
	linkNeeds  = "blocks"
	linkParent = "parent-child"
)

func toIssue(b Bead) map[string]any {
	out := map[string]any{
		"_type": "issue", "id": b.ID, "title": b.Title, "status": b.Status, "priority": b.Priority,
		"issue_type": b.Type,
		"created_at": b.CreatedAt, "updated_at": b.UpdatedAt,
	}
	meta := map[string]string{}
	var links []any
	for k, v := range b.Metadata {
		field, ok := strings.CutPrefix(k, foreign)
		switch {
		case k == foreignStatus && mappedStatus(b, v):
			out["status"] = v
		case k == foreignLinks && otherLinks(b, v) != nil:
			for _, raw := range otherLinks(b, v) {
				links = append(links, raw)
			}
		case ok && foreignField(field) && toText(fromText(v)) == v:
			out[field] = fromText(v)
		default:
			meta[k] = v
		}
	}
	for _, id := range b.Needs {
		links = append(links, link{b.ID, id, linkNeeds})
	}
	if b.ParentID != "" {
		links = append(links, link{b.ID, b.ParentID, linkParent})
	}
	if b.Ref != "" {
		meta[ownRef] = b.Ref
	}
	put(out, "description", b.Description, b.Description != "")
	put(out, "assignee", b.Assignee, b.Assignee != "")
	put(out, "parent", b.ParentID, b.ParentID != "")
	put(out, "labels", b.Labels, len(b.Labels) > 0)
	put(out, "dependencies", links, len(links) > 0)
	put(out, "metadata", meta, len(meta) > 0)
	put(out, "closed_at", b.ClosedAt, b.ClosedAt != nil)
	return out
}

func put(out map[string]any, field string, v any, have bool) {
	if have {
		out[field] = v
	}
}

func mappedStatus(b Bead, status string) bool {
	s, known := StatusOf(status)
	return s == b.Status && !known && status != statusDeleted
}

// otherLinks returns the links in a text that takeLinks stored, or nil for any other text.
func otherLinks(b Bead, text string) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	again := Bead{ID: b.ID, ParentID: b.ParentID, Metadata: map[string]string{}}
	if again.takeLinks(all) != nil || len(again.Needs) > 0 || again.ParentID != b.ParentID ||
		again.Metadata[foreignLinks] != text {
		return nil
	}
	return all
}

func foreignField(name string) bool {
	own := []string{
		"_type", "id", "title", "status", "priority", "issue_type", "created_at", "updated_at",
		"closed_at", "description",
		"assignee", "parent", "labels", "dependencies", "metadata",
	}
	return name != "" && !slices.Contains(own, name) && !strings.HasSuffix(name, "_count")
}

// fromIssue converts an issue, a line of JSON, to a bead. It returns errOther if the line must be ignored.
func fromIssue(line []byte) (Bead, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(line, &in); err != nil {
		return Bead{}, fmt.Errorf("not a JSON object: %w", decodeError(err))
	}
	var kind, status string
	var links []json.RawMessage
	var meta map[string]json.RawMessage
	var b Bead
	for _, f := range []struct {
		name string
		to   any
	}{
		{"_type", &kind}, {"id", &b.ID}, {"title", &b.Title}, {"status", &status},
		{"priority", &b.Priority}, {"issue_type", &b.Type},
		{"created_at", &b.CreatedAt}, {"updated_at", &b.UpdatedAt}, {"closed_at", &b.ClosedAt},
		{"description", &b.Description},
		{"assignee", &b.Assignee}, {"parent", &b.ParentID}, {"labels", &b.Labels},
		{"dependencies", &links}, {"metadata", &meta},
	} {
		raw, ok := in[f.name]
		delete(in, f.name)
		if !ok || string(raw) == "null" {
			continue
		}
		if err := json.Unmarshal(raw, f.to); err != nil {
			return b, fmt.Errorf("its %s cannot be read: %w", f.name, decodeError(err))
		}
		if kind != "" && kind != "issue" {
			return Bead{}, errOther
		}
	}
	if status == statusDeleted {
		return Bead{}, errOther
	}
	b.Metadata = map[string]string{}
	b.takeMeta(meta)
	b.takeStatus(status)
	if err := b.takeLinks(links); err != nil {
		return b, err
	}
	for field, raw := range in {
		if text := toText(raw); text != "" && foreignField(field) {
			b.Metadata[foreign+field] = text
		}
	}
	return b, nil
}

func (b *Bead) takeMeta(meta map[string]json.RawMessage) {
	for k, raw := range meta {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = compact(raw)
		}
		if k == ownRef {
			b.Ref = s
		} else {
			b.Metadata[k] = s
		}
	}
}

func (b *Bead) takeStatus(status string) {
	if status == "" {
		b.Status = StatusOpen
		return
	}
	var known bool
	if b.Status, known = StatusOf(status); !known {
		b.Metadata[foreignStatus] = status
	}
}

func decodeError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("a JSON %s is not valid here", kind)
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("invalid JSON at byte %d", wrong.Offset)
	}
	return err
}

func (b *Bead) takeLinks(links []json.RawMessage) error {
	var others [][]byte
	for _, raw := range links {
		var l link
		if err := json.Unmarshal(raw, &l); err != nil {
			return fmt.Errorf("its dependencies cannot be read: %w", decodeError(err))
		}
		own := l.Issue == "" || l.Issue == b.ID
		switch {
		case own && l.Type == linkNeeds:
			b.Needs = append(b.Needs, l.On)
		case own && l.Type == linkParent && (b.ParentID == "" || b.ParentID == l.On):
			b.ParentID = l.On
		default:
			others = append(others, []byte(compact(raw)))
		}
	}
	if len(others) > 0 {
		b.Metadata[foreignLinks] = "[" + string(bytes.Join(others, []byte(","))) + "]"
	}
	return nil
}

// toText converts a JSON value to metadata text. null and empty values become "". A string becomes its content, unless
// the content is valid JSON or not allowed in a bead. Any other value remains JSON.
func toText(raw json.RawMessage) string {
	text := compact(raw)
	switch text {
	case "null", `""`, "[]", "{}":
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && !json.Valid([]byte(s)) &&
		checkText("", s, MaxValue) == nil {
		return s
	}
	return text
}

func fromText(text string) json.RawMessage {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return encode(text)
}

func compact(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return string(raw)
	}
	return out.String()
}

// encode is like json.Marshal, but does not escape <, > and &.
func encode(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
