package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gcity/internal/eventually"
)

// Every sh block of the documentation works. The blocks of a page run in one shell.
func TestDocsRun(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	fenced := regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	ran := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := fenced.FindAllStringSubmatch(string(text), -1)
		if len(blocks) == 0 {
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			var commands strings.Builder
			for _, b := range blocks {
				commands.WriteString(b[1])
			}
			script := "set -eux\ntrap 'gcity stop >/dev/null 2>&1 || :' EXIT\n"
			if !strings.Contains(commands.String(), "gcity init") { // the page is about an existing city
				script += "gcity init\n"
			}
			runPage(t, bin, script+commands.String())
		})
	}
	if ran < 5 {
		t.Errorf("got only %d pages with sh blocks", ran)
	}
}

func runPage(t *testing.T, bin, script string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+home, "GC_HOME="+filepath.Join(home, ".gc"), "XDG_CONFIG_HOME=", "XDG_STATE_HOME=",
		"XDG_RUNTIME_DIR=", "GC_CITY_PATH=", "SHELL=/bin/sh", "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
