package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"gcity/api"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
	"gcity/events"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Human-readable output is compared byte for byte. It includes hostile names and reasons (L12).
func TestGolden(t *testing.T) {
	t.Setenv("TZ", "UTC")
	time.Local = time.UTC
	for name, args := range map[string][]string{
		"status": {"status"}, "list": {"agent", "list"}, "why": {"why", "scout"}, "show": {"agent", "show", "app/reader"},
		"events": {"events"}, "help": {"--help"}, "help-agent": {"agent", "--help"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCLI(t, demoCity(), args...)
			if code != 0 || errs != "" {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if i := strings.IndexAny(out, "\x1b\x07"); i >= 0 {
				t.Fatalf("a control character reached the output: %q", out[i:])
			}
			golden(t, name+".golden", out)
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update to accept):\n%s", name, diff)
	}
}

func TestJSON(t *testing.T) {
	for _, args := range [][]string{
		{"status"}, {"agent", "list"}, {"agent", "show", "scout"}, {"agent", "peek", "scout"}, {"agent", "logs", "scout"},
		{"why", "scout"}, {"events"}, {"version"}, {"agent", "release", "scout"}, {"suspend"},
	} {
		code, out, errs := runCLI(t, demoCity(), append(args, "--json")...)
		if code != 0 || errs != "" || !json.Valid([]byte(out)) {
			t.Errorf("%v: got exit %d, stderr %q, stdout %q", args, code, errs, out)
		}
	}
}

// status --json prints the same document as GET /v0/status, with or without a controller.
func TestStatusIsTheAPIs(t *testing.T) {
	s := demoCity()
	want, err := json.MarshalIndent(api.StatusOf(s.snapshot, noon), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if _, out, _ := runCLI(t, s, "status", "--json"); strings.TrimSpace(out) != string(want) {
		t.Error(difference(string(want), out))
	}
	*s.snapshot = city.Snapshot{Name: "bright", Agents: s.snapshot.Agents}
	_, out, _ := runCLI(t, s, "status", "--json")
	var got api.Status
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Running != 2 || got.Agents != 4 || got.Version != "test" || got.PID != 0 || got.Uptime != 0 || got.LoopAge != 0 || got.Degraded == nil {
		t.Errorf("%+v", got)
	}
}

// A usage error exits with 2 and leaves stdout empty, even with --json.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"nonsense"}, {"agent"}, {"agent", "peak", "scout"}, {"agent", "peek", "a", "b"}, {"why"}, {"--nonsense"}, {"event", "emit"},
		{"events", "--since", "yesterday"}, {"event", "emit", "x.y", "--payload", "{"}, {"agent", "nudge", "scout"}, {"agent", "unsend", "reader", "x"}, {"agent", "unsend"}, {"events", "--limit", "0"},
	} {
		code, out, errs := runCLI(t, demoCity(), append(args, "--json")...)
		if code != exit.CodeUsage || out != "" || !strings.HasPrefix(errs, "gcity: ") {
			t.Errorf("%v: got exit %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
}

func TestVerbsReachTheCity(t *testing.T) {
	for line, want := range map[string]city.Command{
		"suspend": city.Suspend{}, "resume": city.Resume{}, "reload": city.Reload{},
		"agent restart reader": city.Restart{Agent: "app/reader"}, "agent kill app/reader": city.Kill{Agent: "app/reader"},
		"agent suspend idle": city.Suspend{Agent: "idle"}, "agent resume idle": city.Resume{Agent: "idle"},
		"agent stop scout": city.Stop{Agent: "scout"}, "agent release scout": city.Release{Agent: "scout"},
		"agent interrupt reader": city.Interrupt{Agent: "app/reader"}, "agent request-restart reader": city.RequestRestart{Agent: "app/reader"},
		"agent nudge reader go  on":          city.Nudge{Agent: "app/reader", Text: "go on"},
		"agent nudge reader go --now --wait": city.Nudge{Agent: "app/reader", Text: "go", Now: true},
		"agent unsend reader":                city.Unsend{Agent: "app/reader"},
		"agent unsend reader 7":              city.Unsend{Agent: "app/reader", ID: 7},
		"agent send-keys reader Escape :q C": city.SendKeys{Agent: "app/reader", Keys: []string{"Escape", ":q", "C"}},
	} {
		s := demoCity()
		code, _, errs := runCLI(t, s, strings.Fields(line)...)
		if diff := difference([]city.Command{want}, s.done); code != 0 || diff != "" {
			t.Errorf("%s: got exit %d, %s%s", line, code, errs, diff)
		}
		if code, _, _ := runCLI(t, s, append(strings.Fields(line), "--read-only")...); code != exit.CodeFailed || len(s.done) != 1 {
			t.Errorf("%s --read-only: got exit %d, done %v", line, code, s.done)
		}
	}
}

// resume says whether the city was suspended.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		loaded bool
		file   string
		want   bool
	}{
		"not suspended":             {false, "", false},
		"suspended":                 {true, "", true},
		"an edit is not loaded yet": {false, "[workspace]\nsuspended = true\n", true},
		"an invalid edit":           {false, "suspended = [", false},
	} {
		s := demoCity()
		s.snapshot.Suspended, s.file = c.loaded, c.file
		code, out, errs := runCLI(t, s, "resume")
		if said := out == "the city is not suspended\n"; code != 0 || said == c.want {
			t.Errorf("%s: exit %d, %q, %q", name, code, out, errs)
		}
	}
}

func TestUnknownAgents(t *testing.T) {
	code, out, errs := runCLI(t, demoCity(), "agent", "show", "scuot")
	if code != exit.CodeUsage || out != "" || !strings.Contains(errs, `did you mean "scout"?`) {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	code, _, errs = runCLI(t, demoCity(), "agent", "nudge", "scout", "hello")
	if code != exit.CodeConflict || !strings.Contains(errs, "quarantined") {
		t.Errorf("nudge without a terminal: got exit %d, %q", code, errs)
	}
}

func TestVerdict(t *testing.T) {
	refused := &config.Error{Path: "/c", Problems: []config.Problem{{Message: "a"}, {Message: "b"}}}
	for _, c := range []struct {
		err  error
		code int
		says string
	}{
		{nil, exit.CodeDone, ""},
		{errors.New("x"), exit.CodeFailed, "x"},
		{exit.Usage("no"), exit.CodeUsage, "no"},
		{exit.Quietly(exit.CodeFailed), exit.CodeFailed, ""},
		{exit.NotRunning("none"), exit.CodeNotRunning, "none"},
		{refused, exit.CodeConfig, "the configuration of /c is invalid (2 errors):\na\nb"},
		{fmt.Errorf("load: %w", refused), exit.CodeConfig, "the configuration of /c is invalid (2 errors):\na\nb"},
		{&city.Error{Code: city.Conflict, Message: "c"}, exit.CodeConflict, "c"},
		{&city.Error{Code: city.Invalid, Message: "i"}, exit.CodeUsage, "i"},
		{&city.Error{Code: city.Conflict, Message: "i", Details: city.ConfigRefused}, exit.CodeConfig, "i"},
		{&city.Error{Code: city.NotFound, Message: "n"}, exit.CodeUsage, "n"},
		{&city.Error{Code: city.Forbidden, Message: "f"}, exit.CodeFailed, "f"},
	} {
		if code, says := exit.Verdict(c.err); code != c.code || says != c.says {
			t.Errorf("verdict(%v) = %d %q, want %d %q", c.err, code, says, c.code, c.says)
		}
	}
}

// A reload of an invalid configuration exits with exit.CodeConfig and lists every error.
func TestReloadOfAnInvalidFile(t *testing.T) {
	s := demoCity()
	s.refuse = &city.Error{Code: city.Invalid, Message: "city.toml:3:1: no\ncity.toml:9:1: neither"}
	for _, args := range [][]string{{"reload"}, {"reload", "--confirm"}, {"reload", "--json"}} {
		code, out, errs := runCLI(t, s, args...)
		if code != exit.CodeConfig || out != "" || !strings.Contains(errs, "invalid, so the previous one stays in force:\ncity.toml:3:1: no\ncity.toml:9:1: neither\n") {
			t.Errorf("%v: got exit %d, %q, %q", args, code, out, errs)
		}
	}
	s.refuse = &city.Error{Code: city.Conflict, Message: "held"}
	if code, _, errs := runCLI(t, s, "reload"); code != exit.CodeConflict {
		t.Errorf("reload of a held configuration: got exit %d, %s", code, errs)
	}
}

// If the configuration has several errors, status and events name the first one and say how many others there are.
func TestManyMistakes(t *testing.T) {
	s := demoCity()
	s.snapshot.Config.Rejected = "city.toml:3:1: no\ncity.toml:9:1: neither\ncity.toml:10:1: nor"
	s.log = []events.Event{{Seq: 1, TS: noon, Type: events.ConfigRejected, Actor: "controller", Message: "the old one stays: " + s.snapshot.Config.Rejected}}
	for line, want := range map[string]string{
		"status": "! the configuration on disk is not in force: city.toml:3:1: no and 2 more; `gcity doctor` lists them\n",
		"events": "the old one stays: city.toml:3:1: no and 2 more\n",
	} {
		if _, out, _ := runCLI(t, s, line); !strings.Contains(out, want) {
			t.Errorf("%s: %s", line, out)
		}
	}
}

func TestTable(t *testing.T) {
	a := &env.Env{Printer: output.Printer{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }, Now: time.Now}}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		seen := map[string]bool{}
		for _, s := range c.Commands() {
			if s.Short == "" || s.Args == nil && !s.HasSubCommands() || seen[s.Name()] {
				t.Errorf("%s: incomplete command or duplicate name", s.CommandPath())
			}
			seen[s.Name()] = true
			walk(s)
		}
	}
	walk(tree(a, nil))
	for _, path := range []string{
		"init", "start", "stop", "restart", "status", "plan", "why", "reload", "suspend", "resume", "agent list", "agent show",
		"agent peek", "agent logs", "agent attach", "agent nudge", "agent unsend", "agent send-keys", "agent interrupt", "agent restart", "agent stop",
		"agent kill", "agent drain", "agent undrain", "agent drain-check", "agent drain-ack", "pool list", "pool show", "pool scale",
		"rig list", "rig status", "rig suspend", "rig resume", "rig restart", "agent suspend", "agent resume", "agent release", "agent request-restart", "config show", "config explain",
		"events", "event emit", "register", "unregister", "cities", "supervisor run", "supervisor start", "supervisor stop", "supervisor status", "supervisor reload",
		"supervisor logs", "doctor", "version", "completion bash", "completion zsh", "completion fish", "daemon run",
	} {
		if c, rest, err := tree(a, nil).Find(strings.Fields(path)); err != nil || len(rest) > 0 || c.CommandPath() != "gcity "+path {
			t.Errorf("the command %q does not exist", path)
		}
	}
}

func TestTreeBuildsOneCommand(t *testing.T) {
	a := &env.Env{Printer: output.Printer{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getenv: func(string) string { return "" }, Now: time.Now}}
	all := tree(a, nil).Commands()
	if len(all) != len(branches()) {
		t.Fatalf("got %d commands, but %d in the table", len(all), len(branches()))
	}
	for i, c := range all {
		built := tree(a, []string{c.Name(), "--help"}).Commands()
		want := 1
		if c.Name() == "completion" || c.Name() == "man" {
			want = len(all)
		}
		if branches()[i].name != c.Name() || len(built) != want {
			t.Errorf("%s: got %q in the table and %d built commands",
				c.Name(), branches()[i].name, len(built))
		}
	}
	for _, args := range [][]string{{"help", "status"}, {"--help"}, {"sttaus"}, {"pack", "list"}, {"--city", "x", "status"}, {"__complete", ""}} {
		if n := len(tree(a, args).Commands()); n != len(all) {
			t.Errorf("%v: got %d commands, want %d", args, n, len(all))
		}
	}
}
