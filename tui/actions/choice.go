package actions

import (
	"cmp"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// question asks for confirmation before an action.
type question struct {
	title   string
	targets []string // the targets, if the title does not name them
	body    []string
	verb    string // label of "yes"
	no      string // label of "no"; "" means "leave it"
	count   int    // number of targets
	plan    bool   // the question shows a plan and is always asked
	do      func(*state.Room) []feed.Effect
	more    []state.Answer // answers after "yes"
}

// manyTargets is the smallest number of targets that the user must confirm by typing their number.
const manyTargets = 5

// askIfWanted runs an action that is harmless and reversible. It asks for confirmation only if the preference is
// state.ConfirmAlways.
func askIfWanted(m *state.Room, q question) []feed.Effect {
	if m.Confirm != state.ConfirmAlways {
		return q.do(m)
	}
	ask(m, q)
	return nil
}

// ask asks a yes-or-no question unless the preferences turn it off. If there are many targets, the user must type their
// number.
func ask(m *state.Room, q question) {
	if m.Confirm == state.ConfirmNever && q.count < manyTargets && !q.plan {
		m.Todo = append(m.Todo, q.do(m)...)
		return
	}
	c := &state.Choice{Title: q.title, Body: q.body, Since: m.Now, Cursor: 1,
		Answers: []state.Answer{
			{Key: "y", Title: "yes, " + q.verb, Do: q.do},
			{Key: "n", Title: "no, " + cmp.Or(q.no, "leave it"), Safe: true},
		}}
	c.Answers = slices.Insert(c.Answers, 1, q.more...)
	c.Cursor += len(q.more)
	if len(q.targets) > 0 {
		c.Body = append(append(slices.Clone(q.targets), ""), q.body...)
	}
	if q.count >= manyTargets {
		c.RequiredText, c.Edit = strconv.Itoa(q.count), widget.NewEntry("")
		c.Answers[0].Key, c.Answers[c.Cursor].Key = "", ""
	}
	m.Dialogs.Open(c)
}
