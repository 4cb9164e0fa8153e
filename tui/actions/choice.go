package actions

import (
	"cmp"
	"slices"
	"strconv"

	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/widget"
)

// Without answers, question offers yes and no.
type question struct {
	title   string
	targets []string // if the title does not name them
	body    []string
	verb    string // label of "yes"
	no      string // label of "no"; "" = "leave it"
	count   int
	most    int    // the largest number of targets of an answer; 0 = count
	of      string // plural noun: "running agents"
	plan    bool   // the question shows a plan, so it is always asked
	harms   bool
	leaving bool
	do      state.Task
	stay    state.Task     // after "no" or a cancellation; may be nil
	more    []state.Answer // after "yes"
	none    string         // why there is nothing to ask about; "" = the question is valid

	answers  []state.Answer // in place of yes and no
	cursor   int
	required string // must be typed before a destructive answer
}

func nothingDone(why string) question { return question{none: "nothing was done: " + why} }

type builder func(*state.Room) question

// With this many targets or more, the user must type their number to confirm.
const manyTargets = 5

// askIfWanted asks only if the action does harm or the preference is state.ConfirmAlways.
func askIfWanted(m *state.Room, q question) []feed.Effect {
	return askLiveIfWanted(m, func(*state.Room) question { return q })
}

func askLiveIfWanted(m *state.Room, build builder) []feed.Effect {
	if q := build(m); q.none == "" && !q.harms && m.Confirm != state.ConfirmAlways {
		return q.do(m)
	}
	return askLive(m, build)
}

func ask(m *state.Room, q question) []feed.Effect {
	return askLive(m, func(*state.Room) question { return q })
}

// askLive asks a question that every snapshot updates. The question closes when there is nothing left to ask about.
func askLive(m *state.Room, build builder) []feed.Effect {
	q := build(m)
	switch {
	case q.none != "":
		state.ShowFailure(m, q.none)
	case asksNothing(m, q.count) && !q.plan:
		return q.do(m)
	default:
		c := q.choice(m)
		c.About = build
		m.Dialogs.Open(c)
	}
	return nil
}

func asksNothing(m *state.Room, targets int) bool {
	return m.Confirm == state.ConfirmNever && targets < manyTargets
}

// RefreshQuestion updates the open question. If it closes the question, keys that were meant for it have no effect.
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
		if m.RejectedTextAt = m.Now; c.RequiredText == "" {
			m.UnaskedAt = m.Now
		}
		state.ShowFailure(m, q.none)
		return
	}
	c.Update(q.choice(m), m.Now)
}

func (q *question) choice(m *state.Room) *state.Choice {
	c := &state.Choice{Title: q.title, Body: q.body, Since: m.Now, Answers: q.answers,
		Cursor: q.cursor, RequiredText: q.required, OnCancel: q.stay, AboutLeaving: q.leaving,
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

func about[R state.Row](m *state.Room, rows []R, find func(key string) R,
	build func(*state.Room, []R) question) builder {
	return aboutLeft(m, state.Remaining(rows, find), state.NoLonger, build)
}

// aboutListed is like about, for objects that can exist without being listed.
func aboutListed[R state.Row](m *state.Room, rows []R, find func(key string) R,
	build func(*state.Room, []R) question) builder {
	return aboutLeft(m, state.Remaining(rows, find), state.NotListed, build)
}

// aboutLeft returns a builder that asks about the current objects. remaining returns these, and the names of the
// objects that are gone.
func aboutLeft[R any](m *state.Room, remaining func(*state.Room) ([]R, []string),
	missing func(names []string) string, build func(*state.Room, []R) question) builder {
	named := m.NamedAgents
	return func(m *state.Room) question {
		defer func(before []string) { m.NamedAgents = before }(m.NamedAgents)
		m.NamedAgents = named
		left, gone := remaining(m)
		if len(left) == 0 {
			return nothingDone(missing(gone))
		}
		q := build(m, left)
		if len(gone) > 0 {
			q.body = append(slices.Clone(q.body), "Dropped: "+missing(gone)+".")
		}
		return q
	}
}
