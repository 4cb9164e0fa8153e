package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/internal/disk"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// ConfigFile is the city's configuration as the control room edits it: copies of its files, so that nobody applies
// what is half written. A file goes by the name that places have, "teams/one.toml"; "" is the city.toml. Check,
// Plan and Replace are called from one goroutine at a time, and may read files; the others read none.
type ConfigFile interface {
	// Path is where a file is, absolute.
	Path(file string) string
	// Fixed says why a file is not edited from here, and where to change what it says; "" = it may be edited.
	Fixed(file string) string
	// Check says what is wrong with a text in the place of a file, each with its place, and on which of its lines
	// the first is: 0 = none of its own.
	Check(file string, data []byte) (problems []string, line int)
	// Plan says what a text that Check accepts would change now.
	Plan(ctx context.Context, file string, data []byte) (Plan, error)
	// Replace puts a text in the place of the one that was in a file. It fails if that has changed meanwhile.
	Replace(file string, was, now []byte) error
}

// draft is a configuration that is being edited.
type draft struct {
	file string // of the configuration, "" = the city.toml
	path string // of the copy
	was  []byte // the file when the copy was made
	line int    // where to begin, 0 = anywhere
}

type (
	// edit hands the terminal to an editor, with a draft or, nil, a new one of a place.
	edit struct {
		draft *draft
		at    fileLine
	}
	// enforce puts a draft into force, and answers with a result.
	enforce struct {
		id    int
		draft *draft
		data  []byte
	}
)

func (edit) effect()    {}
func (enforce) effect() {}

