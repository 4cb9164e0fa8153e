package tui

import (
	"cmp"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/widget"
)

// question is a question that is asked before an action.
type question struct {
	title string
	whom  []string // the targets, if the title does not name them
	body  []string
	verb  string // what "yes" does
	no    string // what "no" does; "" = leave it
	count int    // how many targets
	plan  bool   // it shows a plan, so it is always asked
	do    func(*model) []feed.Effect
}

// many is the number of targets from which the number must be typed.
const many = 5

// confirm is how often the user wants to be asked.
type confirm int

const (
	confirmNormal confirm = iota // before every action that is not harmless and reversible
	confirmAlways                // before every verb
	confirmNever                 // only if something must be typed or a plan must be seen
)

// perhaps does what is harmless and reversible; it asks first only if the user always wants to be asked.
func perhaps(m *model, q question) []feed.Effect {
	if m.confirm != confirmAlways {
		return q.do(m)
	}
	ask(m, q)
	return nil
}

// ask asks a yes-or-no question with "no" selected. For many targets the number must be typed.
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
