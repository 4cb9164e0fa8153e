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

// Tidy makes a bead of what another program says of one. Times that it does not say are those it says, or long past. An
// error says what about it cannot be, and wraps ErrAside.
func Tidy(b beads.Bead) (beads.Bead, error) {
	id := b.ID
	b, _, err := beads.Merge(nil, b, time.Unix(0, 0))
	if err != nil {
		return beads.Bead{ID: id}, fmt.Errorf("%w: %w", beads.ErrAside, err)
	}
	return b, nil
}

// Print is a revision for a bead of a program that counts none: another one for each content, the same for the
// same. It is a whole number that every reader of JSON can hold.
func Print(b beads.Bead) uint64 {
	b.Rev = 0
	text, err := json.Marshal(b)
	if err != nil { // it is made of text, numbers and times
		text = []byte(b.ID)
	}
	h := fnv.New64a()
	_, _ = h.Write(text) // it never fails
	return h.Sum64()>>11 | 1
}

// Lost names the fields of a bead that came back otherwise than they were to be; times and revisions are the other
// program's own. Labels may come in another order.
func Lost(want, got beads.Bead) []string {
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

// Changed names the fields in which two beads differ, as Lost.
func Changed(was, now beads.Bead) []string { return Lost(now, was) }

// Both are the words that are in two lists.
func Both(a, b []string) []string {
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

// Without gives the words of a that b has not.
func Without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(w string) bool { return slices.Contains(b, w) })
}

// Missing reports whether a tool's message says that a bead does not exist. "not found" alone may also concern a
// program or a database: it counts if the message contains the id, or nothing else.
func Missing(why, id string) bool {
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

// First is the beginning of what a program complained of, as one line for a person.
func First(text string) string {
	const most = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
