package tui

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"gcity/tui/widget"
)

// maxHistory bounds the lines of the palette that are kept.
const maxHistory = 200

// remember keeps a line that was run in the palette, once.
func (m *model) remember(line string) {
	if line == "" {
		return
	}
	m.history = slices.DeleteFunc(slices.Clone(m.history), func(old string) bool { return old == line })
	m.history = append(m.history, line)
	m.history = m.history[max(0, len(m.history)-maxHistory):]
}

// setHistory takes back the lines of an earlier visit, oldest first.
func (m *model) setHistory(lines []string) {
	m.history = nil
	for _, line := range lines {
		m.remember(widget.SingleLine(line))
	}
}

// finderUp moves up; from the first row of the palette, while nothing of one's own is typed, into the history.
func (m *model) finderUp() []effect {
	f := m.finder
	if !f.palette || f.at > 0 || f.past == 0 || f.edit.String() != "" && f.past == len(m.history) {
		f.step(-1)
		return nil
	}
	f.recall(m.history, f.past-1)
	return nil
}

// finderDown moves down; within the history towards what was run last.
func (m *model) finderDown() []effect {
	f := m.finder
	if f.palette && f.past < len(m.history) {
		f.recall(m.history, f.past+1)
		return nil
	}
	f.step(1)
	return nil
}

// recall puts a line of the history into the palette; behind the last one there is nothing.
func (f *finder) recall(history []string, at int) {
	text := ""
	if at < len(history) {
		text = history[at]
	}
	f.edit = widget.NewEntry(text)
	f.search()
	f.past = at
}

// typedInFinder searches anew for a text that somebody has edited.
func (m *model) typedInFinder() {
	m.finder.past = len(m.history)
	m.finder.search()
}

// complete fills in what is typed in the palette: as far as all that is offered goes on alike, else by what is under the
// cursor. Elsewhere it moves on.
func (m *model) complete() []effect {
	f := m.finder
	if !f.palette {
		f.step(1)
		return nil
	}
	text := strings.TrimLeft(f.edit.String(), " ")
	var lines []string
	for _, t := range f.found {
		if t.line != "" && strings.HasPrefix(t.line, text) {
			lines = append(lines, t.line)
		}
	}
	common := commonPrefix(lines)
	switch {
	case text != "" && len(lines) > 0 && len(common) > len(text):
	case f.at < len(f.found) && f.found[f.at].line != "":
		common = f.found[f.at].line
		lines = []string{common}
	default:
		return nil
	}
	if len(lines) == 1 && m.takesMore(common) {
		common += " "
	}
	f.edit = widget.NewEntry(common)
	m.typedInFinder()
	return nil
}

// commonPrefix is what texts begin with, all of them.
func commonPrefix(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	first, last := slices.Min(texts), slices.Max(texts)
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return strings.ToValidUTF8(first[:n], "")
}

// palettes offers what may follow a verb that is typed in full.
func (m *model) palettes(text string) ([]item, bool) {
	c, args, part := m.parse(text)
	if c == nil {
		return nil, false
	}
	if c.text > 0 && len(args) >= c.text-1 {
		return []item{m.textItem(c, strings.TrimSpace(text))}, true
	}
	words, far := matching(c.args(m, args), part)
	if part == "" && len(args) > 0 && (len(words) == 0 || strings.HasSuffix(c.usage, "…")) { // what stands there may be all
		words = slices.Insert(words, 0, word{note: "as it stands"})
	}
	var found []item
	for _, a := range words {
		line := strings.TrimSpace(strings.Join(append(append([]string{c.name}, args...), a.word), " "))
		goesOn := m.takesMore(line) && !strings.HasSuffix(c.usage, "…")
		near := a.word != part && !goesOn && (far || !c.looks)
		found = append(found, item{keys: m.keys.KeysOf(c.id), title: line, line: line, tail: a.note, near: near, run: func(m *model) []effect {
			if goesOn {
				return m.openPaletteAt(line + " ")
			}
			todo, why := m.runLine(line)
			if why != "" {
				m.complain("cannot " + line + ": " + why)
			}
			return todo
		}})
	}
	return found, true
}

// textItem offers a line that ends with a text, as it stands.
func (m *model) textItem(c *verb, line string) item {
	title := line
	if rest(line, c.text) == "" {
		title = c.name + " " + c.usage
	}
	return item{keys: m.keys.KeysOf(c.id), title: title, line: line, tail: c.does, run: func(m *model) []effect {
		todo, why := m.runLine(line)
		if why != "" {
			m.complain("cannot " + c.name + ": " + why)
		}
		return todo
	}}
}

// openPaletteAt opens the palette with a text that goes on.
func (m *model) openPaletteAt(text string) []effect {
	m.openFinder(true)
	m.finder.edit = widget.NewEntry(text)
	m.finder.search()
	return nil
}

// parse reads a line of the palette: the verb, the words behind it, and the part of a word that is being typed; the verb
// is nil unless something follows it.
func (m *model) parse(text string) (c *verb, args []string, part string) {
	words := strings.Fields(text)
	if len(words) == 0 || len(words) == 1 && !strings.HasSuffix(text, " ") {
		return nil, nil, ""
	}
	if c = verbCalled(words[0]); c == nil || c.args == nil {
		return nil, nil, ""
	}
	args = words[1:]
	if !strings.HasSuffix(text, " ") {
		args, part = args[:len(args)-1], args[len(args)-1]
	}
	return c, args, part
}

// takesMore reports whether words may follow a line.
func (m *model) takesMore(text string) bool {
	c, args, _ := m.parse(text + " ")
	return c != nil && len(c.args(m, args)) > 0
}

// matching are the words that fit a part: that very word, those that begin with it, then those that have it, else, far from
// it, by its letters.
func matching(all []word, part string) (found []word, far bool) {
	var begin, within []word
	low := strings.ToLower(part)
	texts := make([]string, len(all))
	for i, a := range all {
		texts[i] = a.word
		switch at := strings.Index(strings.ToLower(a.word), low); {
		case part != "" && a.word == part:
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
	var near []word
	for _, hit := range fuzzy.Find(part, texts) {
		near = append(near, all[hit.Index])
	}
	return near, true
}
