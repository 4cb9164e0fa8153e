package tui

import (
	"slices"
	"strings"

	"github.com/sahilm/fuzzy"

	"gcity/tui/feed"
	"gcity/tui/widget"
)

// maxHistory bounds the stored lines of the palette.
const maxHistory = 200

// rememberLine stores a line of the palette, without duplicates.
func rememberLine(m *model, line string) {
	if line == "" {
		return
	}
	m.history = slices.DeleteFunc(slices.Clone(m.history), func(old string) bool {
		return old == line
	})
	m.history = append(m.history, line)
	m.history = m.history[max(0, len(m.history)-maxHistory):]
}

// setHistory restores the lines of an earlier visit, oldest first.
func setHistory(m *model, lines []string) {
	m.history = nil
	for _, line := range lines {
		rememberLine(m, widget.SingleLine(line))
	}
}

// palettes offers what may follow a complete verb.
func palettes(m *model, text string) ([]item, bool) {
	c, args, part := parse(text)
	if c == nil {
		return nil, false
	}
	if c.text > 0 && len(args) >= c.text-1 {
		return []item{textItem(m, c, strings.TrimSpace(text))}, true
	}
	words, far := matching(c.args(m, args), part)
	// the line may be complete
	if part == "" && len(args) > 0 && (len(words) == 0 || strings.HasSuffix(c.usage, "…")) {
		words = slices.Insert(words, 0, word{note: "as typed"})
	}
	var found []item
	for _, a := range words {
		line := strings.TrimSpace(strings.Join(append(append([]string{c.name}, args...), a.word),
			" "))
		goesOn := takesMore(m, line) && !strings.HasSuffix(c.usage, "…")
		near := a.word != part && !goesOn && (far || !c.looks)
		found = append(found, item{Keys: m.keys.KeysOf(c.id), Title: line, Line: line, Tail: a.note,
			Near: near, Run: func(m *model) []feed.Effect {
				if goesOn {
					return openPaletteAt(m, line+" ")
				}
				todo, why := runLine(m, line)
				if why != "" {
					complain(m, "cannot "+line+": "+why)
				}
				return todo
			}})
	}
	return found, true
}

// textItem offers to run a line as typed.
func textItem(m *model, c *verb, line string) item {
	title := line
	if rest(line, c.text) == "" {
		title = c.name + " " + c.usage
	}
	return item{Keys: m.keys.KeysOf(c.id), Title: title, Line: line, Tail: c.does,
		Run: func(m *model) []feed.Effect {
			todo, why := runLine(m, line)
			if why != "" {
				complain(m, "cannot "+c.name+": "+why)
			}
			return todo
		}}
}

// openPaletteAt opens the palette with the beginning of a line.
func openPaletteAt(m *model, text string) []feed.Effect {
	openFinder(m, true)
	m.dialogs.finder().Type(text)
	return nil
}

// parse splits a line of the palette into the verb, complete words, and the word being typed. The verb is nil
// unless something follows it.
func parse(text string) (c *verb, args []string, part string) {
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

// takesMore reports whether more words may follow a line.
func takesMore(m *model, text string) bool {
	c, args, _ := parse(text + " ")
	return c != nil && len(c.args(m, args)) > 0
}

// matching returns the words that match: equal ones, then those with the prefix, then those that contain it, then
// fuzzy matches.
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
