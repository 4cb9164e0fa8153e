package tui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/themes"
	"gcity/tui/widget"
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
	edit    widget.Entry // of what must be typed
	since   time.Time
	leaving bool  // it is about how to leave
	first   int   // row of the first answer, as drawn last
	rows    []int // from there on: the answer that is in each row
	wrong   bool  // what was typed is not what must be, until a key changes it
}

// guard is how long a new question ignores keys: they were meant for something else.
const guard = 300 * time.Millisecond

func (c *choice) step(n int) { c.at = (c.at + n + len(c.answers)) % len(c.answers) }

// question is asked before something is done.
type question struct {
	title string
	whom  []string // who is meant, where the title does not say it
	body  []string
	verb  string // what "yes" does
	no    string // what "no" does, "" = leaves it
	count int    // how many it is about
	plan  bool   // it shows what must have been seen: asked whatever the person prefers
	do    func(*model) []effect
}

// many is from how many on their number must be typed.
const many = 5

// confirm is what a person wants to be asked.
type confirm int

const (
	confirmNormal confirm = iota // before anything that is not harmless and reversible
	confirmAlways                // before every verb
	confirmNever                 // only where something must be typed, or a plan be seen
)

// perhaps does what is harmless and reversible; only a person who wants to be asked always is asked.
func (m *model) perhaps(q question) []effect {
	if m.confirm != confirmAlways {
		return q.do(m)
	}
	m.ask(q)
	return nil
}

// ask puts a yes-or-no question, "no" chosen; for many their number must be typed.
func (m *model) ask(q question) {
	if m.confirm == confirmNever && q.count < many && !q.plan {
		m.todo = append(m.todo, q.do(m)...)
		return
	}
	c := &choice{title: q.title, body: q.body, since: m.now, at: 1, answers: []answer{
		{key: "y", title: "yes, " + q.verb, do: q.do},
		{key: "n", title: "no, " + cmp.Or(q.no, "leave it"), safe: true},
	}}
	if len(q.whom) > 0 {
		c.body = append(append(slices.Clone(q.whom), ""), q.body...)
	}
	if q.count >= many {
		c.must, c.edit, c.at = strconv.Itoa(q.count), widget.NewEntry(""), 0
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
		c.wrong = true
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
	var body []string
	for _, b := range c.body {
		body = append(body, widget.WrapHanging(b, inner)...)
	}
	space, hint := true, true // blank lines and the hint leave before a word of the question does
	rest := m.h - 2 - c.typedRows() - min(len(body), 1)
	answers := m.answerLines(inner, true)
	if len(answers)+len(body) > rest { // and what explains an answer does
		answers = m.answerLines(inner, false)
	}
	rest -= len(answers)
	if len(body)+3 > rest {
		hint = false
	}
	if len(body)+1 > rest {
		space = false
	}
	if space {
		lines = append(lines, "")
	}
	lines = append(lines, m.short(body, rest)...)
	if len(body) > 0 {
		lines = append(lines, "")
	}
	c.first = len(lines)
	lines = append(lines, answers...)
	if c.must != "" {
		typed, at := c.edit.Show(max(4, inner-widget.Width(c.must)-10))
		label := "type " + c.must + ": "
		state := themes.Warn
		if c.edit.String() == c.must {
			state = themes.Good
		}
		note := ""
		if c.wrong {
			note, state = m.look.Paint(themes.Bad,
				widget.Cut("  that is not it, and nothing is done",
					max(0, inner-widget.Width(label)-widget.Width(typed)), m.look.Glyphs.More)),
				themes.Bad
		}
		lines = append(lines, "", m.look.Paint(themes.Dim, label)+m.look.Paint(state, strings.TrimRight(typed, " "))+note)
		x, y = widget.Width(label)+at, len(lines)-1
	}
	if hint {
		lines = append(lines, "", m.look.Paint(themes.Dim, widget.Hints(inner, m.choiceHints()...)))
	}
	return lines, x, y
}

// typedRows is how many lines a text that must be typed takes.
func (c *choice) typedRows() int {
	if c.must == "" {
		return 0
	}
	return 2
}

// short brings lines to at most n; the last one says how many there are besides.
func (m *model) short(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	if n < 1 {
		return nil
	}
	left := widget.Count(len(lines)-n+1, "more line")
	return append(slices.Clone(lines[:n-1]), m.look.Paint(themes.Dim, m.look.Glyphs.More+" "+left))
}

func (m *model) choiceHints() []string {
	next, take, cancel := m.keys.KeyOf("choice.next")+" other answer", m.keys.KeyOf("choice.take"), m.keys.KeyOf("choice.cancel")+" cancels"
	switch {
	case len(m.choice.answers) == 1:
		return []string{take + " closes"}
	case m.choice.must != "":
		return []string{next, take + " does it", cancel}
	}
	return []string{next, take + " takes it", cancel}
}

const (
	hang   = 2 // how far what goes on of an answer is indented below its beginning: it is no answer itself
	narrow = 8 // columns that words are not put into
)

// answerLines are the answers in w columns, all of each where they are whole, else a line of each.
func (m *model) answerLines(w int, whole bool) []string {
	c := m.choice
	var lines []string
	c.rows = c.rows[:0]
	for i, a := range c.answers {
		in := 2
		if a.key != "" {
			in += 2 + widget.Width(a.key)
		}
		parts := []string{widget.Cut(widget.Terse(a.title, w-in), w-in, m.look.Glyphs.More)}
		if whole && widget.Width(a.title) > w-in && w-in >= narrow {
			parts = widget.Wrap(a.title, w-in-hang)
		}
		for n, part := range parts {
			lines = append(lines, m.answerLine(a, i == c.at, n == 0, part, w))
			c.rows = append(c.rows, i)
		}
	}
	return lines
}

// answerLine is one line of an answer; the key stands in its first.
func (m *model) answerLine(a answer, here, first bool, part string, w int) string {
	l := widget.Line{Styles: &m.look, Selected: here}
	title := themes.Text
	if here {
		title = themes.Title
	}
	if here && first {
		l.Add(themes.Accent, m.look.Glyphs.Cursor+" ")
	} else {
		l.Add(themes.Text, "  ")
	}
	switch {
	case !first && a.key != "":
		l.Space(widget.Width(a.key) + 2 + hang)
	case !first:
		l.Space(hang)
	case a.key != "":
		l.Add(themes.Key, a.key)
		l.Add(title, "  ")
	}
	l.Add(title, part)
	return l.Fill(w)
}
