package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/beads"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/workstore"
	"gcity/config"
)

// Every problem with a store comes with a fix. Doctor does not change a folder that belongs to another program.
func TestDoctorChecksWork(t *testing.T) {
	make := func(t *testing.T, dir string) workstore.Place {
		t.Helper()
		where := workstore.Place{Dir: dir, Prefix: "gc"}
		s, err := workstore.OpenStore(where)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Create(t.Context(), beads.Bead{Title: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return where
	}
	file := func(where workstore.Place) string {
		return filepath.Join(where.Dir, folder.WorkFolder, "beads.db")
	}
	for name, c := range map[string]struct {
		spoil       func(where workstore.Place) error
		state, says string
	}{
		"well": {func(workstore.Place) error { return nil }, "ok", "intact, schema 1"},
		"exposed": {func(p workstore.Place) error {
			return os.Chmod(file(p), 0o644)
		}, "note", "other users can read the store: "},
		"not a database": {func(p workstore.Place) error {
			return os.WriteFile(file(p), []byte(strings.Repeat("no database\n", 500)), 0o600)
		}, "bad", "is damaged"},
		"a large log without changes": {func(p workstore.Place) error {
			return errors.Join(os.WriteFile(file(p)+"-wal", nil, 0o600),
				os.Truncate(file(p)+"-wal", workstore.LargeLog+1))
		}, "ok", "intact"},
		"files of bd": {func(p workstore.Place) error {
			return os.Mkdir(filepath.Join(p.Dir, folder.WorkFolder, "dolt"), 0o700)
		}, "note", "contains files from another program, perhaps bd (dolt)"},
		"another's": {func(p workstore.Place) error {
			return errors.Join(os.RemoveAll(filepath.Dir(file(p))),
				os.Mkdir(filepath.Dir(file(p)), 0o700),
				os.WriteFile(filepath.Join(filepath.Dir(file(p)), "config.yaml"), nil, 0o600))
		}, "note", "belongs to another program, perhaps bd (config.yaml)"},
		"none": {func(p workstore.Place) error {
			return os.RemoveAll(filepath.Dir(file(p)))
		}, "ok", "none yet"},
	} {
		t.Run(name, func(t *testing.T) {
			where := make(t, t.TempDir())
			if err := c.spoil(where); err != nil {
				t.Fatal(err)
			}
			got := examinePlace(t.Context(), where, true)
			if len(got) != 1 || got[0].State != c.state ||
				!strings.Contains(got[0].Detail, c.says) || (got[0].Fix == "") !=
				(c.state == "ok") {
				t.Errorf("got %+v, want %s: %s", got, c.state, c.says)
			}
			if name == "another's" {
				if entries, err := os.ReadDir(filepath.Dir(file(where))); err != nil ||
					len(entries) != 1 {
					t.Errorf("files in the folder: got %v, %v", entries, err)
				}
			}
		})
	}
	where := make(t, t.TempDir())
	lost := []beads.Unreadable{{ID: "gc-7", Reason: "it was written in a newer way"},
		{ID: "gc-8", Reason: "x"}}
	got := judgeStore(where, workstore.Condition{Exists: true, Log: workstore.LargeLog + 1}, nil, nil)
	if len(got) != 1 || got[0].State != "note" || !strings.Contains(got[0].Detail, "64 MiB") {
		t.Errorf("%+v", got)
	}
	got = judgeStore(where, workstore.Condition{Exists: true, Damage: []string{"row 3 is missing"}},
		lost, errors.New("the disk is full"))
	if len(got) != 3 || got[0].State != "bad" || got[1].State != "bad" ||
		!strings.Contains(got[1].Detail, "row 3") ||
		!strings.Contains(got[2].Detail, "2 records") || !strings.Contains(got[2].Detail, "gc-7") {
		t.Errorf("%+v", got)
	}
}

// A store that responds, but cannot be read completely in time, is not reported as locked.
func TestDoctorOfLargeStore(t *testing.T) {
	where := workstore.Place{Dir: t.TempDir(), Prefix: "gc"}
	s, err := workstore.OpenStore(where)
	if err == nil {
		_, err = s.Create(t.Context(), beads.Bead{Title: "a"})
	}
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	got := examinePlace(over, where, true)
	if len(got) != 1 || got[0].State != "note" || !strings.Contains(got[0].Detail, "the store responds") {
		t.Errorf("%+v", got)
	}
}

func TestDoctorChecksWorkOfRigs(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "yard"), 0o700),
		os.WriteFile(filepath.Join(dir, config.FileName), []byte(
			"[workspace]\nname = \"x\"\n[[rigs]]\nname = \"yard\"\npath = \"yard\"\n[[rigs]]\n"+
				"name = \"lost\"\npath = \"lost\"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		t.Fatal(err)
	}
	problem := ""
	for _, r := range agent.Rigs(c) {
		if r.Name == "lost" {
			problem = r.Problem
		}
	}
	var got []string
	for _, f := range checkStores(t.Context(), &Subject{dir: dir, config: c, env: &env.Env{}}) {
		got = append(got, f.State+" "+f.Check+": "+f.Detail)
	}
	want := "ok work: none yet\nok work of rig yard: none yet\nnote work of rig lost: not " +
		"checked: " + problem
	if problem == "" || strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestDoctorFindsLostStore(t *testing.T) {
	where := openTestStore(t)
	if err := os.RemoveAll(filepath.Join(where.Dir, folder.WorkFolder)); err != nil {
		t.Fatal(err)
	}
	got := examinePlace(t.Context(), where, true)
	if len(got) != 1 || got[0].State != "bad" ||
		!strings.Contains(got[0].Fix, "`gcity bead restore --rig shop`") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(where.Dir, folder.WorkFolder)); err == nil {
		t.Error("doctor created a store")
	}
}
