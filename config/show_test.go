package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shownCity = `
[workspace]
name = "app"
start_command = "exec sh -i"
suspended = true

[[agents]]
name = "worker"
dir = "rooms/{{.Agent}}"
ready_delay_ms = 500
pre_start = ["mkdir -p \"{{.WorkDir}}/tmp\"", "true"]
session_setup_script = "setup.sh"
[agents.env]
PLAIN = "a\u001b[2Jb"
"odd name" = "x"
API_KEY = "hunter2"
db_password_file = "hunter2"
GITHUB_TOKEN = "$GITHUB_TOKEN"

[[agents]]
name = "other"
start_command = "top"

[daemon]
restart_window = "90m"
`

// TestShow keeps what config show and config explain print, word for word, in testdata.
func TestShow(t *testing.T) {
	c, err := Parse("/srv/app", []byte(shownCity), "GC_SESSION=fake")
	if err != nil {
		t.Fatal(err)
	}
	worker, err := c.Explain("worker")
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.Explain("other")
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{"show.toml": c.TOML(), "explain.txt": worker + "\n" + other} {
		path := filepath.Join("testdata", name)
		if *update {
			put(t, path, got)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "\x1b") {
			t.Errorf("%s shows what it must not", name)
		}
	}
	if _, err := c.Explain("wroker"); !errors.Is(err, ErrNoAgent) || !strings.Contains(err.Error(), `did you mean "worker"?`) {
		t.Errorf("%v", err)
	}
}
