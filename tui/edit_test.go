package tui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// textFile is a configuration in which a line with "wrong" is an error, and any other line is a change.
type textFile struct{ path string }

func (f textFile) Path(file string) string {
	if file == "" {
		return f.path
	}
	return filepath.Join(filepath.Dir(f.path), file)
}

func (f textFile) ReadOnlyReason(file string) string {
	if strings.HasPrefix(file, "far") {
		return "It is far away."
	}
	return ""
}

func (f textFile) Check(_ string, data []byte) (problems []string, line int) {
	for i, text := range strings.Split(string(data), "\n") {
		if strings.Contains(text, "wrong") {
			problems = append(problems, "city.toml: it is wrong\x1b[31m")
			if line == 0 {
				line = i + 1
			}
		}
	}
	return problems, line
}

func (f textFile) Plan(ctx context.Context, _ string, data []byte) (feed.Plan, error) {
	switch {
	case bytes.Contains(data, []byte("unplanned")):
		return feed.Plan{}, errors.New("the loader failed")
	case bytes.Contains(data, []byte("panic")):
		panic("simulated panic in a plan")
	case bytes.Contains(data, []byte("endless")):
		<-ctx.Done()
		return feed.Plan{}, ctx.Err()
	}
	return feed.Plan{Changes: []feed.Change{{Agent: "builder", Kind: "restart", Why: "it says " + strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", ", ")}}}, nil
}

func (f textFile) Replace(file string, was, now []byte) error {
	there, err := os.ReadFile(f.Path(file))
	if err == nil && !bytes.Equal(there, was) {
		err = errors.New("another process was faster")
	}
	if err != nil {
		return err
	}
	return os.WriteFile(f.Path(file), now, 0o600)
}

// writing returns a configuration in a city's folder, and a shell command that acts as an editor.
func writing(t *testing.T, script string) (path, ed string) {
	t.Helper()
	dir := t.TempDir()
	path, ed = filepath.Join(dir, "city.toml"), filepath.Join(dir, "vi")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, ".gc"), 0o700), os.WriteFile(path, []byte("one\n"), 0o600), os.WriteFile(ed, []byte("#!/bin/sh\nfor file; do :; done\n"+script), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path, ed
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func drafts(t *testing.T, path string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".gc", "edit-*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The original configuration is unchanged until the user has confirmed the plan of a valid copy.
func TestTerminalEditConfig(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	path, ed := writing(t, `case $1 in +2) sed -i s/wrong/two/ "$file";; *) echo wrong >>"$file";; esac; echo EDITED`)
	c := open(t, "hosting", 100, 30, "EDITOR="+ed, "TUI_CONFIG="+path)
	c.sees("builder")
	before := c.modes()
	c.keys("e")
	c.sees("This configuration is not valid")
	c.sees("at line 2")
	if contents(t, path) != "one\n" || len(drafts(t, path)) != 1 {
		t.Errorf("before yes: %q, %q", contents(t, path), drafts(t, path))
	}
	c.answer("e")
	c.sees("restart  builder: it says one, two")
	if after := c.modes(); *after != *before {
		t.Errorf("the terminal's modes were %v and are %v", before, after)
	}
	c.answer("y")
	c.sees("the configuration was edited")
	if contents(t, path) != "one\ntwo\n" || len(drafts(t, path)) != 0 {
		t.Errorf("after yes: %q, %q", contents(t, path), drafts(t, path))
	}
	c.keys("\x03")
	c.sees("keep the city running in the background")
	c.answer("h")
	c.sees("exit: hand over <nil>")
}

// An editor that stops itself, like vim at ctrl+z, is continued, so that the terminal stays usable.
func TestTerminalEditorThatStops(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	path, ed := writing(t, "echo two >>$file; kill -TSTP 0; echo three >>$file; kill -STOP 0; echo four >>$file")
	c := open(t, "hosting", 100, 30, "EDITOR="+ed, "TUI_CONFIG="+path)
	c.sees("builder")
	c.keys("e")
	c.sees("it says one, two, three, four")
	c.answer("n")
	c.sees("the edit was discarded")
	c.keys("\x03")
	c.sees("keep the city running in the background")
	c.answer("h")
	c.sees("exit: hand over <nil>")
}

// The room is visible again before the plan of an edit is known. A panic while planning does not end the process.
func TestTerminalPlanOfAnEdit(t *testing.T) {
	for word, end := range map[string]string{"endless": "hand over <nil>", "panic": "ended the control room panicked in editor: simulated panic in a plan"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			path, ed := writing(t, "echo "+word+" >>$file")
			c := open(t, "hosting", 100, 30, "EDITOR="+ed, "TUI_CONFIG="+path)
			c.sees("builder")
			c.keys("e")
			if word == "endless" {
				c.sees("checking the edit")
				c.keys("e")
				c.sees("the edit is still being checked")
				c.keys("\x03")
				c.sees("keep the city running in the background")
				c.answer("h")
			}
			c.ends(end)
		})
	}
}

// The question about a finished edit appears only after the user has stopped typing.
func TestEditWaitsForATypingUser(t *testing.T) {
	s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.press(":")
	s.hear(feed.News{Edited: &feed.Edited{Draft: &feed.Draft{Path: "/x/.gc/edit-1.toml"}, Data: []byte("new"), Plan: feed.Plan{Changes: []feed.Change{{Agent: "x", Kind: "start", Why: "not running"}}}}})
	s.press("y")
	s.wants()
	s.hides("start  x")
	s.press("esc")
	s.shows("start  x: not running")
	s.press("esc")
	s.shows("the edit is kept; e continues with it")
}

// The configuration is unchanged, whatever the editor does.
func TestEditDraft(t *testing.T) {
	for _, c := range []struct {
		name, script, editor string
		problems             int
		plan, err            string
		left                 int
	}{
		{name: "nothing is changed", script: "true"},
		{name: "the editor fails", script: "echo two >>$1; exit 3", err: "failed with exit code 3", left: 1},
		{name: "the editor fails at once", script: "exit 1", err: "failed with exit code 1"},
		{name: "the editor is killed", script: "echo two >>$1; kill -KILL $$", err: "was killed by SIGKILL", left: 1},
		{name: "ctrl+c", script: "echo two >>$1; kill -INT $$", plan: "restart  builder: it says one, two", left: 1},
		{name: "no editor", editor: "/nonexistent/vi -x", err: `the editor "/nonexistent/vi -x" was not found (set by EDITOR)`},
		{name: "no program", editor: "/dev/null", err: `cannot run the editor "/dev/null" (set by EDITOR)`},
		{name: "the copy is gone", script: "rm $1", err: "cannot read the edited file"},
		{name: "mistakes", script: "echo wrong >>$1", problems: 1, left: 1},
		{name: "a change", script: "echo two >>$1", plan: "restart  builder: it says one, two", left: 1},
		{name: "no plan", script: "echo unplanned >>$1", plan: "The plan is unknown: the loader failed", left: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, ed := writing(t, c.script)
			d, err := feed.NewDraft(textFile{path}, feed.FileLine{})
			if err != nil {
				t.Fatal(err)
			}
			if c.editor != "" {
				ed = c.editor
			}
			p, err := feed.Editor(t.Context(), []string{"PATH=" + os.Getenv("PATH"), "EDITOR=" + ed}, d)
			if err != nil {
				t.Fatal(err)
			}
			var failed error
			if ran := p.Cmd.Run(); ran != nil {
				failed = p.Failed(ran)
			}
			e := feed.CheckDraft(t.Context(), textFile{path}, d, failed)
			plan, problem := strings.Join(e.Plan.Notes, "\n"), ""
			for _, c := range e.Plan.Changes {
				plan += c.Kind + "  " + c.Agent + ": " + c.Why
			}
			if e.Err != nil {
				problem = e.Err.Error()
			}
			if len(e.Problems) != c.problems || plan != c.plan || !strings.Contains(problem, c.err) || (problem == "") != (c.err == "") || len(drafts(t, path)) != c.left {
				t.Errorf("%+v, drafts %q", e, drafts(t, path))
			}
			if contents(t, path) != "one\n" {
				t.Error("the configuration was changed")
			}
		})
	}
}

// The configured editor is started. It opens the file at the line only if it is known to support that.
func TestEditor(t *testing.T) {
	d := &feed.Draft{Path: "/x/city.toml", Line: 7}
	for _, c := range []struct {
		environ []string
		want    []string
	}{
		{[]string{"EDITOR=nano"}, []string{`nano "$@"`, "editor", "+7", d.Path}},
		{[]string{"VISUAL=/usr/bin/vim -n", "EDITOR=nano"}, []string{`/usr/bin/vim -n "$@"`, "editor", "+7", d.Path}},
		{[]string{"EDITOR=code -w"}, []string{`code -w "$@"`, "editor", d.Path}},
		{[]string{"EDITOR= ", "VISUAL=kak"}, []string{`kak "$@"`, "editor", "+7", d.Path}},
	} {
		p, err := feed.Editor(t.Context(), c.environ, d)
		if err != nil || !slices.Equal(p.Cmd.Args[2:], c.want) {
			t.Errorf("%q: %q, %v", c.environ, p.Cmd.Args, err)
		}
	}
}

// A draft is kept until the user decides what to do with it.
func TestDraftsAreKept(t *testing.T) {
	o := Options{Config: textFile{"/x/city.toml"}}
	s := newStage(t, o)
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	edits := func() *feed.Draft {
		t.Helper()
		for _, e := range s.out {
			if e, ok := e.(feed.Edit); ok {
				return e.Draft
			}
		}
		t.Fatalf("no editor: %v", s.out)
		return nil
	}
	s.press("e")
	if edits() != nil {
		t.Error("the first edit continues a draft")
	}
	d := &feed.Draft{Path: "/x/.gc/edit-1.toml"}
	actions.EditedConfig(s.m, feed.Edited{Draft: d, Problems: []string{"city.toml:3:1: no\x1b[31m"}, Line: 3})
	s.shows("city.toml:3:1: no", "at line 3")
	s.press("esc", "e")
	if edits() != d || d.Line != 3 {
		t.Errorf("the draft is %+v", d)
	}
	actions.EditedConfig(s.m, feed.Edited{Draft: d, Data: []byte("new"), Plan: feed.Plan{Changes: []feed.Change{{Agent: "x", Kind: "start", Why: "not running"}}}})
	s.wait(time.Second)
	s.shows("start  x: not running")
	s.press("y")
	if !slices.ContainsFunc(s.out, func(e feed.Effect) bool {
		f, ok := e.(feed.ApplyDraft)
		return ok && f.Draft == d && string(f.Data) == "new"
	}) {
		t.Errorf("\"yes\" returns %v", s.out)
	}
	s.press("e")
	if edits() != nil {
		t.Error("the draft was applied, but is still kept")
	}
	actions.EditedConfig(s.m, feed.Edited{Draft: d, Data: []byte("new")})
	s.shows("The change does not affect any agent.")
	s.press("n")
	if !slices.Contains(s.out, feed.Effect(feed.DiscardDraft{Path: d.Path})) || s.m.Draft != nil {
		t.Errorf("\"no\" returns %v", s.out)
	}
	actions.EditedConfig(s.m, feed.Edited{})
	s.shows("the configuration is unchanged")
	actions.EditedConfig(s.m, feed.Edited{Err: errors.New("no editor")})
	s.shows("no editor")
}

func TestEditIsRefused(t *testing.T) {
	for why, o := range map[string]Options{"read-only": {Mode: state.ReadOnly, Config: textFile{"/x"}}, "the path of the configuration is unknown": {}} {
		s := newStage(t, o)
		s.size(120, 40)
		s.hear(feed.News{Snap: demoSnapshot(epoch)})
		s.press("e")
		if len(s.out) > 0 {
			t.Errorf("%s: %v", why, s.out)
		}
		s.shows(why)
	}
}

// If the file has changed since the edit began, the checked edit includes the changes on disk. If the same lines have
// changed, the draft contains both versions.
func TestEditWhileTheFileChanges(t *testing.T) {
	for _, c := range []struct {
		mine, want string
		line       int
	}{
		{"one\ntwo\nmine\n", "1\ntwo\nmine\n", 0},
		{"mine\ntwo\n3\n", "<<<<<<< your edit\nmine\ntwo\n3\n=======\n1\ntwo\nthree\n>>>>>>> on disk\n", 1},
	} {
		path, _ := writing(t, "")
		write := func(path, text string) {
			t.Helper()
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(path, "one\ntwo\nthree\n")
		d, err := feed.NewDraft(textFile{path}, feed.FileLine{})
		if err != nil {
			t.Fatal(err)
		}
		write(d.Path, c.mine)
		write(path, "1\ntwo\nthree\n")
		e := feed.CheckDraft(t.Context(), textFile{path}, d, nil)
		if string(e.Data) != c.want || contents(t, d.Path) != c.want || e.Line != c.line || e.Err != nil ||
			(len(e.Problems) > 0) != (c.line > 0) ||
			(c.line == 0) != strings.Contains(strings.Join(e.Plan.Notes, " "), "has changed since you opened it") {
			t.Errorf("%q: %+v", c.mine, e)
		}
		write(e.Draft.Path, "resolved\n")
		if e = feed.CheckDraft(t.Context(), textFile{path}, e.Draft, nil); len(e.Problems) > 0 || string(e.Data) != "resolved\n" {
			t.Errorf("after the second edit: %+v", e)
		}
	}
}

// If the merged edit cannot be written, the next check merges again. Otherwise, the edit would undo the changes on disk.
func TestMergedEditCannotBeWritten(t *testing.T) {
	path, _ := writing(t, "")
	d, err := feed.NewDraft(textFile{path}, feed.FileLine{})
	if err != nil {
		t.Fatal(err)
	}
	d.Path = filepath.Join(filepath.Dir(d.Path), strings.Repeat("x", 255)) // a temporary file's name would be too long
	for name, text := range map[string]string{d.Path: "mine\n", path: "theirs\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e := feed.CheckDraft(t.Context(), textFile{path}, d, nil)
	if e.Err == nil || e.Draft != d {
		t.Errorf("got the error %v, and the same draft: %v", e.Err, e.Draft == d)
	}
}

// If the file has changed since the edit was checked, the file is not overwritten, and the room asks again.
func TestApplyAfterAnotherWriter(t *testing.T) {
	path, _ := writing(t, "")
	d, err := feed.NewDraft(textFile{path}, feed.FileLine{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := newFakeCity(epoch)
	r := &feed.Runner{Ctx: ctx, City: f, Mailbox: feed.NewMailbox(), Config: textFile{path}, Fail: cancel}
	if err := os.WriteFile(path, []byte("faster\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.Path, []byte("slower\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.Start(feed.ApplyDraft{ID: 1, Draft: d, Data: []byte("slower\n")})
	r.Goroutines.Wait()
	n, _ := r.Mailbox.Take(time.Now())
	if n.Edited == nil || n.Edited.Draft == nil {
		t.Errorf("the room does not ask again: %+v", n.Edited)
	}
	if len(n.Results) != 1 || !strings.Contains(strings.Join(n.Results[0].Failures, ""), d.Path) || contents(t, path) != "faster\n" || len(drafts(t, path)) != 1 {
		t.Errorf("%+v, %q", n.Results, contents(t, path))
	}
	if slices.ContainsFunc(f.done, func(c city.Command) bool { _, ok := c.(city.Reload); return ok }) {
		t.Error("the configuration was reloaded")
	}
}
