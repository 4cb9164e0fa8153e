package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGC replaces the gc command. Its first mail fails, and it ends the agent after three rounds.
const fakeGC = `#!/bin/sh
echo "$*" >>"$LOG"
case "$1 $2" in
"agent drain-check") [ "$(grep -c drain-check "$LOG")" -gt 3 ] ;;
"agent drain-ack") kill "$PPID" ;;
"hook --json") grep -q '^bead close' "$LOG" ||
	printf ' "id": "mi-1",\n "title": "grind the oats",\n "status": "in_progress"\n' ;;
"bead show") printf ' "description": "order to-7"\n' ;;
"mail check") exit 1 ;;
"mail send") [ "$(grep -c 'mail send' "$LOG")" -gt 1 ] ;;
esac
`

// The joiner closes a bead only after it has sent the mail, so that a failed mail is sent again.
func TestStandInSendsMailBeforeItClosesTheBead(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../../examples/town/agents/stand-in.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(filepath.Join(dir, "gc"), []byte(fakeGC), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ledger.txt"), []byte("mi-1 grind the oats\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", script, "duty: join\ntell: steward\n")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "LOG="+log, "GC_RIG=mill", "GC_AGENT=mill/joiner", "PACE=0")
	out, _ := cmd.CombinedOutput() // the fake gc kills the script
	all, err := os.ReadFile(log)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, "mail send") || strings.HasPrefix(line, "bead close") {
			got = append(got, strings.Join(strings.Fields(line)[:2], " "))
		}
	}
	if want := "mail send, mail send, bead close"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q; all calls:\n%s%s", got, want, all, out)
	}
}
