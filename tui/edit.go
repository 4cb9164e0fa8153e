package tui

import (
	"fmt"

	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// editActions are about the configuration's text.
func editActions() []action {
	return []action{
		{ID: "config.edit",
			Key: keymap.Bind(
				"edit the configuration: where the agent or the pool is written, in $EDITOR; "+
					"then its plan, then in force", "e"),
			In: []keymap.Zone{keymap.Everywhere}, Why: needEditable, Run: editConfig},
		{ID: "reader.edit",
			Key: keymap.Bind("from an agent's details: edit the configuration where it is written",
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

// editRead edits what declares the agent that is read about.
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
		return "this control room does not know the configuration's file"
	}
	return ""
}

func editConfig(m *model) []feed.Effect {
	if m.judging {
		say(m, "what was edited is still looked at")
		return nil
	}
	if m.draft != nil {
		return []feed.Effect{feed.Edit{Draft: m.draft}}
	}
	return editPlace(m)
}

// tellOfEdit asks what is to be done with an edit once it has been looked at. It waits for whoever is typing something
// else by then: the answer must not be a letter of that.
func tellOfEdit(m *model) {
	if m.judged == nil || covered(m) {
		return
	}
	e := *m.judged
	m.judged, m.judging = nil, false
	m.ui++
	editedConfig(m, e)
}

// editedConfig shows what came of an edit and asks what is to be done with it. A draft that nobody decides about
// stays for the next time.
func editedConfig(m *model, e feed.Edited) {
	m.draft = e.Draft
	switch {
	case e.Err != nil && e.Draft == nil:
		complain(m, e.Err.Error())
		return
	case e.Draft == nil:
		say(m, "the configuration was left as it is")
		return
	}
	say(m, "the edit waits; "+m.keys.KeyOf("config.edit")+" goes on with it")
	again := answer{Key: "e", Title: "edit it again", Do: func(m *model) []feed.Effect {
		return []feed.Effect{feed.Edit{Draft: e.Draft}}
	}}
	drop := answer{Key: "n", Title: "no, throw the edit away", Safe: true, Do: dropDraft}
	if e.Err != nil {
		m.dialogs.Open(&choice{Title: "The edit is not finished",
			Body:  widget.PlainLines("What was written is kept, though " + e.Err.Error() + "."),
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
	say(m, "the edit is thrown away; the configuration is as it was")
	return []feed.Effect{feed.DiscardDraft{Path: d.Path}}
}
