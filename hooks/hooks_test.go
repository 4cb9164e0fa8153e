package hooks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o640)); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const claude = ".claude/settings.json"

func TestInstallIsDoneOnce(t *testing.T) {
	dir := t.TempDir()
	r := Install(dir, Kinds())
	want := []string{claude, ".gemini/settings.json", ".codex/hooks.json", ".opencode/plugins/gcity.js",
		".github/hooks/gcity.json", ".cursor/hooks.json"}
	if !slices.Equal(r.Written, want) || len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	before := map[string]string{}
	for _, file := range want {
		before[file] = get(t, filepath.Join(dir, file))
	}
	if r := Install(dir, Kinds()); len(r.Written)+len(r.Problems) > 0 {
		t.Errorf("the second Install: got %+v", r)
	}
	for _, file := range want {
		if now := get(t, filepath.Join(dir, file)); now != before[file] {
			t.Errorf("%s has changed: %s", file, now)
		}
	}
	var c struct {
		Hooks map[string][]struct {
			Matcher *string
			Hooks   []struct{ Type, Command string }
		}
	}
	if err := json.Unmarshal([]byte(before[claude]), &c); err != nil {
		t.Fatal(err)
	}
	for event, line := range map[string]string{"SessionStart": "gc prime --hook", "UserPromptSubmit": "gc mail check --inject", "Stop": "gc hook --inject --hook-format claude || true"} {
		e := c.Hooks[event]
		if len(e) != 1 || e[0].Matcher == nil || len(e[0].Hooks) != 1 || e[0].Hooks[0].Type != "command" || e[0].Hooks[0].Command != `test -z "$GC_AGENT" || `+line {
			t.Errorf("%s: %+v", event, e)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*", ".gcity-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary file %q remains, %v", left, err)
	}
}

// Temporary files of a killed installation are removed by a later one.
func TestInstallRemovesTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	Install(dir, []string{"claude"})
	left := filepath.Join(dir, ".claude", ".gcity-AAAAAAAAAAAAAAAAAAAAAAAAAA")
	put(t, left, "left")
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(left, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if r := Install(dir, []string{"claude"}); len(r.Written)+len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s still exists: %v", left, err)
	}
}

func TestInstallKeepsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, claude)
	put(t, file, `{
    "zebra": {"b": 1.0, "a": "<é\u0041>"},
    "hooks": {
        "Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "say done"}]}],
        "SessionStart": [{"hooks": [{"type": "command", "command": "export PATH=x && gc prime --hook"}]}],
        "PreToolUse": []
    },
    "apple": 12345678901234567890
}
`)
	if r := Install(dir, []string{"claude"}); len(r.Written) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	got := get(t, file)
	for _, kept := range []string{`"b": 1.0`, `"<é\u0041>"`, "say done", "12345678901234567890", `"PreToolUse": []`, "\n    \"apple\""} {
		if !strings.Contains(got, kept) {
			t.Errorf("want %s in %s", kept, got)
		}
	}
	order := []int{}
	for _, key := range []string{"zebra", "Stop", "say done", "gc hook --inject", "SessionStart", "PreToolUse", "UserPromptSubmit", "apple"} {
		order = append(order, strings.Index(got, key))
	}
	if !slices.IsSorted(order) || order[0] < 0 {
		t.Errorf("the order changed: %v in %s", order, got)
	}
	if n := strings.Count(got, "gc prime --hook"); n != 1 { // the SessionStart hook was already there
		t.Errorf("%d times: %s", n, got)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestInstallLeavesWhatItDoesNotUnderstand(t *testing.T) {
	for text, want := range map[string]string{
		"{ // mine\n}":              "cannot install hooks for claude: .claude/settings.json is not valid JSON (invalid character '/' looking for beginning of object key string), and was not changed",
		"[]":                        "cannot install hooks for claude: .claude/settings.json is not an object, and was not changed",
		`{"hooks": []}`:             `cannot install hooks for claude: .claude/settings.json was not changed, because its "hooks" is not an object`,
		`{"hooks": {"Stop": {}}}`:   `cannot install hooks for claude: .claude/settings.json was not changed, because its hooks for Stop are not a list`,
		`{"hooks": {"Stop": null}}`: `cannot install hooks for claude: .claude/settings.json was not changed, because its hooks for Stop are not a list`,
		`{"a": "` + strings.Repeat("x", maxFile) + `"}`: "cannot install hooks for claude: .claude/settings.json is larger than 4 MB, and was not changed",
	} {
		dir := t.TempDir()
		put(t, filepath.Join(dir, claude), text)
		r := Install(dir, []string{"claude", "gemini"})
		if len(r.Problems) != 1 || r.Problems[0] != want {
			t.Errorf("%.30s: %+v", text, r.Problems)
		}
		if !slices.Equal(r.Written, []string{".gemini/settings.json"}) {
			t.Errorf("%.30s: other files were not installed: %q", text, r.Written)
		}
		if get(t, filepath.Join(dir, claude)) != text {
			t.Errorf("%.30s: the file was changed", text)
		}
	}
}

func TestInstallStaysInItsFolder(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, "settings.json"), "{}")
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, ".claude")), os.Mkdir(filepath.Join(dir, ".gemini"), 0o755),
		os.Symlink(filepath.Join(outside, "settings.json"), filepath.Join(dir, ".gemini/settings.json"))); err != nil {
		t.Fatal(err)
	}
	if r := Install(dir, []string{"claude", "gemini"}); len(r.Problems) != 2 || len(r.Written) > 0 {
		t.Errorf("%+v", r)
	}
	if get(t, filepath.Join(outside, "settings.json")) != "{}" {
		t.Error("a file outside was changed")
	}
}

