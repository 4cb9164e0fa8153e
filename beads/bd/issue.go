package bd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/foreign"
)

// Metadata keys. In an issue, they store what only a bead has; in a bead, what only an issue has.
const (
	refKey = "gc.ref"
	// exact creation time; bd stores whole seconds
	createdKey = "gc.created_at"
	statusKey  = "bd.status"
	ownKeys    = "bd."

	plainReason = "Closed" // the reason that bd stores by default
)

type issue struct {
	ID          string                     `json:"id"`
	Title       string                     `json:"title"`
	Status      string                     `json:"status"`
	Priority    int                        `json:"priority"`
	Type        string                     `json:"issue_type"`
	Assignee    string                     `json:"assignee"`
	Description string                     `json:"description"`
	Parent      string                     `json:"parent"`
	Labels      []string                   `json:"labels"`
	Metadata    map[string]json.RawMessage `json:"metadata"`
	CreatedAt   time.Time                  `json:"created_at"`
	UpdatedAt   time.Time                  `json:"updated_at"`
	ClosedAt    *time.Time                 `json:"closed_at"`
	Reason      string                     `json:"close_reason"`
	Links       []link                     `json:"dependencies"`
}

// "bd list" prints the linked issue's ID, and "bd show" prints the linked issue itself.
type link struct {
	Issue string `json:"issue_id"`
	On    string `json:"depends_on_id"`
	Type  string `json:"type"`
	ID    string `json:"id"`
	As    string `json:"dependency_type"`
}

// read returns the bead in an issue. After an error, only the bead's ID, status and links are valid.
func read(text []byte) (beads.Bead, error) {
	var in issue
	bad := json.Unmarshal(text, &in) // decodes the other fields even if one has the wrong type
	b := beads.Bead{
		ID: in.ID, Title: in.Title, Type: in.Type, Assignee: in.Assignee,
		Description: in.Description, ParentID: in.Parent,
		Labels: slices.Sorted(slices.Values(in.Labels)), Metadata: map[string]string{},
		CreatedAt: in.CreatedAt.Round(time.Second), UpdatedAt: in.UpdatedAt, ClosedAt: in.ClosedAt,
	}
	in.metadata(&b)
	for _, at := range []*time.Time{&b.UpdatedAt, b.ClosedAt} {
		if at == nil {
			continue
		}
		// "bd create" prints more precise times than bd stores
		if *at = at.Round(time.Second); at.Before(b.CreatedAt) {
			*at = b.CreatedAt
		}
	}
	var known bool
	if b.Status, known = beads.StatusOf(in.Status); !known {
		b.Metadata[statusKey] = in.Status
	}
	if _, given := b.Metadata[beads.CloseReason]; !given && in.Reason != plainReason &&
		b.Status == beads.StatusClosed {
		b.Metadata[beads.CloseReason] = in.Reason
	}
	in.links(&b)
	if bad != nil {
		return b, fmt.Errorf("%w: not an issue in bd's format: %w", beads.ErrUnreadable, bad)
	}
	if b.Priority, bad = beads.PriorityOf(in.Priority); bad != nil {
		return b, fmt.Errorf("%w: %w", beads.ErrUnreadable, bad)
	}
	normal, err := foreign.Normalize(b)
	if err != nil {
		return b, err
	}
	normal.Rev = foreign.ContentHash(normal)
	return normal, nil
}

func (in *issue) metadata(b *beads.Bead) {
	for k, raw := range in.Metadata {
		var s string
		if json.Unmarshal(raw, &s) != nil {
			var out bytes.Buffer
			if json.Compact(&out, raw) == nil {
				s = out.String()
			}
		}
		if k == refKey {
			b.Ref = s
		} else if k == createdKey {
			b.CreatedAt = creationTime(s, in.CreatedAt)
		} else if !strings.HasPrefix(k, ownKeys) {
			b.Metadata[k] = s
		}
	}
}

func (in *issue) links(b *beads.Bead) {
	for _, l := range in.Links {
		on, kind := l.On, l.Type
		if l.As != "" {
			on, kind = l.ID, l.As
		} else if l.Issue != "" && l.Issue != in.ID {
			continue
		}
		switch kind {
		case "blocks":
			b.Needs = append(b.Needs, on)
		case "parent-child":
			b.ParentID = on
		}
	}
	slices.Sort(b.Needs)
}

func creationTime(text string, at time.Time) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if d := t.Sub(at); err != nil || d.Abs() > time.Minute {
		return at.Round(time.Second)
	}
	return t
}
