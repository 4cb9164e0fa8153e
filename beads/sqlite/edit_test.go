package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gcity/beads"
)

func childEdit(dir, id, name string) {
	s, err := Open(dir, "gc")
	must(err)
	for tries := 1; ; tries++ {
		have, err := s.Get(context.Background(), id)
		must(err)
		n, err := strconv.Atoi(have.Metadata["n"])
		must(err)
		_, err = s.Update(context.Background(), id, beads.Patch{
			SetMetadata: map[string]string{"n": strconv.Itoa(n + 1)}, AddLabels: []string{"by:" + name}, IfRev: &have.Rev,
		})
		if errors.Is(err, beads.ErrConflict) {
			continue
		}
		must(err)
		fmt.Println(tries)
		must(s.Close())
		os.Exit(0)
	}
}

// Thirty processes edit the same bead, and no process overwrites the edit of another.
func TestThirtyProcessesEditOneBead(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	const editors = 30
	at := t.TempDir()
	s := open(t, at)
	b, err := s.Create(t.Context(), beads.Bead{Title: "a", Metadata: map[string]string{"n": "0"}})
	if err != nil {
		t.Fatal(err)
	}
	var children []*exec.Cmd
	said := make([]strings.Builder, editors)
	for e := range editors {
		c := child(t, "edit", at, b.ID, fmt.Sprint("e", e))
		c.Stdout = &said[e]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	tries := 0
	for e, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(said[e].String()))
		if err != nil {
			t.Fatal(err)
		}
		tries += n
	}
	t.Logf("%d tries", tries)
	b, err = s.Get(t.Context(), b.ID)
	if err != nil || b.Metadata["n"] != strconv.Itoa(editors) || len(b.Labels) != editors || b.Rev != editors+1 {
		t.Errorf("%+v, %v", b, err)
	}
}

// A store in a read-only folder never looks empty, and changes fail.
func TestReadOnlyFolder(t *testing.T) {
	at := t.TempDir()
	s := open(t, at)
	create(t, s, "a")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	lock(t, at, s.folder)
	s = open(t, at)
	everyCall(t, time.Minute, s, func(what string, err error) {
		changes := what == "create" || what == "update" || what == "restore" || what == "purge"
		if changes && err == nil || err != nil && !strings.Contains(err.Error(), "mount it read-write") && !strings.Contains(err.Error(), "check the permissions of its folder") {
			t.Errorf("%s: %v", what, err)
		}
	})
	if all, err := s.List(t.Context(), beads.Query{}); err == nil && len(all) != 1 {
		t.Errorf("got the beads %v", all)
	}
}

// lock makes folders read-only, even for root.
func lock(t *testing.T, at, folder string) {
	t.Helper()
	if os.Geteuid() != 0 {
		for _, dir := range []string{folder, at} {
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
		}
		return
	}
	if err := unix.Mount(at, at, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("root can write everywhere, and mounts are not possible here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("root can write everywhere, and read-only mounts are not possible here: %v", err)
	}
}
