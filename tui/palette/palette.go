// Package palette finds and runs the command lines of the control room. It completes verbs and names, and it finds a
// line by words in any order: "worker-2 restart" finds "restart worker-2".
//
// It does not depend on the control room: the host and the effects of verbs are type parameters.
package palette

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gcity/internal/suggest"
	"gcity/tui/dialog"
	"gcity/tui/widget"
)

// Verb is a command of the palette.
type Verb[H, E any] struct {
	Name        string
	Usage       string
	Description string
	ID          string   // ID of the action with the same effect
	Names       []string // other lower-case words for this verb
	ReadOnly    bool
	// number of the argument that takes the rest of the line, counted from 1; 0 = none
	Text int
	// Noun is set if Run accepts a noun before the name: "suspend rig shop".
	Noun bool
	Args func(h H, before []string) []Word
	// returns the reason why it cannot run now, or ""; nil = only Run decides
	Why func(h H, args []string) string
	// runs it, or returns the reason why it cannot; called only if Why returns ""
	Run func(h H, args []string) (todo []E, why string)
}

// Word is a completion.
type Word struct {
	Word string
	Note string
	Noun string // kind of the named object; "" = none
	Line string // text in a command line; "" = Word
}

func (w *Word) text() string { return cmp.Or(w.Line, w.Word) }

// Table contains a room's verbs and the functions through which they use the room.
type Table[H, E any] struct {
	Verbs  []Verb[H, E]
	KeysOf func(id string) []string
	Denied func(v *Verb[H, E]) string // returns the reason why a verb is not allowed, or ""
	Hidden func(v *Verb[H, E]) bool   // reports whether the list of verbs omits a verb
	Open   func(h H, line string) []E // opens the palette with a part of a line already typed
	Fail   func(h H, why string)      // reports the reason why a line did not run
}

// Item is a row of the palette.
type Item[H, E any] = dialog.Item[func(H) []E]

// FindVerb returns a verb by one of its names, or nil.
func (t *Table[H, E]) FindVerb(name string) *Verb[H, E] {
	return widget.First(t.Verbs, func(v *Verb[H, E]) bool { return v.isCalled(name) })
}

func (v *Verb[H, E]) isCalled(word string) bool {
	return v.Name == word || slices.Contains(v.Names, word)
}

func (v *Verb[H, E]) acceptsNoun(h H, noun string) bool {
	return v.Args != nil && slices.ContainsFunc(v.Args(h, nil), func(w Word) bool {
		return w.Noun == noun
	})
}

func (v *Verb[H, E]) startsWithNoun(h H, args []string) bool {
	if len(args) == 0 || v.Args == nil {
		return false
	}
	found := false
	for _, w := range v.Args(h, nil) {
		if w.Word == args[0] {
			return false
		}
		found = found || w.Noun == args[0]
	}
	return found
}

func (v *Verb[H, E]) words(h H, before []string) []Word {
	if !v.startsWithNoun(h, before) {
		return v.Args(h, before)
	}
	var all []Word
	for _, w := range v.Args(h, before[1:]) {
		if w.Noun == before[0] {
			w.Line = w.Word
			all = append(all, w)
		}
	}
	return all
}

// ordered moves the verb to the beginning: "rig suspend shop" becomes "suspend rig shop".
func (t *Table[H, E]) ordered(h H, words []string) []string {
	if len(words) < 2 {
		return words
	}
	if v := t.FindVerb(words[1]); v != nil && v.acceptsNoun(h, words[0]) {
		words = slices.Clone(words)
		words[0], words[1] = words[1], words[0]
	}
	return words
}

// Line is a parsed command line: a verb, complete arguments, and the word that is being typed.
type Line[H, E any] struct {
	Verb *Verb[H, E]
	Args []string
	Part string
}

// Parse parses a line. It returns false if the line does not begin with a verb that takes arguments.
func (t *Table[H, E]) Parse(h H, text string) (l Line[H, E], ok bool) {
	words := strings.Fields(text)
	open := strings.HasSuffix(text, " ")
	if len(words) == 0 || len(words) == 1 && !open {
		return l, false
	}
	whole := words
	if !open {
		whole = words[:len(words)-1]
	}
	if len(words) > 1 && (open || len(words) > 2) {
		words = append(t.ordered(h, whole), words[len(whole):]...)
	}
	if l.Verb = t.FindVerb(words[0]); l.Verb == nil || l.Verb.Args == nil {
		return l, false
	}
	l.Args = words[1:]
	if !open {
		l.Args, l.Part = l.Args[:len(l.Args)-1], l.Args[len(l.Args)-1]
	}
	return l, true
}

// TakesMore reports whether a line can have more words.
func (t *Table[H, E]) TakesMore(h H, text string) bool {
	l, ok := t.Parse(h, text+" ")
	return ok && len(l.Verb.words(h, l.Args)) > 0
}

// Run runs a line, or returns the reason why it cannot.
func (t *Table[H, E]) Run(h H, line string) (todo []E, why string) {
	words := t.ordered(h, strings.Fields(line))
	if len(words) == 0 {
		return nil, ""
	}
	v := t.FindVerb(words[0])
	if v == nil {
		return nil, fmt.Sprintf("unknown action %q", words[0]) + Suggestion(words[0], t.names())
	}
	if why := t.Denied(v); why != "" {
		return nil, why
	}
	if v.Args != nil && len(words) == 1 {
		return nil, v.Name + " needs " + v.Usage
	}
	args := v.withoutNoun(h, words[1:])
	if len(args) == 1 && v.startsWithNoun(h, args) {
		return nil, "the name of the " + args[0] + " is missing"
	}
	if before := v.Text - 1; before >= 0 && len(args) > before {
		text := Rest(line, len(words)-len(args)+before)
		args = append(args[:before:before], text)
	}
	if v.Why != nil {
		if why := v.Why(h, args); why != "" {
			return nil, why
		}
	}
	return v.Run(h, args)
}

func (t *Table[H, E]) names() []string {
	all := make([]string, len(t.Verbs))
	for i := range t.Verbs {
		all[i] = t.Verbs[i].Name
	}
	return all
}

func (v *Verb[H, E]) withoutNoun(h H, args []string) []string {
	if v.Noun || len(args) < 2 || !v.startsWithNoun(h, args) {
		return args
	}
	return args[1:]
}

func (t *Table[H, E]) whyNot(h H, v *Verb[H, E], args []string) string {
	if why := t.Denied(v); why != "" || v.Why == nil {
		return why
	}
	return v.Why(h, v.withoutNoun(h, args))
}

// Rest returns the text after the first n words of a line. It removes only the surrounding spaces.
func Rest(line string, n int) string {
	for range n {
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		line = strings.TrimLeftFunc(line, func(r rune) bool { return !unicode.IsSpace(r) })
	}
	return strings.TrimSpace(line)
}

// Suggestion returns text that suggests the correct spelling of a word, or "".
func Suggestion(text string, names []string) string {
	if near := suggest.Nearest(text, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
