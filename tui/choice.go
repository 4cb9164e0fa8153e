package tui

import (
	"strings"
	"time"

	"gcity/themes"
)

// answer is one way out of a question.
type answer struct {
	key   string // letter that takes it at once, "" = none
	title string
	safe  bool // changes nothing: may be taken without typing
	do    func(m *model) []effect
}

// choice is a question. With must set, an answer that is not safe is taken only after that text was typed.
type choice struct {
	title   string
	body    []string
	answers []answer
	at      int
	must    string
	edit    entry // of what must be typed
	since   time.Time
	leaving bool // it is about how to leave
}

// guard is how long a new question ignores keys: they were meant for something else.
const guard = 300 * time.Millisecond

func (c *choice) step(n int) { c.at = (c.at + n + len(c.answers)) % len(c.answers) }

// ask puts a yes-or-no question, "no" chosen; for many agents their number must be typed.
func (m *model) ask(title string, body []string, verb string, rows []*agentRow, do func(*model) []effect) {
	const many = 5
	c := &choice{title: title, body: body, since: m.now, at: 1, answers: []answer{
		{key: "y", title: "yes, " + verb, do: do},
		{key: "n", title: "no, leave it", safe: true},
	}}
	if list := names(rows); list != nil {
		c.body = append(append(list, ""), body...)
	}
	if len(rows) >= many {
		c.must, c.edit, c.at = confirmation(rows), newEntry(""), 0
		c.answers[0].key, c.answers[1].key = "", ""
	}
	m.choice = c
}

// answerKey takes the answer of a letter; it reports false if there is none.
func (m *model) answerKey(key string) ([]effect, bool) {
	for i, a := range m.choice.answers {
		if a.key != "" && strings.EqualFold(a.key, key) {
			m.choice.at = i
			return m.takeAnswer(), true
		}
	}
	return nil, false
}

func (m *model) takeAnswer() []effect {
	c := m.choice
	a := c.answers[c.at]
	if !a.safe && c.must != "" && c.edit.String() != c.must {
		return nil
	}
	m.choice = nil
	if a.do == nil {
		return nil
	}
	return a.do(m)
}

// choiceSheet draws the question, and says where the cursor of the typed text is (-1 = there is none).
func (m *model) choiceSheet(w int) (lines []string, x, y int) {
	c := m.choice
	x, y = -1, -1
	inner := w - 4
	lines = append(lines, "")
	for _, b := range c.body {
		lines = append(lines, wrapped(b, inner)...)
	}
	if len(c.body) > 0 {
		lines = append(lines, "")
	}
	for i, a := range c.answers {
		lines = append(lines, m.answerLine(a, i == c.at, inner))
	}
	if c.must != "" {
		typed, at := c.edit.show(max(4, inner-width(c.must)-10))
		label := "type " + c.must + ": "
		state := themes.Warn
		if c.edit.String() == c.must {
			state = themes.Good
		}
		lines = append(lines, "", m.look.paint(themes.Dim, label)+m.look.paint(state, typed))
		x, y = width(label)+at, len(lines)-1
	}
	lines = append(lines, "", m.look.paint(themes.Dim, cut(c.hint(), inner, m.look.glyph.More)))
	return lines, x, y
}

func (c *choice) hint() string {
	switch {
	case len(c.answers) == 1:
		return "enter closes"
	case c.must != "":
		return "tab other answer   enter does it   esc cancels"
	}
	return "tab other answer   enter takes it   esc cancels"
}

func (m *model) answerLine(a answer, here bool, w int) string {
	l := line{look: &m.look}
	title := themes.Text
	if here {
		l.here = true
		l.add(themes.Accent, m.look.glyph.Cursor+" ")
		title = themes.Title
	} else {
		l.add(themes.Text, "  ")
	}
	if a.key != "" {
		l.add(themes.Key, a.key)
		l.add(title, "  ")
	}
	l.add(title, cut(a.title, w-l.used, m.look.glyph.More))
	return l.close(w)
}
