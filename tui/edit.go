package tui

import (
	"fmt"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// editActions returns the actions for the text of the configuration.
func editActions() []action {
	return []action{
		{ID: "config.edit",
			Key: keymap.Bind(
				"edit the configuration: open it in $EDITOR, at the agent or the pool; then "+
					"review the plan and apply it", "e"),
			In: []keymap.Zone{keymap.Everywhere}, Why: needEditable, Run: editConfig},
		{ID: "reader.edit",
			Key: keymap.Bind("from an agent's details: edit its configuration",
				"e"), In: []keymap.Zone{keymap.InReader},
			Why: needEditableDossier, Run: editRead},
	}
}

func needEditableDossier(m *model) string {
	if why := needDossier(m); why != "" {
		return why
	}
	return needEditable(m)
}

// editRead edits the declaration of the agent of the open details.
func editRead(m *model) []feed.Effect {
	todo := editConfig(m)
	m.dialogs.CloseIn(keymap.InReader)
	return todo
}

func needEditable(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case m.files == nil:
		return "the path of the configuration is unknown in this control room"
	}
	return ""
}

func editConfig(m *model) []feed.Effect {
	if m.judging {
		say(m, "the edit is still being checked")
		return nil
	}
	if m.draft != nil {
		return []feed.Effect{feed.Edit{Draft: m.draft}}
	}
	return editPlace(m)
}

// tellOfEdit asks what to do with a checked edit. It waits while the user types or a dialog is open, so that no typed
// letter is an answer.
func tellOfEdit(m *model) {
	if m.judged == nil || covered(m) {
		return
	}
	e := *m.judged
	m.judged, m.judging = nil, false
	m.UI++
	editedConfig(m, e)
}

// editedConfig shows the result of an edit and asks what to do with it. An undecided draft is kept for the next time.
func editedConfig(m *model, e feed.Edited) {
	m.draft = e.Draft
	switch {
	case e.Err != nil && e.Draft == nil:
		complain(m, e.Err.Error())
		return
	case e.Draft == nil:
		say(m, "the configuration is unchanged")
		return
	}
	say(m, "the edit is kept; "+m.keys.KeyOf("config.edit")+" continues with it")
	again := answer{Key: "e", Title: "edit it again", Do: func(m *model) []feed.Effect {
		return []feed.Effect{feed.Edit{Draft: e.Draft}}
	}}
	drop := answer{Key: "n", Title: "no, discard the edit", Safe: true, Do: dropDraft}
	if e.Err != nil {
		m.dialogs.Open(&choice{Title: "The edit is not finished",
			Body:  widget.PlainLines("The draft is kept, but " + e.Err.Error() + "."),
			Since: m.now,
			At:    1, Answers: []answer{again, drop}})
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
		m.dialogs.Open(&choice{Title: "This configuration is not valid", Body: body, Since: m.now,
			Answers: []answer{again, drop}})
		return
	}
	askEnforce(m, e, again, drop)
}

func dropDraft(m *model) []feed.Effect {
	d := m.draft
	m.draft = nil
	say(m, "the edit is discarded; the configuration is unchanged")
	return []feed.Effect{feed.DiscardDraft{Path: d.Path}}
}

// askEnforce asks whether to apply an edit, and shows its plan.
func askEnforce(m *model, e feed.Edited, again, drop answer) {
	yes := answer{Key: "y", Title: "yes, apply it", Do: func(m *model) []feed.Effect {
		m.draft = nil
		return []feed.Effect{feed.ApplyDraft{ID: begin(m, "applying the configuration "+
			m.look.Glyphs.More), Draft: e.Draft, Data: e.Data}}
	}}
	answers := []answer{yes, again, drop}
	if len(e.Plan.Changes) > 0 {
		read := answer{Key: "d", Title: "show what happens to each agent", Safe: true,
			Do: func(m *model) []feed.Effect {
				m.judged = &e // the question opens again when the text is closed
				openReader(m, &reader{Title: "What the edited configuration changes",
					Lines: func(w int) []string {
						return widget.WrapAll(e.Plan.Lines(&m.look, true), w)
					}})
				return nil
			}}
		answers = []answer{yes, read, again, drop}
	}
	m.dialogs.Open(&choice{Title: "Apply the edited " + draftName(e.Draft) + "?",
		Body: e.Plan.Lines(&m.look, false), Since: m.now, At: len(answers) - 1, Answers: answers})
}
