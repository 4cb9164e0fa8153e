package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"gcity/city"
)

// ConfigFile is the city's configuration as the control room edits it: a copy, so that nobody applies what is half written.
// Its methods are called from one goroutine at a time, and may read files.
type ConfigFile interface {
	// Path is where it is, absolute.
	Path() string
	// Check says what is wrong with a text, each with its place, and on which of its lines the first is: 0 = none of its own.
	Check(data []byte) (problems []string, line int)
	// Plan says what a text that Check accepts would change now.
	Plan(ctx context.Context, data []byte) (Plan, error)
	// Replace puts a text in the place of the one that was there. It fails if that has changed meanwhile.
	Replace(was, now []byte) error
}

// draft is a configuration that is being edited.
type draft struct {
	path string // of the copy
	was  []byte // the configuration when the copy was made
	line int    // where to begin, 0 = anywhere
}

type (
	// edit hands the terminal to an editor, with a draft or, nil, a new one.
	edit struct{ draft *draft }
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
	return []action{{id: "config.edit", key: bind("edit the configuration: in $EDITOR, then its plan, then in force", "e"),
		in: []zone{everywhere}, why: needEditable, run: (*model).editConfig}}
}

func needEditable(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return "this control room is read-only"
	case !m.editable:
		return "this control room does not know the configuration's file"
	}
	return ""
}

func (m *model) editConfig() []effect {
	if m.judging {
		m.say("what was edited is still looked at")
		return nil
	}
	return []effect{edit{draft: m.draft}}
}

// tellOfEdit asks what is to be done with an edit once it has been looked at. It waits for whoever is typing something
// else by then: the answer must not be a letter of that.
func (m *model) tellOfEdit() {
	if m.judged == nil || m.covered() {
		return
	}
	e := *m.judged
	m.judged, m.judging = nil, false
	m.ui++
	m.editedConfig(e)
}

// editedConfig shows what came of an edit and asks what is to be done with it. A draft that nobody decides about stays for
// the next time.
func (m *model) editedConfig(e edited) {
	m.draft = e.draft
	switch {
	case e.err != nil:
		m.complain(e.err.Error())
		return
	case e.draft == nil:
		m.say("the configuration was left as it is")
		return
	}
	m.say("the edit waits; " + m.keys.keyOf("config.edit") + " goes on with it")
	again := answer{key: "e", title: "edit it again", do: func(m *model) []effect { return []effect{edit{draft: e.draft}} }}
	drop := answer{key: "n", title: "no, throw the edit away", safe: true, do: (*model).dropDraft}
	if len(e.problems) > 0 {
		e.draft.line = e.line
		if e.line > 0 {
			again.title += fmt.Sprintf(", at line %d", e.line)
		}
		var body []string
		for _, p := range e.problems {
			body = append(body, plainLines(p)...)
		}
		m.choice = &choice{title: "This configuration is not valid", body: body, since: m.now, answers: []answer{again, drop}}
		return
	}
	m.askEnforce(e, again, drop)
}

func (m *model) dropDraft() []effect {
	d := m.draft
	m.draft = nil
	m.say("the edit is thrown away; the configuration is as it was")
	return []effect{discard{path: d.path}}
}

// discard removes a draft's file.
type discard struct{ path string }

func (discard) effect() {}

func (r *runner) discard(d discard) {
	r.spawn("draft", func(context.Context) {
		if err := os.Remove(d.path); err != nil {
			r.log.Warn("a draft of the configuration stays behind", "error", err)
		}
	})
}

// planDeadline bounds the look at what a draft would change.
const planDeadline = 15 * time.Second

