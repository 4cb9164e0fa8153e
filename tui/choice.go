package tui

import (
	"cmp"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/widget"
)

// question is asked before something is done.
type question struct {
	title string
	whom  []string // who is meant, where the title does not say it
	body  []string
	verb  string // what "yes" does
	no    string // what "no" does, "" = leaves it
	count int    // how many it is about
	plan  bool   // it shows what must have been seen: asked whatever the person prefers
	do    func(*model) []feed.Effect
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
func perhaps(m *model, q question) []feed.Effect {
	if m.confirm != confirmAlways {
		return q.do(m)
	}
	ask(m, q)
	return nil
}

// ask puts a yes-or-no question, "no" chosen; for many their number must be typed.
func ask(m *model, q question) {
	if m.confirm == confirmNever && q.count < many && !q.plan {
		m.todo = append(m.todo, q.do(m)...)
		return
	}
	c := &choice{Title: q.title, Body: q.body, Since: m.now, At: 1, Answers: []answer{
		{Key: "y", Title: "yes, " + q.verb, Do: q.do},
		{Key: "n", Title: "no, " + cmp.Or(q.no, "leave it"), Safe: true},
	}}
	if len(q.whom) > 0 {
		c.Body = append(append(slices.Clone(q.whom), ""), q.body...)
	}
	if q.count >= many {
		c.Must, c.Edit, c.At = strconv.Itoa(q.count), widget.NewEntry(""), 0
		c.Answers[0].Key, c.Answers[1].Key = "", ""
	}
	m.dialogs.Open(c)
}
