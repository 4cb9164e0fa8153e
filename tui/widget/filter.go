package widget

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sahilm/fuzzy"
)

// Filter is a list of search terms, all of which must match. "x" matches text in a row (but not numbers), or a name
// that x abbreviates. "!x" excludes, "~x" matches the name fuzzily. "state:x", "pool:x", "rig:x", "provider:x" and
// "name:x" match the beginning of the field. Events also have "type:x", "subject:x", "by:x" and "since:10m", work also
// has "assignee:x", and mail has "to:x" and "from:x". The zero value matches everything.
type Filter struct {
	Text  string
	terms []Term
}

type Term struct {
	Not, Fuzzy bool
	Field      string // "" = any field
	Word       string // lower case
}

// ParseFilter parses a filter. It never fails: text without an operator is a search term.
func ParseFilter(text string) Filter {
	f := Filter{Text: text}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		var t Term
		word, t.Not = strings.CutPrefix(word, "!")
		word, t.Fuzzy = strings.CutPrefix(word, "~")
		for _, field := range []string{"state", "pool", "rig", "provider", "name", "type",
			"subject", "by", "since", "assignee", "to", "from"} {
			if rest, ok := strings.CutPrefix(word, field+":"); ok {
				t.Field, word = field, rest
			}
		}
		if t.Word = word; word != "" {
			f.terms = append(f.terms, t)
		}
	}
	return f
}

// Matches reports whether all terms match a row. The callback matches a single term, ignoring Not.
func (f *Filter) Matches(matches func(t *Term) bool) bool {
	for i := range f.terms {
		if t := &f.terms[i]; matches(t) == t.Not {
			return false
		}
	}
	return true
}

// Active reports whether the filter has a term.
func (f *Filter) Active() bool { return len(f.terms) > 0 }

// HasField reports whether the filter has a term that is limited to the given field.
func (f *Filter) HasField(field string) bool {
	return slices.ContainsFunc(f.terms, func(t Term) bool { return t.Field == field })
}

// FieldPrefix returns the word with which a field must begin, or "".
func (f *Filter) FieldPrefix(field string) string {
	for i := range f.terms {
		if t := &f.terms[i]; t.Field == field && !t.Not && !t.Fuzzy {
			return t.Word
		}
	}
	return ""
}

// HasNamePrefix reports whether a qualified name begins with a word, with or without its rig.
func HasNamePrefix(name, word string) bool {
	name = strings.ToLower(name)
	_, bare, _ := strings.Cut(name, "/")
	return strings.HasPrefix(name, word) || bare != "" && strings.HasPrefix(bare, word)
}

// Abbreviates reports whether a word consists of the beginnings of a name's parts, in order. A number must be complete:
// "w3" and "wo3" abbreviate "worker-3", but not "worker-31".
func Abbreviates(word, name string) bool {
	parts := func(s string) []string { return strings.FieldsFunc(strings.ToLower(s), isJoint) }
	word, name = strings.Join(parts(word), ""), strings.ToLower(name)
	_, bare, _ := strings.Cut(name, "/")
	return abbreviates(word, parts(name)) || abbreviates(word, parts(bare))
}

func abbreviates(word string, parts []string) bool {
	if word == "" || len(parts) == 0 {
		return false
	}
	ends := []int{0} // for each n in ends, the previous parts can match word[:n]
	for i, part := range parts {
		var next []int
		for _, end := range ends {
			if i > 0 { // only the first part is mandatory
				next = append(next, end)
			}
			_, err := strconv.ParseUint(part, 10, 64)
			for n := 1; n <= len(part) && strings.HasPrefix(word[end:], part[:n]); n++ {
				if err != nil || n == len(part) {
					next = append(next, end+n)
				}
			}
		}
		slices.Sort(next)
		ends = slices.Compact(next)
	}
	return slices.Contains(ends, len(word))
}

func isJoint(r rune) bool { return strings.ContainsRune("-_./", r) }

// In reports whether text contains the term's word or, if Fuzzy is set, matches it fuzzily.
func (t *Term) In(text string) bool {
	text = strings.ToLower(text)
	if t.Fuzzy {
		return len(fuzzy.Find(t.Word, []string{text})) > 0
	}
	return strings.Contains(text, t.Word)
}
