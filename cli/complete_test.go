package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/internal/eventually"
	"gcity/internal/suggest"
)

func shellCity(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"city.toml": "[workspace]\nname = \"x\"\n[[rigs]]\nname = \"demo\"\npath = \"demo\"\n[[agents]]\nname = \"builder\"\nstart_command = \"x\"\n" +
			"[[agents]]\nname = \"worker\"\nstart_command = \"x\"\n[agents.pool]\nmax = 2\n",
		"demo/.keep": "",
		".gc/formulas/automations/digest/automation.toml": automationText,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const automationText = "[automation]\ngate = \"manual\"\nexec = \"true\"\n"

// Every installed shell completes the names in the configuration, even if no controller is running.
func TestShellsComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("runs three shells")
	}
	dir := shellCity(t)
	gcity, err := exec.LookPath("gcity")
	if err != nil {
		t.Fatal(err)
	}
	script := func(shell string) string {
		out, err := exec.Command(gcity, "completion", shell).Output()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "_gcity")
		if err := os.WriteFile(file, out, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	shells := map[string]string{
		"bash": `source "$SCRIPT"; COMP_LINE=$LINE COMP_POINT=${#LINE}
			IFS=$' \t\n:' read -r -a COMP_WORDS <<<"$LINE"; COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMP_TYPE=9
			__start_gcity; printf '%s\n' "${COMPREPLY[@]}"`,
		"fish": `source $SCRIPT; complete -C "$LINE" | cut -f1`,
		"zsh": `autoload -Uz compinit; compinit -u -d "$HOME/dump"; source "$SCRIPT"; _describe() { local a; eval "a=(\"\${${@[-1]}[@]}\")"; eval "a=(\"\${$2[@]}\")"; printf '%s\n' "${a[@]%%:*}"; }
			words=(${(z)LINE}); [[ $LINE == *" " ]] && words+=(""); CURRENT=$#words; _gcity`,
	}
	for shell, program := range shells {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("%s is not installed", shell)
			}
			file, home := script(shell), t.TempDir() // zsh writes a cache file to the home folder
			for _, c := range []struct {
				line string
				want []string
				not  string
			}{
				{"gcity agent nudge ", []string{"builder", "worker-1", "worker-2"}, "demo"},
				{"gcity agent nudge bu", []string{"builder"}, "worker-1"},
				{"gcity pool scale ", []string{"worker"}, "builder"},
				{"gcity rig status ", []string{"demo"}, "worker"},
				{"gcity automation run d", []string{"digest"}, "builder"},
				{"gcity agent nud", []string{"nudge"}, "peek"},
				{"gcity bead list --rig ", []string{"demo"}, "builder"},
				{"gcity bead list --assignee ", []string{"builder", "worker"}, "demo"},
			} {
				cmd := exec.Command(path, "-c", program)
				if shell == "bash" {
					cmd.Args = slices.Insert(cmd.Args, 1, "--norc")
				}
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "SCRIPT="+file, "LINE="+c.line, "HOME="+home, "GORACE="+quickEnd)
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				var got []string
				for line := range strings.Lines(string(out)) {
					word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
					got = append(got, word)
				}
				for _, want := range c.want {
					if !slices.Contains(got, want) {
						t.Errorf("completions of %q: want %q in %q, %v, %s",
							c.line, want, got, err, errs.String())
					}
				}
				if shell != "zsh" && slices.Contains(got, c.not) {
					t.Errorf("completions of %q: %q must not be one of them", c.line, c.not)
				}
			}
		})
	}
}

// Bash splits words at colons, so a completion contains only the part after the last colon.
func TestBashColons(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	gcity, err := exec.LookPath("gcity")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{"gcity why sweep:r": "rig:demo", "gcity why sweep:rig:": "demo", "gcity why swe": "sweep:rig:demo"} {
		cmd := exec.Command(bash, "--norc", "-c", `source <("$GCITY" completion bash); gcity() { printf 'sweep:rig:demo\n:4\n'; }
			COMP_LINE=$LINE COMP_POINT=${#LINE} COMP_WORDBREAKS=' :=' COMP_TYPE=9; compopt() { :; }; __start_gcity; printf '%s\n' "${COMPREPLY[@]}"`)
		cmd.Env = append(os.Environ(), "GCITY="+gcity, "LINE="+line, "GORACE="+quickEnd)
		if out, err := cmd.CombinedOutput(); strings.TrimSpace(string(out)) != want {
			t.Errorf("%q: %q, %v", line, out, err)
		}
	}
}

// If the city does not respond, the completion is empty and the shell does not wait.
func TestCompletionDoesNotWait(t *testing.T) {
	dir, hung := shellCity(t), make(chan struct{})
	defer close(hung)
	a := &env.Env{
		Printer: output.Printer{
			Now:    time.Now,
			Getenv: func(string) string { return "" },
		},
		Dir: dir,
		Dial: func(string) (city.Control, func(), error) {
			<-hung
			return nil, nil, os.ErrNotExist
		},
	}
	if got := env.NamesFor(context.Background(), a, time.Millisecond, []suggest.Kind{suggest.Agent}); got != nil {
		t.Errorf("%q", got)
	}
}

func TestCompletionWithoutAController(t *testing.T) {
	dir := shellCity(t)
	f, err := os.OpenFile(filepath.Join(dir, "city.toml"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("[[watchdogs]]\nname = \"guard\"\nwatches = \"builder\"\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	a := &env.Env{
		Printer: output.Printer{
			Now:    time.Now,
			Getenv: func(string) string { return "" },
		},
		Dir:  dir,
		Dial: func(string) (city.Control, func(), error) { return nil, nil, os.ErrNotExist },
	}
	for kind, want := range map[suggest.Kind]string{suggest.Agent: "builder", suggest.Pool: "worker", suggest.Rig: "demo",
		suggest.Automation: "digest", suggest.Watchdog: "guard"} {
		if got := env.NamesFor(t.Context(), a, eventually.Timeout, []suggest.Kind{kind}); !slices.Contains(got, want) {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestCompletionUsesTheController(t *testing.T) {
	_, out, _ := runCLI(t, demoCity(), "__complete", "agent", "peek", "")
	if !strings.Contains(out, "app/reader\n") || !strings.HasSuffix(out, ":4\n") {
		t.Errorf("%q", out)
	}
}
