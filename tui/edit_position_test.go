package tui

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
)

func placed(t *testing.T, source string, patched ...string) *stage {
	t.Helper()
	s := newStage(t, Options{Config: textFile{"/srv/city/city.toml"}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.agent("builder", func(a *city.Agent) { a.Source, a.Patched = source, patched })
	s.choose("builder")
	return s
}

// An edit starts at the declaration of the agent under the cursor.
func TestEditWhereItIsWritten(t *testing.T) {
	for _, c := range []struct {
		name, source string
		patched      []string
		shows        []string
		press        string
		want         feed.FileLine
	}{
		{name: "in city.toml", source: "city.toml:12:1", want: feed.FileLine{Line: 12}},
		{name: "unknown position", source: "environment GC_SESSION"},
		{name: "in an included file", source: "teams/one.toml:3:1", press: "enter", want: feed.FileLine{File: "teams/one.toml", Line: 3},
			shows: []string{"Edit which file?", "teams/one.toml, line 3: declares builder", "city.toml: the city's own file"}},
		{name: "in an included file, city.toml", source: "teams/one.toml:3:1", press: "2"},
		{name: "changed by a patch", source: "teams/one.toml:3:1", patched: []string{"city.toml:40:1"}, press: "2", want: feed.FileLine{Line: 40},
			shows: []string{"teams/one.toml, line 3: declares builder", "city.toml, line 40: changes builder"}},
		{name: "changed in city.toml", source: "city.toml:3:1", patched: []string{"city.toml:40:1"}, press: "1", want: feed.FileLine{Line: 3}},
		{name: "a file that cannot be edited", source: "far/topology.toml:9:1", press: "1",
			shows: []string{"far/topology.toml, line 9 declares builder.", "It is far away.", "city.toml: the city's own file"}},
		{name: "a colon in its name", source: "teams/a:b.toml:3:1", press: "1", want: feed.FileLine{File: "teams/a:b.toml", Line: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := placed(t, c.source, c.patched...)
			s.press("e")
			s.shows(c.shows...)
			if c.press != "" {
				if _, ok := effectOf[feed.Edit](s); ok {
					t.Fatal("an editor opens before the file is chosen")
				}
				s.press(c.press)
			}
			if e, ok := effectOf[feed.Edit](s); !ok || e.Draft != nil || e.At != c.want {
				t.Errorf("%+v, %v; want %+v", e, ok, c.want)
			}
		})
	}
	s := placed(t, "teams/one.toml:3:1")
	s.press("e", "n")
	if _, ok := effectOf[feed.Edit](s); ok || s.m.Dialogs.Choice() != nil {
		t.Error("\"no\" opens an editor")
	}
}

// The details say where an agent is declared, and which files patch it.
func TestDeclaredIn(t *testing.T) {
	s := placed(t, "far/topology.toml:9:1", "city.toml:40:1", "teams/one.toml:2:1")
	s.size(160, 40)
	s.press("d")
	s.shows("declared    far/topology.toml:9:1 (cannot be edited here), changed at city.toml:40:1 and")
}

// If the configuration is invalid, an edit starts at the error, no matter which agent is selected.
func TestEditAMistake(t *testing.T) {
	s := placed(t, "city.toml:12:1")
	refuse := func(why string) { s.change(func(n *city.Snapshot) { n.Config.Rejected = why }) }
	refuse("city.toml:31:4: daemon.patrol: no such key\nteams/one.toml:2:1: neither")
	s.press("e")
	if e, ok := effectOf[feed.Edit](s); !ok || e.At != (feed.FileLine{Line: 31}) {
		t.Errorf("%+v, %v", e, ok)
	}
	refuse("teams/one.toml:2:1: agents.naem: no such key")
	s.press("e")
	s.shows("teams/one.toml, line 2: contains the error", "city.toml, line 12: declares builder")
	s.press("enter")
	if e, ok := effectOf[feed.Edit](s); !ok || e.At != (feed.FileLine{File: "teams/one.toml", Line: 2}) {
		t.Errorf("%+v, %v", e, ok)
	}
}

func TestEditAPool(t *testing.T) {
	s := pooled(t, 120, 40)
	s.m.Files = textFile{"/srv/city/city.toml"}
	s.change(func(n *city.Snapshot) {
		for i := range n.Pools {
			n.Pools[i].Source = "teams/pools.toml:7:1"
		}
	})
	s.press("2", "e")
	s.shows("teams/pools.toml, line 7: declares ")
}

// The draft of an included file has that file's name, and replaces the file when it is applied.
func TestDraftOfAnIncludedFile(t *testing.T) {
	path, _ := writing(t, "")
	one := filepath.Join(filepath.Dir(path), "one.toml")
	if err := os.WriteFile(one, []byte("first\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := feed.NewDraft(textFile{path}, feed.FileLine{File: "one.toml", Line: 4})
	if err != nil || d.Line != 4 || contents(t, d.Path) != "first\n" || !strings.HasPrefix(filepath.Base(d.Path), "edit-one-") || len(drafts(t, path)) != 1 {
		t.Fatalf("%+v, %v, %q", d, err, drafts(t, path))
	}
	f := newFakeCity(epoch)
	r := &feed.Runner{Ctx: t.Context(), City: f, Mailbox: feed.NewMailbox(), Config: textFile{path}, Fail: func() {}}
	r.Start(feed.ApplyDraft{ID: 1, Draft: d, Data: []byte("second\n")})
	r.Goroutines.Wait()
	if contents(t, path) != "one\n" || contents(t, one) != "second\n" || len(drafts(t, path)) != 0 {
		t.Errorf("%q, %q, %q", contents(t, path), contents(t, one), drafts(t, path))
	}
	if !slices.ContainsFunc(f.done, func(c city.Command) bool { _, ok := c.(city.Reload); return ok }) {
		t.Error("the configuration was not reloaded")
	}
	s := newStage(t, Options{Config: textFile{path}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	actions.EditedConfig(s.m, feed.Edited{Draft: d, Data: []byte("new")})
	s.shows("Apply the edited one.toml?")
}

// If the editor fails, the draft is kept until the user decides what to do with it.
func TestAnEditorThatFails(t *testing.T) {
	s := placed(t, "city.toml:12:1")
	d := &feed.Draft{Path: "/x/.gc/edit-1.toml"}
	s.hear(feed.News{Edited: &feed.Edited{Draft: d, Err: errors.New(`the editor "vi" was killed by SIGKILL`)}})
	s.shows("The edit is not finished", `The draft is kept, but the editor "vi" was killed by SIGKILL.`, "edit it again")
	s.press("e")
	if e, ok := effectOf[feed.Edit](s); !ok || e.Draft != d {
		t.Errorf("%+v, %v", e, ok)
	}
	s.hear(feed.News{Edited: &feed.Edited{Draft: d, Err: errors.New("again")}})
	s.press("n")
	if got, ok := effectOf[feed.DiscardDraft](s); !ok || got.Path != d.Path {
		t.Errorf("%+v, %v", got, ok)
	}
	s.hear(feed.News{Edited: &feed.Edited{Err: errors.New(`the editor "false" failed with exit code 1`)}})
	s.shows(`the editor "false" failed with exit code 1`)
	if s.m.Dialogs.Choice() != nil || s.m.Draft != nil {
		t.Error("nothing was written, but the room asks about a draft")
	}
}

// From the details, e edits the declaration of the agent that the details are about.
func TestEditFromTheDetails(t *testing.T) {
	s := placed(t, "teams/one.toml:3:1")
	s.press("x")
	s.typeIn("edit")
	s.shows("edit the configuration: open $EDITOR at the agent or pool")
	s.press("esc", "d")
	state.SelectAgent(s.m, "scout")
	s.shows("e edits its configuration")
	s.press("e")
	s.shows("Edit which file?", "teams/one.toml, line 3: declares builder")
	s.press("enter")
	if e, ok := effectOf[feed.Edit](s); !ok || e.At != (feed.FileLine{File: "teams/one.toml", Line: 3}) {
		t.Errorf("%+v, %v", e, ok)
	}
	if s.m.Dialogs.Reader() != nil {
		t.Error("the details are still open")
	}
	s = demo(t, 80, 24)
	s.choose("builder")
	s.press("d")
	s.hides("edits where")
}
