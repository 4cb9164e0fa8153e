package tui

import (
	"strings"

	"github.com/sahilm/fuzzy"
)

// filter is a person's search: words that all must match. "x" plain, in what a row shows besides numbers; "!x" not; "~x"
// fuzzy, in the name; "state:x", "pool:x", "rig:x", "provider:x" and "name:x" by the start of that field; of events "type:x", "subject:x", "by:x" and
// "since:10m". The zero value matches everything.
type filter struct {
	text  string
	terms []clause
}

type clause struct {
	not, fuzzy bool
	field      string // "" = anywhere
	word       string // lower case
}

// parseFilter never fails: what is no operator is searched for.
func parseFilter(text string) filter {
	f := filter{text: text}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		var t clause
		word, t.not = strings.CutPrefix(word, "!")
		word, t.fuzzy = strings.CutPrefix(word, "~")
		for _, field := range []string{"state", "pool", "rig", "provider", "name", "type", "subject", "by", "since"} {
			if rest, ok := strings.CutPrefix(word, field+":"); ok {
				t.field, word = field, rest
			}
		}
		if t.word = word; word != "" {
			f.terms = append(f.terms, t)
		}
	}
	return f
}

// matches reports whether all terms hold; hit says whether a row has what a term names.
func (f *filter) matches(hit func(t *clause) bool) bool {
	for i := range f.terms {
		if t := &f.terms[i]; hit(t) == t.not {
			return false
		}
	}
	return true
}

// active reports whether the filter has a term.
func (f *filter) active() bool { return len(f.terms) > 0 }

// begins reports whether a qualified name begins with a word, with or without its rig.
func begins(name, word string) bool {
	name = strings.ToLower(name)
	_, bare, _ := strings.Cut(name, "/")
	return strings.HasPrefix(name, word) || bare != "" && strings.HasPrefix(bare, word)
}

// in reports whether a text has the term's word.
func (t *clause) in(text string) bool {
	text = strings.ToLower(text)
	if t.fuzzy {
		return len(fuzzy.Find(t.word, []string{text})) > 0
	}
	return strings.Contains(text, t.word)
}