// edited is how an edit ended.
type edited struct {
	draft    *draft // nil = nothing is left of it
	data     []byte
	problems []string
	line     int
	plan     Plan
	err      error
}

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
func editRead(m *model) []effect {
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

func editConfig(m *model) []effect {
	if m.judging {
		say(m, "what was edited is still looked at")
		return nil
	}
	if m.draft != nil {
		return []effect{edit{draft: m.draft}}
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
func editedConfig(m *model, e edited) {
	m.draft = e.draft
	switch {
	case e.err != nil && e.draft == nil:
		complain(m, e.err.Error())
		return
	case e.draft == nil:
		say(m, "the configuration was left as it is")
		return
	}
	say(m, "the edit waits; "+m.keys.KeyOf("config.edit")+" goes on with it")
	again := answer{Key: "e", Title: "edit it again", Do: func(m *model) []effect {
		return []effect{edit{draft: e.draft}}
	}}
	drop := answer{Key: "n", Title: "no, throw the edit away", Safe: true, Do: dropDraft}
	if e.err != nil {
		m.dialogs.Open(&choice{Title: "The edit is not finished",
			Body:  widget.PlainLines("What was written is kept, though " + e.err.Error() + "."),
			Since: m.now,
			At:    1, Answers: []answer{again, drop}})
		return
	}
	if len(e.problems) > 0 {
		e.draft.line = e.line
		if e.line > 0 {
			again.Title += fmt.Sprintf(", at line %d", e.line)
		}
		var body []string
		for _, p := range e.problems {
			body = append(body, widget.PlainLines(p)...)
		}
		m.dialogs.Open(&choice{Title: "This configuration is not valid", Body: body, Since: m.now,
			Answers: []answer{again, drop}})
		return
	}
	askEnforce(m, e, again, drop)
}

func dropDraft(m *model) []effect {
	d := m.draft
	m.draft = nil
	say(m, "the edit is thrown away; the configuration is as it was")
	return []effect{discard{path: d.path}}
}

// discard removes a draft's file.
type discard struct{ path string }

func (discard) effect() {}

func (r *runner) discard(d discard) {
	r.spawn("draft", func(context.Context) {
		if err := disk.Remove(d.path); err != nil {
			r.log.Warn("a draft of the configuration stays behind", "error", err)
		}
	})
}

// planDeadline bounds the look at what a draft would change.
const planDeadline = 15 * time.Second

// edit gives the terminal to an editor. What came of it is looked at when the room is back, which it tells of: a
// plan may take long.
func (r *runner) edit(ctx context.Context, o Options, m *model, what edit) {
	defer r.guard("editor")
	d, err := editDraft(ctx, o, what)
	m.now = r.now()
	m.ui++
	m.judging = true
	say(m, "looking at what was edited "+m.look.Glyphs.More)
	r.spawn("editor", func(ctx context.Context) {
		e := edited{err: err}
		if d != nil {
			e = judge(ctx, o.Config, d, err)
		}
		if e.err != nil {
			r.log.Warn("editing the configuration", "error", e.err)
		}
		r.box.put(func(n *news) { n.edited = &e })
	})
}

// editDraft lets somebody edit a draft, a new one if there is none, and returns it.
func editDraft(ctx context.Context, o Options, what edit) (d *draft, err error) {
	if d = what.draft; d == nil {
		if d, err = newDraft(o.Config, what.at); err != nil {
			return nil, err
		}
	}
	p, err := editor(ctx, o.Environ, d)
	if err != nil {
		return d, err
	}
	p.cmd.Stdin = o.In
	return d, lend(ctx, o, p)
}

// judge says what came of an edit, and of the editor.
func judge(ctx context.Context, config ConfigFile, d *draft, failed error) edited {
	e := edited{draft: d, err: failed}
	var err error
	if e.data, err = disk.ReadFile(d.path); err != nil {
		return edited{err: errors.Join(failed,
			fmt.Errorf("what was edited cannot be read: %w", err))}
	}
	if bytes.Equal(e.data, d.was) {
		return edited{err: errors.Join(failed, disk.Remove(d.path))}
	}
	if failed != nil {
		return e
	}
	if e.problems, e.line = config.Check(d.file, e.data); len(e.problems) > 0 {
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, planDeadline)
	defer cancel()
	if e.plan, err = config.Plan(ctx, d.file, e.data); err != nil {
		e.plan = Plan{Notes: []string{"What it would change cannot be told: " + err.Error()}}
	}
	return e
}

// draftAge is how old a draft has to be that nobody came back to before it is removed.
const draftAge = 7 * 24 * time.Hour

// SweepDrafts removes the drafts of a city's configuration that nobody came back to. What is no plain file, or has
// a name that no draft was given, stays.
func SweepDrafts(dir string) {
	dir = filepath.Join(dir, ".gc")
	entries, _ := disk.ReadDir(dir) // those that could be read
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		number := name[strings.LastIndexByte(name, '-')+1:]
		if !strings.HasPrefix(name, "edit-") || number == "" ||
			strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > draftAge {
			_ = disk.Remove(filepath.Join(dir, e.Name())) // one that cannot be removed is only old
		}
	}
}

// newDraft copies a file of the configuration into the city's runtime folder, with a name that tells editors and
// people what it is.
func newDraft(config ConfigFile, at fileLine) (*draft, error) {
	path, own := config.Path(at.file), config.Path("")
	was, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	SweepDrafts(filepath.Dir(own))
	name := "edit-*"
	if at.file != "" {
		base := filepath.Base(path)
		name = "edit-" + strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), "*",
			"_") + "-*"
	}
	name = strings.Replace(name, "*", strconv.FormatUint(rand.Uint64(), 10), 1) + filepath.Ext(own)
	f, err := disk.OpenFile(filepath.Join(filepath.Dir(own), ".gc", name),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot make a copy of the configuration to edit: %w", err)
	}
	_, err = f.Write(was)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a copy of the configuration to edit: %w",
			err), disk.Remove(f.Name()))
	}
	return &draft{file: at.file, path: f.Name(), was: was, line: at.line}, nil
}

// enforce puts a draft in the configuration's place and has it read.
func (r *runner) enforce(e enforce) {
	r.spawn("configuration", func(ctx context.Context) {
		res := result{id: e.id, title: "editing", total: 1}
		if err := r.config.Replace(e.draft.file, e.draft.was, e.data); err != nil {
			res.failures = []string{fmt.Sprintf("the configuration is not changed: %v; the edit "+
				"is kept in %s", err, e.draft.path)}
			r.box.putResult(res)
			return
		}
		if err := disk.Remove(e.draft.path); err != nil {
			r.log.Warn("a draft of the configuration stays behind", "error", err)
		}
		said, failed := r.do(ctx, city.Reload{})
		if failed != "" {
			res.failures = []string{"the configuration is written, but not in force: " + failed}
		} else {
			res.receipts = []string{"the configuration is edited: " + said.Message}
		}
		r.box.putResult(res)
	})
}