func TestCopiedFileIsUpdatedUntilAUserEditsIt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".opencode/plugins/gcity.js")
	// an earlier version installed the first file, and a power failure emptied the second
	for _, old := range []string{begins + sum("older\n") + "\nolder\n", ""} {
		put(t, file, old)
		if r := Install(dir, []string{"opencode"}); len(r.Written) != 1 || !strings.HasSuffix(get(t, file), opencode) {
			t.Errorf("%q: %+v: %s", old, r, get(t, file))
		}
	}
	mine := get(t, file) + "// mine\n"
	put(t, file, mine)
	if r := Install(dir, []string{"opencode"}); len(r.Written)+len(r.Problems) > 0 || get(t, file) != mine {
		t.Errorf("%+v: %s", r, get(t, file))
	}
}

func TestAnotherInstallationCounts(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, ".github/hooks/gascity.json"), "{}")
	put(t, filepath.Join(dir, ".opencode/plugins/gascity.js"), "//")
	if r := Install(dir, []string{"copilot", "opencode"}); len(r.Written)+len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".github/hooks/gcity.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Hooks of earlier versions whose output did not reach the model are replaced. Those that a user has edited are kept.
func TestInstallReplacesFormerHooks(t *testing.T) {
	const former = `test -z \"$GC_AGENT\" || gc `
	dir := t.TempDir()
	file := filepath.Join(dir, ".gemini/settings.json")
	entry := func(line string) string {
		return `{ "matcher": "", "hooks": [{"type": "command", "command": "` + line + `"}]}`
	}
	put(t, file, `{"hooks": {
  "SessionStart": [`+entry("say hi")+`, `+entry(former+"prime --hook")+`],
  "PreCompress": [`+entry(former+"prime --hook")+`],
  "BeforeAgent": [`+entry("time "+former+"mail check --inject")+`],
  "SessionEnd": [`+entry(former+"hook --inject")+`]}}`)
	if r := Install(dir, []string{"gemini"}); len(r.Written) != 1 || len(r.Problems) > 0 {
		t.Fatalf("%+v", r)
	}
	got := get(t, file)
	for _, want := range []string{"say hi", former + "prime --hook --hook-format gemini || true", "time " + former + "mail check --inject\"",
		former + "hook --inject --hook-format gemini || true", "AfterAgent"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("want %s once in %s", want, got)
		}
	}
	for _, gone := range []string{"PreCompress", "SessionEnd", "prime --hook\"", "/hook --inject\""} {
		if strings.Contains(got, gone) {
			t.Errorf("%s remains in %s", gone, got)
		}
	}
	if r := Install(dir, []string{"gemini"}); len(r.Written)+len(r.Problems) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestOutput(t *testing.T) {
	const text = "say \"hi\" <now>\n"
	for _, c := range []struct {
		program string
		command Command
		want    string
		known   bool
	}{
		{"claude", Prime, text, true},
		{"claude", Work, `{"decision":"block","reason":"say \"hi\" <now>\n"}` + "\n", true},
		{"gemini", Mail, `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"say \"hi\" <now>\n"}}` + "\n", true},
		{"copilot", Prime, `{"additionalContext":"say \"hi\" <now>\n"}` + "\n", true},
		{"codex", Mail, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"say \"hi\" <now>\n"}}` + "\n", true},
		{"cursor", Prime, `{"additional_context":"say \"hi\" <now>\n"}` + "\n", true},
		{"cursor", Work, `{"followup_message":"say \"hi\" <now>\n"}` + "\n", true},
		{"opencode", Prime, text, true},
		{"amp", Prime, text, false},
		{"", Work, text, false},
	} {
		if got, known := Output(c.program, c.command, text); got != c.want || known != c.known {
			t.Errorf("%s, %s: got %q, %t", c.program, c.command, got, known)
		}
		if got, _ := Output(c.program, c.command, ""); got != "" {
			t.Errorf("%s, %s: no text became %q", c.program, c.command, got)
		}
	}
}

func TestContinued(t *testing.T) {
	for input, want := range map[string]bool{"": false, "no JSON": false, `{"stop_hook_active":false}`: false,
		`{"hook_event_name":"Stop","stop_hook_active":true}`: true,
		`{"status":"completed","loop_count":0}`:              false, `{"status":"completed","loop_count":1}`: true,
		`{"status":"aborted","loop_count":0}`: true, "\ufeff{\"loop_count\":1}": true,
		`{"stopReason":"end_turn","stopHookActive":true}`: true} {
		if got := Continued(strings.NewReader(input)); got != want {
			t.Errorf("%s: got %t", input, got)
		}
	}
}

func FuzzMerge(f *testing.F) {
	for _, s := range []string{"", "{}", "null", `{"hooks":{"Stop":[1,{"a":[]}]}}`, `{"hooks":{},"hooks":{}}`, "{\"a\":\"\\ud800\"}", "\t{\n\t\"a\" : 1e400}", `{"hooks":{"Stop":[]}} `} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, old []byte) {
		k := &kinds()[0]
		once, err := k.merged(old)
		if err != nil || once == nil {
			return
		}
		if !json.Valid(once) {
			t.Fatalf("%q became %q", old, once)
		}
		if twice, err := k.merged(once); err != nil || twice != nil {
			t.Fatalf("%q: merged %q, merged again %q, %v", old, once, twice, err)
		}
		var before, after map[string]any
		if len(strings.TrimSpace(string(old))) == 0 || json.Unmarshal(old, &before) != nil {
			return
		}
		if err := json.Unmarshal(once, &after); err != nil {
			t.Fatal(err)
		}
		for key := range before {
			if _, kept := after[key]; !kept {
				t.Fatalf("%q: lost %q: %q", old, key, once)
			}
		}
	})
}

// The hook lines call gc for an agent, and do nothing for other users of the folder.
func TestHooksInARealShell(t *testing.T) {
	bin := t.TempDir()
	put(t, filepath.Join(bin, "gc"), "#!/bin/sh\necho asked: \"$@\"\n")
	if err := os.Chmod(filepath.Join(bin, "gc"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds() {
		for _, h := range k.hooks {
			asked := "asked: " + strings.TrimPrefix(string(h.command), "gc ")
			if h.output != "" {
				asked += " --hook-format " + k.name
			}
			for who, want := range map[string]string{"": "", "demo/a": asked + "\n"} {
				c := exec.CommandContext(t.Context(), "sh", "-c", k.line(h))
				c.Env = []string{"PATH=" + bin, "GC_AGENT=" + who}
				if out, err := c.CombinedOutput(); err != nil || string(out) != want {
					t.Errorf("%s, %s for %q: got %q, %v", k.name, h.event, who, out, err)
				}
			}
		}
	}
}
