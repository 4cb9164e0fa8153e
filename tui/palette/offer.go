package palette

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sahilm/fuzzy"

	"gcity/tui/dialog"
	"gcity/tui/widget"
)

const maxLines = 200

// Commands returns the verbs as rows. The user can complete such a row with arguments.
func (t *Table[H, E]) Commands() []Item[H, E] {
	var items []Item[H, E]
	for i := range t.Verbs {
		v := &t.Verbs[i]
		if v.Args == nil || t.Hidden(v) {
			continue
		}
		items = append(items, Item[H, E]{Keys: t.KeysOf(v.ID), Title: v.Name + " " + v.Usage,
			Line: v.Name, Words: v.Description, Note: v.Description, Names: v.Names,
			Run: func(h H) []E { return t.Open(h, v.Name+" ") }})
	}
	return items
}

// Offer returns the rows for typed text. only reports that no other row can match the text.
func (t *Table[H, E]) Offer(h H, text string) (found []Item[H, E], only bool) {
	l, ok := t.Parse(h, text)
	if ok && l.Verb.Text > 0 && len(l.Args) >= l.Verb.Text-1 {
		return []Item[H, E]{t.typed(l.Verb, strings.TrimSpace(text))}, true
	}
	if ok {
		found = t.complete(h, l)
	}
	return append(found, t.search(h, strings.Fields(strings.ToLower(text)))...), false
}

func (t *Table[H, E]) complete(h H, l Line[H, E]) (found []Item[H, E]) {
	v := l.Verb
	words, far := matching(v.words(h, l.Args), l.Part)
	member := memberWord(words, l.Part)
	// if the line might already be complete, offer it as typed
	if l.Part == "" && len(l.Args) > 0 && (len(words) == 0 || strings.HasSuffix(v.Usage, "…")) {
		words = slices.Insert(words, 0, Word{Note: "as typed"})
	}
	for _, w := range words {
		item := t.line(h, v, append(slices.Clone(l.Args), strings.Fields(w.text())...), w.Note)
		if exact := w.Word == l.Part || w.Word == member; !exact && item.Why != nil {
			item.Abbreviated = starts(l.Part, w.Word) && !v.ReadOnly
			item.Similar = !starts(l.Part, w.Word) && (far || !v.ReadOnly)
		}
		if far {
			item.Rank = dialog.RankFuzzy
		}
		found = append(found, item)
	}
	return found
}

// starts reports whether a word abbreviates a name or a part of it. A number alone is ambiguous; see memberWord.
func starts(word, name string) bool {
	word, name = strings.ToLower(word), strings.ToLower(name)
	if _, err := strconv.ParseUint(word, 10, 32); err == nil || word == "" {
		return false
	}
	if widget.Abbreviates(word, name) {
		return true
	}
	for at := range name {
		if strings.HasPrefix(name[at:], word) &&
			(at == 0 || strings.IndexByte("-_./", name[at-1]) >= 0) {
			return true
		}
	}
	return false
}

func memberWord(words []Word, number string) string {
	if _, err := strconv.ParseUint(number, 10, 32); err != nil {
		return ""
	}
	found := ""
	for _, w := range words {
		if !strings.HasSuffix(w.Word, "-"+number) {
			continue
		}
		if found != "" {
			return ""
		}
		found = w.Word
	}
	return found
}

func (v *Verb[H, E]) needsMore(h H, args []string) bool {
	if strings.HasSuffix(v.Usage, "…") {
		return false
	}
	if len(args) > 1 && v.startsWithNoun(h, args) {
		args = args[1:]
	}
	return len(v.Args(h, args)) > 0
}

func (t *Table[H, E]) line(h H, v *Verb[H, E], args []string, note string) Item[H, E] {
	line := strings.Join(append([]string{v.Name}, args...), " ")
	item := Item[H, E]{Keys: t.KeysOf(v.ID), Title: widget.Plain(line), Line: line,
		Note: widget.Plain(note),
		Why:  func() string { return t.whyNot(h, v, args) },
		Run:  t.running(line, line)}
	if v.needsMore(h, args) {
		item.Why, item.Run = nil, func(h H) []E { return t.Open(h, line+" ") }
	}
	return item
}

