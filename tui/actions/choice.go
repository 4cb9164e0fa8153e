package actions

import (
	"cmp"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// question is a question to the user, by default with the answers yes and no.
type question struct {
	title   string
	targets []string // the targets, if the title does not name them
	body    []string
	verb    string // label of "yes"
	no      string // label of "no"; "" means "leave it"
	count   int
	most    int    // the largest number of targets of an answer; 0 = count
	of      string // plural noun for the targets: "running agents"
	plan    bool   // the question shows a plan, so it is always asked
	harms   bool   // the action can do harm, so askIfWanted and askLiveIfWanted ask
	do      func(*state.Room) []feed.Effect
	stay    state.Task     // called after "no" or a cancellation; may be nil
	more    []state.Answer // answers after "yes"
	none    string         // why there is nothing left to ask about; "" = the question is valid

	answers  []state.Answer // all answers, in place of yes and no
	cursor   int            // index of the preselected answer in answers
	required string         // text that the user must type before a destructive answer
}

// builder builds a question from the current snapshot.
type builder func(*state.Room) question

// manyTargets is the smallest number of targets for which the user must type the number to confirm.
const manyTargets = 5

// askIfWanted runs an action that is harmless and reversible. It asks for confirmation only if the preference is
// state.ConfirmAlways.
func askIfWanted(m *state.Room, q question) []feed.Effect {
	return askLiveIfWanted(m, func(*state.Room) question { return q })
}

// askLiveIfWanted is askIfWanted for a question that every snapshot updates. It also asks if the action does harm.
func askLiveIfWanted(m *state.Room, build builder) []feed.Effect {
	if q := build(m); q.none == "" && !q.harms && m.Confirm != state.ConfirmAlways {
		return q.do(m)
	}
	askLive(m, build)
	return nil
}

// ask asks a question that does not change while it is open. For other questions see askLive.
func ask(m *state.Room, q question) { askLive(m, func(*state.Room) question { return q }) }

// askLive asks a question unless the preferences turn it off. If there are many targets, the user must type their
// number. Every snapshot updates the question, and closes it if there is nothing left to ask.
func askLive(m *state.Room, build builder) {
	q := build(m)
	switch {
	case q.none != "":
		state.ShowFailure(m, q.none)
	case asksNothing(m, q.count) && !q.plan:
		m.Todo = append(m.Todo, q.do(m)...)
	default:
		c := q.choice(m)
		c.About = build
		m.Dialogs.Open(c)
	}
}

func asksNothing(m *state.Room, targets int) bool {
	return m.Confirm == state.ConfirmNever && targets < manyTargets
}

// RefreshQuestion updates the open question.
func RefreshQuestion(m *state.Room) {
	c := m.Dialogs.Choice()
	if c == nil {
		return
	}
	build, ok := c.About.(builder)
	if !ok {
		return
	}
	q := build(m)
	if q.none != "" {
		m.Dialogs.Close(c)
		state.ShowFailure(m, q.none)
		return
	}
	c.Update(q.choice(m), m.Now)
}

func (q *question) choice(m *state.Room) *state.Choice {
	c := &state.Choice{Title: q.title, Body: q.body, Since: m.Now, Answers: q.answers,
		Cursor: q.cursor, RequiredText: q.required, OnCancel: q.stay,
		Targets: cmp.Or(q.most, q.count)}
	if c.Answers == nil {
		c.Answers = slices.Concat([]state.Answer{{Key: "y", Title: "yes, " + q.verb, Do: q.do}},
			q.more, []state.Answer{{Key: "n", Title: "no, " + cmp.Or(q.no, "leave it"),
				Safe: true, Do: q.stay}})
		c.Cursor = len(c.Answers) - 1
	}
	if len(q.targets) > 0 {
		c.Body = append(append(slices.Clone(q.targets), ""), q.body...)
	}
	if q.count >= manyTargets && q.answers == nil {
		c.RequiredText = strconv.Itoa(q.count)
		c.Answers[0].Key, c.Answers[c.Cursor].Key = "", ""
	}
	if c.RequiredText != "" {
		c.Edit, c.Counts = widget.NewEntry(""), q.of
	}
	return c
}

// about returns a builder for a question about rows. The builder omits rows that no longer exist, and adds their names
// to the text of the question.
func about[R state.Row](m *state.Room, rows []R, find func(*state.Room, string) R,
	build func(*state.Room, []R) question) builder {
	return aboutLeft(m, state.Remaining(rows, find), state.NoLonger, build)
}

// aboutListed is a variant of about for objects that might still exist: it says that the omitted rows are no longer
// listed.
func aboutListed[R state.Row](m *state.Room, rows []R, find func(*state.Room, string) R,
	build func(*state.Room, []R) question) builder {
	return aboutLeft(m, state.Remaining(rows, find), state.NotListed, build)
}

// aboutLeft returns a builder for a question. remaining() returns what the question is still about, and the names of
// what is gone. missing() puts these names into text.
func aboutLeft[R any](m *state.Room, remaining func(*state.Room) ([]R, []string),
	missing func(names []string) string, build func(*state.Room, []R) question) builder {
	named := m.NamedAgents
	return func(m *state.Room) question {
		defer func(before []string) { m.NamedAgents = before }(m.NamedAgents)
		m.NamedAgents = named
		left, gone := remaining(m)
		if len(left) == 0 {
			return question{none: "nothing was done: " + missing(gone)}
		}
		q := build(m, left)
		if len(gone) > 0 {
			q.body = append(slices.Clone(q.body), "Dropped: "+missing(gone)+".")
		}
		return q
	}
}

func aboutAgents(m *state.Room, rows []*panel.AgentRow,
	build func(*state.Room, []*panel.AgentRow) question) builder {
	return about(m, rows, state.FindAgent, build)
}

func aboutPools(m *state.Room, rows []*panel.PoolRow,
	build func(*state.Room, []*panel.PoolRow) question) builder {
	return about(m, rows, state.FindPool, build)
}

func aboutAutomations(m *state.Room, rows []*panel.AutomationRow,
	build func(*state.Room, []*panel.AutomationRow) question) builder {
	return about(m, rows, state.FindAutomation, build)
}