// edit gives the terminal to an editor. What came of it is looked at when the room is back, which it tells of: a plan may
// take long.
func (r *runner) edit(ctx context.Context, o Options, m *model, d *draft) {
	defer r.guard("editor")
	d, err := editDraft(ctx, o, d)
	m.now = r.now()
	m.ui++
	m.judging = true
	m.say("looking at what was edited " + m.look.glyph.More)
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

// editDraft lets somebody edit a draft, a new one if it is nil, and returns it.
func editDraft(ctx context.Context, o Options, d *draft) (*draft, error) {
	if d == nil {
		var err error
		if d, err = newDraft(o.Config.Path()); err != nil {
			return nil, err
		}
	}
	cmd, err := editor(ctx, o.Environ, d)
	if err != nil {
		return d, err
	}
	cmd.Stdin = o.In
	return d, lend(ctx, o, cmd, "the editor")
}

// judge says what came of an edit, and of the editor.
func judge(ctx context.Context, config ConfigFile, d *draft, err error) edited {
	e := edited{draft: d, err: err}
	if err != nil {
		return e
	}
	if e.data, err = os.ReadFile(d.path); err != nil {
		return edited{err: fmt.Errorf("what was edited cannot be read: %w", err)}
	}
	if bytes.Equal(e.data, d.was) {
		return edited{err: os.Remove(d.path)}
	}
	if e.problems, e.line = config.Check(e.data); len(e.problems) > 0 {
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, planDeadline)
	defer cancel()
	if e.plan, err = config.Plan(ctx, e.data); err != nil {
		e.plan = Plan{Notes: []string{"What it would change cannot be told: " + err.Error()}}
	}
	return e
}

// draftAge is how old a draft has to be that nobody came back to before it is removed.
const draftAge = 7 * 24 * time.Hour

// SweepDrafts removes the drafts of a city's configuration that nobody came back to. What is no plain file, or has a name that no
// draft was given, stays.
func SweepDrafts(dir string) {
	dir = filepath.Join(dir, ".gc")
	entries, _ := os.ReadDir(dir) // those that could be read
	for _, e := range entries {
		number, ok := strings.CutPrefix(strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), "edit-")
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > draftAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // one that cannot be removed is only old
		}
	}
}

// newDraft copies the configuration into the city's runtime folder, with a name that tells editors what it is.
func newDraft(path string) (*draft, error) {
	was, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	SweepDrafts(filepath.Dir(path))
	f, err := os.CreateTemp(filepath.Join(filepath.Dir(path), ".gc"), "edit-*"+filepath.Ext(path))
	if err != nil {
		return nil, fmt.Errorf("cannot make a copy of the configuration to edit: %w", err)
	}
	_, err = f.Write(was)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a copy of the configuration to edit: %w", err), os.Remove(f.Name()))
	}
	return &draft{path: f.Name(), was: was}, nil
}

// editor is the command of $VISUAL or $EDITOR, else one that is installed. Those that are known to take "+N" begin at the
// draft's line.
func editor(ctx context.Context, environ []string, d *draft) (*exec.Cmd, error) {
	line := ""
	for _, name := range []string{"EDITOR", "VISUAL"} {
		for _, kv := range environ {
			if v, ok := strings.CutPrefix(kv, name+"="); ok && strings.TrimSpace(v) != "" {
				line = strings.TrimSpace(v)
			}
		}
	}
	for _, name := range []string{"vim", "vi", "nano"} {
		if line != "" {
			break
		}
		if _, err := exec.LookPath(name); err == nil {
			line = name
		}
	}
	if line == "" {
		return nil, errors.New("there is no editor: neither vim, vi nor nano is installed; set EDITOR to one")
	}
	args := []string{"-c", line + ` "$@"`, "editor"}
	plus := []string{"vi", "vim", "nvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg", "jed"}
	if d.line > 0 && slices.Contains(plus, filepath.Base(strings.Fields(line)[0])) {
		args = append(args, fmt.Sprintf("+%d", d.line))
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", append(args, d.path)...)
	cmd.Env = environ
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	return cmd, nil
}

// enforce puts a draft in the configuration's place and has it read.
func (r *runner) enforce(e enforce) {
	r.spawn("configuration", func(ctx context.Context) {
		res := result{id: e.id, title: "editing", total: 1}
		if err := r.config.Replace(e.draft.was, e.data); err != nil {
			res.failures = []string{fmt.Sprintf("the configuration is not changed: %v; the edit is kept in %s", err, e.draft.path)}
			r.box.putResult(res)
			return
		}
		if err := os.Remove(e.draft.path); err != nil {
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