func (t *Table[H, E]) typed(v *Verb[H, E], line string) Item[H, E] {
	title := line
	if Rest(line, v.Text) == "" {
		title = v.Name + " " + v.Usage
	}
	return Item[H, E]{Keys: t.KeysOf(v.ID), Title: title, Line: line, Note: v.Description,
		Run: t.running(line, v.Name)}
}

// running returns a function that runs a line. A failure is reported under the given name.
func (t *Table[H, E]) running(line, name string) func(H) []E {
	return func(h H) []E {
		todo, why := t.Run(h, line)
		if why != "" {
			t.Fail(h, "cannot "+name+": "+why)
		}
		return todo
	}
}

// search returns the command lines that match the words in any order. It omits lines of which only the verb matches,
// because each verb has its own row.
func (t *Table[H, E]) search(h H, words []string) (found []Item[H, E]) {
	if len(words) == 0 {
		return nil
	}
	for i := range t.Verbs {
		v := &t.Verbs[i]
		if v.Args == nil || v.Text > 0 || t.Hidden(v) {
			continue
		}
		for _, w := range v.Args(h, nil) {
			m, ok := v.matchesWords(w, words)
			if !ok {
				continue
			}
			if len(found) == maxLines {
				return found
			}
			item := t.line(h, v, strings.Fields(w.text()), w.Note)
			item.Rank = dialog.RankWords
			short := m.verb && !m.within && (m.named || m.part)
			switch {
			case m.named && m.verb:
				item.Rank = dialog.RankNamed
			case m.within && !m.named:
				item.Rank = dialog.RankMention
			}
			if !m.full && !v.ReadOnly && item.Why != nil {
				item.Abbreviated, item.Similar = short, !short
			}
			found = append(found, item)
		}
	}
	return found
}

type wordMatch struct {
	verb   bool // a word is the verb or the beginning of the verb
	named  bool // a word is the full name
	part   bool // a word abbreviates the name or is inside it
	within bool // a word is inside the name, but does not abbreviate it or start a part of it
	full   bool // the words contain the full verb and the full name
}

func (v *Verb[H, E]) matchesWords(w Word, words []string) (m wordMatch, ok bool) {
	name := strings.ToLower(w.Word)
	kind, called := false, false
	for _, word := range words {
		switch {
		case word == name:
			m.named = true
		case v.isCalled(word):
			m.verb, called = true, true
		case word == w.Noun:
			kind = true
		case starts(word, name):
			m.part = true
		case strings.HasPrefix(v.Name, word):
			m.verb = true
		case strings.Contains(name, word):
			m.part, m.within = true, true
		default:
			return m, false
		}
	}
	m.full = m.named && called
	return m, m.named || m.part || kind && m.verb
}

const recentShown = 5

// Recents returns the rows of earlier lines that can still run, newest first. It reuses existing rows.
func (t *Table[H, E]) Recents(h H, history []string, existing []Item[H, E]) (found []Item[H, E]) {
	for _, line := range slices.Backward(history) {
		if len(found) == recentShown {
			break
		}
		at := slices.IndexFunc(existing, func(i Item[H, E]) bool { return i.Line == line })
		if at >= 0 {
			found = append(found, existing[at])
		} else if i, ok := t.recent(h, line); ok {
			found = append(found, i)
		}
	}
	return found
}

func (t *Table[H, E]) recent(h H, line string) (item Item[H, E], ok bool) {
	l, ok := t.Parse(h, line+" ")
	if !ok || l.Verb.Text > 0 || len(l.Args) == 0 || t.Hidden(l.Verb) {
		return item, false
	}
	return t.line(h, l.Verb, l.Args, l.Verb.Description), true
}

// matching returns the matching words, best first. far reports that they are fuzzy matches.
func matching(all []Word, part string) (found []Word, far bool) {
	var begin, within []Word
	low := strings.ToLower(part)
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.Word
		switch at := strings.Index(strings.ToLower(a.Word), low); {
		case part != "" && a.Word == part:
			begin = slices.Insert(begin, 0, a)
		case at == 0:
			begin = append(begin, a)
		case at > 0:
			within = append(within, a)
		}
	}
	if found = append(begin, within...); len(found) > 0 {
		return found, false
	}
	var near []Word
	for _, hit := range fuzzy.Find(part, texts) {
		near = append(near, all[hit.Index])
	}
	return near, true
}
