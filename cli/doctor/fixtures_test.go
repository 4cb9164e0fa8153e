package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gcity/beads"
	"gcity/cli/folder"
	"gcity/cli/workstore"
)

// awkward is a path with characters that are special in a unit, a property list or a shell.
const awkward = `/srv/my %h "city" $HOME\x--é;&<'`

func openTestStore(t *testing.T) workstore.Place {
	t.Helper()
	dir := t.TempDir()
	where := workstore.Place{Rig: "shop", Dir: filepath.Join(dir, "shop"), Prefix: "sh", City: dir}
	if err := errors.Join(os.Mkdir(where.Dir, 0o700), os.Mkdir(folder.StateDir(dir), 0o700)); err !=
		nil {
		t.Fatal(err)
	}
	s, err := workstore.OpenStore(where)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Create(t.Context(), beads.Bead{Title: "a"})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return where
}
