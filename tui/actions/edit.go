package actions

import (
	"cmp"
	"fmt"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func editActions() []state.Action {
	return []state.Action{
		{ID: "config.edit",
			Key: keymap.Bind("edit the configuration: open $EDITOR at the agent or pool; "+
				"apply the edits", "e"),
			Why: needEditable, Run: editConfig},
		{ID: "reader.edit",
			Key: keymap.Bind("from an agent's details: edit its configuration",
				"e"), In: []keymap.Zone{keymap.InReader},
			Why: needEditableAgent, Run: editOpenAgent},
	}
}

func needEditableAgent(m *state.Room) string {
	return cmp.Or(needInspection(m), needEditable(m))
}

func editOpenAgent(m *state.Room) []feed.Effect {
	todo := editConfig(m)
	m.Dialogs.CloseIn(keymap.InReader)
	return todo
}

func needEditable(m *state.Room) string {
	switch {
	case m.Mode == state.ReadOnly:
		return "this control room is read-only"
	case m.Files == nil:
		return "the path of the configuration is unknown in this control room"
	}
	return ""
}

func editConfig(m *state.Room) []feed.Effect {
	if m.Checking {
		state.ShowSuccess(m, "the edit is still being checked")
		return nil
	}
	if m.Draft != nil {
		return []feed.Effect{feed.Edit{Draft: m.Draft}}
	}
	return editPlace(m)
}

// ShowEdit asks what to do with a checked edit. It does nothing while the user types, because a letter
// could be taken as an answer.
func ShowEdit(m *state.Room) {
	if m.Checked == nil || state.Covered(m) {
		return
	}
	e := *m.Checked
	m.Checked, m.Checking = nil, false
	m.UI++
	EditedConfig(m, e)
}

// EditedConfig shows the result of an edit. The draft is kept until the user decides.
func EditedConfig(m *state.Room, e feed.Edited) {
	m.Draft = e.Draft
	switch {
	case e.Err != nil && e.Draft == nil:
		state.ShowFailure(m, e.Err.Error())
		return
	case e.Draft == nil:
		state.ShowSuccess(m, "the configuration is unchanged")
		return
	}
	state.ShowSuccess(m, m.Keys.KeyText("choice.cancel")+" keeps the edit; "+
		m.Keys.KeyText("config.edit")+" continues with it later")
	again := state.Answer{Key: "e", Title: "edit it again",
		Do: returning(feed.Edit{Draft: e.Draft})}
	drop := state.Answer{Key: "n", Title: "no, discard the edit", Safe: true, Do: dropDraft}
	if e.Err != nil {
		m.Dialogs.Open(&state.Choice{Title: "The edit is not finished",
			Body:   widget.PlainLines("The draft is kept, but " + e.Err.Error() + "."),
			Since:  m.Now,
			Cursor: 1, Answers: []state.Answer{again, drop}, OnCancel: keepDraft})
		return
	}
	if len(e.Problems) > 0 {
		e.Draft.Line = e.Line
		if e.Line > 0 {
			again.Title += fmt.Sprintf(", at line %d", e.Line)
		}
		var body []string
		for _, p := range e.Problems {
			body = append(body, widget.PlainLines(p)...)
		}
		m.Dialogs.Open(&state.Choice{Title: "This configuration is not valid", Body: body,
			Since:   m.Now,
			Answers: []state.Answer{again, drop}, OnCancel: keepDraft})
		return
	}
	askApply(m, e, again, drop)
}

func keepDraft(m *state.Room) []feed.Effect {
	state.ShowSuccess(m, "the edit is kept; "+m.Keys.KeyText("config.edit")+" continues with it")
	return nil
}

func dropDraft(m *state.Room) []feed.Effect {
	d := m.Draft
	m.Draft = nil
	state.ShowSuccess(m, "the edit was discarded; the configuration is unchanged")
	return []feed.Effect{feed.DiscardDraft{Path: d.Path}}
}

func askApply(m *state.Room, e feed.Edited, again, drop state.Answer) {
	yes := state.Answer{Key: "y", Title: "yes, apply it", Do: func(m *state.Room) []feed.Effect {
		m.Draft, m.Undo = nil, state.Undo{}
		return []feed.Effect{feed.ApplyDraft{ID: state.BeginAction(m, "applying the configuration "+
			m.Look.Glyphs.More), Draft: e.Draft, Data: e.Data}}
	}}
	answers := []state.Answer{yes, again, drop}
	if len(e.Plan.Changes) > 0 {
		read := state.Answer{Key: "d", Title: "show the effect on each agent", Safe: true,
			Do: func(m *state.Room) []feed.Effect {
				m.Checked = &e // ask again when the reader is closed
				openReader(m, &state.Reader{Title: "What the edited configuration changes",
					Lines: func(int) []string {
						return e.Plan.Lines(&m.Look, true)
					}})
				return nil
			}}
		answers = []state.Answer{yes, read, again, drop}
	}
	m.Dialogs.Open(&state.Choice{Title: "Apply the edited " + draftName(e.Draft) + "?",
		Body: e.Plan.Lines(&m.Look, false), Since: m.Now, Cursor: len(answers) - 1,
		Answers: answers, OnCancel: keepDraft})
}
