package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// canceledDrain replaces the gc command. Every second drain-check reports a drain. The first drain-ack fails, because
// the drain was canceled.
const canceledDrain = `#!/bin/sh
echo "$*" >>"$LOG"
case "$1 $2" in
"agent drain-check") [ $(($(grep -c drain-check "$LOG") % 2)) = 0 ] ;;
"agent drain-ack") [ "$(grep -c drain-ack "$LOG")" -gt 1 ] || exit 4 ;;
esac
`

// noSleep replaces the sleep command. It ends a loader that waits until gcity stops it.
const noSleep = `#!/bin/sh
[ "$1" != 60 ] || kill "$PPID"
`

// A loader of the demo city continues after a canceled drain.
func TestLoaderGoesOnAfterACanceledDrain(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../examples/demo/agents/loader.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"gc": canceledDrain, "sleep": noSleep} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", string(script))
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LOG="+filepath.Join(dir, "log"))
	out, _ := cmd.CombinedOutput() // the fake sleep kills the script
	for _, want := range []string{"crates loaded: 1\n", "crates loaded: 3\n"} {
		if strings.Count(string(out), want) != 1 {
			t.Errorf("want %q exactly once in\n%s", want, out)
		}
	}
}

// fixedDate replaces the date command.
const fixedDate = `#!/bin/sh
echo "$NOW"
`

// The demo's pool keeps its size during the controller's first minutes. Later, its size changes every two minutes.
func TestTheDemoPoolKeepsItsSizeAtFirst(t *testing.T) {
	script, err := filepath.Abs("../../examples/demo/agents/queue.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir, bin := t.TempDir(), t.TempDir()
	pid := filepath.Join(dir, ".gc", "daemon.pid")
	if err := os.Mkdir(filepath.Dir(pid), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{pid: "", filepath.Join(bin, "date"): fixedDate} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for age, want := range map[time.Duration]string{0: "33333333", 170 * time.Second: "33333333", time.Hour: "34323532"} {
		started := time.Now().Add(-age)
		if err := os.Chtimes(pid, started, started); err != nil {
			t.Fatal(err)
		}
		for _, late := range []int{0, 119} {
			sizes := ""
			for period := range len(want) {
				check := exec.Command("sh", script)
				check.Dir = dir
				check.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"),
					fmt.Sprintf("NOW=%d", 1_800_000_000+120*period+late))
				out, err := check.Output()
				if err != nil {
					t.Fatal(err)
				}
				sizes += strings.TrimSpace(string(out))
			}
			if sizes != want {
				t.Errorf("%v after the start, the pool wants the sizes %s, want %s", age, sizes, want)
			}
		}
	}
}
