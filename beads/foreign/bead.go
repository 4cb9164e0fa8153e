package foreign

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
	"unicode"

	"gcity/beads"
)

// Normalize normalizes a bead from another program. A missing time is derived from the other times, or is 1970. The
// error wraps beads.ErrUnreadable.
func Normalize(b beads.Bead) (beads.Bead, error) {
	id := b.ID
	b, _, err := beads.Merge(nil, b, time.Unix(0, 0))
	if err != nil {
		return beads.Bead{ID: id}, fmt.Errorf("%w: %w", beads.ErrUnreadable, err)
	}
	return b, nil
}

// ContentHash returns a hash of a bead's content, for use as a revision. It fits in a JSON number without loss of
// precision.
func ContentHash(b beads.Bead) uint64 {
	b.Rev = 0
	text, err := json.Marshal(b)
	if err != nil { // cannot happen: a bead has only text, numbers and times
		text = []byte(b.ID)
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // Write never fails
	return h.Sum64()>>11 | 1
}

// Mismatched returns the names of the fields that the other program did not store as requested. It ignores times,
// revisions and the order of labels.
func Mismatched(want, got beads.Bead) []string {
	var out []string
	for _, f := range []struct {
		name string
		same bool
	}{
		{"title", want.Title == got.Title}, {"status", want.Status == got.Status},
		{"type", want.Type == got.Type},
		{"priority", want.Priority == got.Priority}, {"assignee", want.Assignee == got.Assignee},
		{"parent_id", want.ParentID == got.ParentID},
		{"ref", want.Ref == got.Ref}, {"needs", equal(want.Needs, got.Needs)},
		{"description", want.Description == got.Description},
		{"labels", equal(want.Labels, got.Labels)}, {"metadata", equal(pairs(want), pairs(got))},
	} {
		if !f.same {
			out = append(out, f.name)
		}
	}
	return out
}

// Changed returns the names of the fields that differ between two beads. It compares them like Mismatched.
func Changed(was, now beads.Bead) []string { return Mismatched(now, was) }

// Intersection returns the strings that are in both lists.
func Intersection(a, b []string) []string {
	var out []string
	for _, w := range a {
		if slices.Contains(b, w) {
			out = append(out, w)
		}
	}
	return out
}

func equal(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func pairs(b beads.Bead) []string {
	var out []string
	for k, v := range b.Metadata {
		out = append(out, k+"="+v)
	}
	return out
}

// Difference returns the strings in a that are not in b.
func Difference(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
}

// IsNotFound reports whether a tool's message says that a bead does not exist. "not found" alone can also refer to a
// program.
func IsNotFound(why, id string) bool {
	low := strings.ToLower(why)
	if strings.Contains(low, "no such bead") || strings.Contains(low, "no issue found") ||
		strings.Contains(low, "no issues found") {
		return true
	}
	words := strings.FieldsFunc(low, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(":,;!()\"'`", r)
	})
	for i, word := range words {
		words[i] = strings.TrimRight(word, ".")
	}
	switch said := strings.Join(words, " "); said {
	case "not found", "bead not found", "issue not found":
		return true
	default:
		return strings.Contains(said, "not found") && slices.Contains(words, strings.ToLower(id))
	}
}

// FirstLine returns the beginning of a program's error output as one line, for use in a message.
func FirstLine(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
