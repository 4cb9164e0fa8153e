package folder

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/config"
	"gcity/controller"
	"gcity/internal/disk"
)

func TestFileThatCannotBeCreated(t *testing.T) {
	state := filepath.Join(t.TempDir(), "missing", ".gc")
	err := HideFromGit(state)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(state, ".gitignore")) ||
		strings.Contains(err.Error(), "configuration") {
		t.Errorf("%v", err)
	}
}

// While the recorded controller is dead, a command that tests the lock does not count as a controller.
func TestIsHeldDuringALockTest(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(StateDir(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	record := func(pid int) {
		if err := os.WriteFile(filepath.Join(StateDir(dir), "daemon.pid"), fmt.Append(nil, pid), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		pid  int
		want bool
	}{{"a dead controller", ended.Process.Pid, false}, {"a running controller", os.Getpid(), true}} {
		record(c.pid)
		lock, err := disk.TryLock(filepath.Join(StateDir(dir), "controller.lock"))
		if err != nil {
			t.Fatal(err)
		}
		released := false
		release := func() bool {
			if !released {
				released = true
				if err := lock.Release(); err != nil {
					t.Error(err)
				}
			}
			return true
		}
		if held, err := isHeld(dir, release); held != c.want || err != nil {
			t.Errorf("%s: got %v, %v", c.name, held, err)
		}
		release()
	}
	record(ended.Process.Pid)
	lock, err := disk.TryLock(filepath.Join(StateDir(dir), "controller.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	if held, err := IsHeld(dir); !held || err != nil {
		t.Errorf("a lock that stays held: got %v, %v", held, err)
	}
}

// A controller holds its city's folder even if .gc is missing or is not its own.
func TestHeldWithAnotherStateDir(t *testing.T) {
	dir := t.TempDir()
	if held, err := IsHeld(dir); held || err != nil {
		t.Errorf("no controller: got %v, %v", held, err)
	}
	hold, err := controller.Acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, replaced bool) {
		t.Helper()
		if held, err := IsHeld(dir); !held || err != nil {
			t.Errorf("%s: got %v, %v", name, held, err)
		}
		if h := HeldBy(dir, nil); h.PID != os.Getpid() || h.Replaced != replaced {
			t.Errorf("%s: got %+v", name, h)
		}
	}
	check("running", false)
	if err := os.Rename(StateDir(dir), StateDir(dir)+"2"); err != nil {
		t.Fatal(err)
	}
	check("moved", true)
	if err := os.CopyFS(StateDir(dir), os.DirFS(StateDir(dir)+"2")); err != nil {
		t.Fatal(err)
	}
	check("replaced", true)
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(StateDir(dir), "daemon.pid")); err != nil {
		t.Fatal(err)
	}
	if held, err := IsHeld(dir); held || err != nil {
		t.Errorf("after the release: got %v, %v", held, err)
	}
}

// A rig's own script belongs to the trust record only if the command line names it with PACK_DIR. Agents change the
// rig's other files.
func TestScriptsInARig(t *testing.T) {
	work, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, rig := filepath.Join(work, "town"), filepath.Join(work, "rig")
	for path, text := range map[string]string{
		filepath.Join(dir, config.FileName): "[workspace]\nname = 'town'\n[[rigs]]\nname = 'rig'\npath = '" + rig +
			"'\nformulas_dir = '" + rig + "/formulas'\n",
		filepath.Join(rig, "scripts", "run.sh"): "true\n",
		filepath.Join(rig, "formulas", "automations", "own", "automation.toml"): "[automation]\n" +
			"gate = 'manual'\nexec = 'sh scripts/run.sh'\n",
		filepath.Join(rig, "formulas", "automations", "pack", "automation.toml"): "[automation]\n" +
			"gate = 'manual'\nexec = '${PACK_DIR}/scripts/run.sh'\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, complete := AutomationPrograms(c)
	if len(all) != 2 || !complete {
		t.Fatalf("%v, complete: %v", all, complete)
	}
	want := map[string][]string{"automation pack:rig:rig": {filepath.Join(rig, "scripts", "run.sh")}}
	for _, p := range all {
		if !slices.Equal(p.Files, want[p.What]) {
			t.Errorf("%s: got the files %v, want %v", p.What, p.Files, want[p.What])
		}
	}
}
