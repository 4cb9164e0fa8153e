package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
)

// Each command has a man page that contains its help and passes mandoc's lint.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	if code, out, errs := runCLI(t, demoCity(), "man", "--dir", dir); code != 0 || !strings.Contains(out, " pages to ") {
		t.Fatalf("exit %d, %s%s", code, out, errs)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		commands++
		if _, err := os.Stat(filepath.Join(dir, manName(c)+".1")); err != nil {
			t.Error(err)
		}
		for _, below := range shown(c) {
			walk(below)
		}
	}
	a := &env.Env{}
	walk(tree(a, nil))
	if len(files) != commands || commands < 50 {
		t.Errorf("got %d pages for %d commands", len(files), commands)
	}
	page, err := os.ReadFile(filepath.Join(dir, "gcity-daemon-install.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".SH NAME\ngcity\\-daemon\\-install \\- Install a service", `\fB\-\-print\fR`, "gcity\\-daemon (1)", `\fB\-\-json\fR`} {
		if !strings.Contains(string(page), want) {
			t.Errorf("want %q in:\n%s", want, page)
		}
	}
	lint, err := exec.LookPath("mandoc")
	if err != nil {
		t.Skip("mandoc is not installed")
	}
	out, err := exec.Command(lint, append([]string{"-T", "lint", "-W", "warning"}, files...)...).CombinedOutput()
	for line := range bytes.Lines(out) {
		if !bytes.Contains(line, []byte("missing date")) { // with a date, two builds would differ
			t.Errorf("%s", line)
		}
	}
	if err != nil && t.Failed() {
		t.Error(err)
	}
}

// The man page of one command goes to stdout. An unknown command is a usage error.
func TestManPage(t *testing.T) {
	if code, out, _ := runCLI(t, demoCity(), "man", "agent", "nudge"); code != 0 || !strings.HasPrefix(out, `.TH "GCITY\-AGENT\-NUDGE"`) {
		t.Errorf("exit %d, %.40q", code, out)
	}
	if code, out, _ := runCLI(t, demoCity(), "man", "agent", "nonsense"); code != exit.CodeUsage || out != "" {
		t.Errorf("exit %d, %q", code, out)
	}
}
