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

// Every console block of the documentation consists of complete shell commands. Text that follows the start of a here
// document on the same line is an argument of the command and not a part of the document.
func TestDocsConsole(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	fenced := regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	prompt := regexp.MustCompile(`(?m)^\$ `)
	document := regexp.MustCompile(`(?m)<<-?['"]?(\w+)['"]?(.*)$`)
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range fenced.FindAllStringSubmatch(string(text), -1) {
			checked++
			block := prompt.ReplaceAllString(b[1], "")
			check := exec.CommandContext(t.Context(), "sh", "-n")
			check.Stdin = strings.NewReader(block)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", filepath.Base(page), err, out, block)
			}
			for _, d := range document.FindAllStringSubmatch(block, -1) {
				if d[2] != "" || !strings.Contains(block, "\n"+d[1]+"\n") {
					t.Errorf("%s: the here document %s is not complete\n%s", filepath.Base(page), d[1], block)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("got only %d console blocks", checked)
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
