package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/config"
	"gcity/session"
)

func having(programs ...string) Host {
	return Host{Environ: []string{"PATH=/usr/bin:/bin"}, BinDir: "/c/bin", Find: func(program, path string) bool {
		if filepath.IsAbs(program) {
			return slices.Contains(programs, program)
		}
		return slices.ContainsFunc(strings.Split(path, ":"), func(dir string) bool { return slices.Contains(programs, dir+"/"+program) })
	}}
}

func one(t *testing.T, text string, h Host) Want {
	t.Helper()
	wants := Plan(city(t, "[workspace]\nname = \"app\"\n"+text), h)
	if len(wants) == 0 {
		t.Fatal("Plan returned no agents")
	}
	return wants[0]
}

// A configured program is used even if it is not found. Without one, the first preset that is found on the agent's PATH
// is used.
func TestPrograms(t *testing.T) {
	h := having("/usr/bin/codex", "/bin/amp", "/opt/x/claude", "/opt/mine")
	for text, want := range map[string]string{
		"[[agents]]\nname = \"a\"\nprovider = \"codex\"":                                        `codex: codex --no-daemon -c allow_login_shell=false --dangerously-bypass-approvals-and-sandbox|{arg }|"› " 30s|`,
		"[[agents]]\nname = \"a\"":                                                              `codex: codex --no-daemon -c allow_login_shell=false --dangerously-bypass-approvals-and-sandbox|{arg }|"› " 30s|`,
		"[[agents]]\nname = \"a\"\nenv = { PATH = \"/opt/x:$PATH\" }":                           `claude: claude --dangerously-skip-permissions|{arg }|"❯ " 30s|`,
		"[[agents]]\nname = \"a\"\nargs = [\"a b\", \"\"]":                                      `codex: codex --no-daemon -c allow_login_shell=false 'a b' ''|{arg }|"› " 30s|`,
		"provider = \"amp\"\nstart_command = \"top\"\n[[agents]]\nname = \"a\"":                 `amp: amp --dangerously-allow-all --no-ide|{arg }|"" 5s|`,
		"start_command = \"top\"\n[[agents]]\nname = \"a\"":                                     `: top|{ }|"" 0s|`,
		"[[agents]]\nname = \"a\"\nprovider = \"p\"\n[providers.p]\ncommand = \"/opt/mine -v\"": `p: /opt/mine -v|{arg }|"" 0s|`,
		"[[agents]]\nname = \"a\"\nprovider = \"p\"\n[providers.p]\ncommand = \"./mine\"":       `p: ./mine|{arg }|"" 0s|`,
		"[[agents]]\nname = \"a\"\nprovider = \"p\"\n[providers.p]\ncommand = \"$MINE\"":        `p: $MINE|{arg }|"" 0s|`,
		"[[agents]]\nname = \"a\"\nprovider = \"claude\"\nsession = \"exec:far\"":               `claude: claude --dangerously-skip-permissions|{arg }|"❯ " 30s|`,
		"[[agents]]\nname = \"a\"\nprovider = \"claude\"": `claude: claude --dangerously-skip-permissions|{arg }|"❯ " 30s|` +
			`the program "claude", the command of the provider "claude" (preset claude), is not on the PATH (3 folders); install it, or use a different provider for the agent (city.toml:3:1)`,
		"provider = \"p\"\n[[agents]]\nname = \"a\"\n[providers.p]\ncommand = \"/opt/none\"": `p: /opt/none|{arg }|"" 0s|` +
			`the program /opt/none, the command of the provider "p" (city.toml:7:11), is not executable or does not exist; correct the command, or use a different provider for [workspace]`,
	} {
		w := one(t, text+"\n", h)
		got := fmt.Sprintf("%s: %s|{%s %s}|%q %s|%s", w.Program, w.Spec.Command, w.Prompt.Mode, w.Prompt.Flag, w.Spec.Ready.Prefix, w.Spec.Ready.Delay, w.Problem)
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// A program is looked up once for all agents. If the host cannot look up programs, the program is assumed to exist.
func TestProgramsAreLookedUpOnce(t *testing.T) {
	c := city(t, "[workspace]\nprovider = \"gemini\"\n[[agents]]\nname = \"a\"\npool.max = 20\n[[agents]]\nname = \"b\"\n")
	looks := 0
	for _, w := range Plan(c, Host{Find: func(string, string) bool { looks++; return true }}) {
		if w.Problem != "" {
			t.Error(w.Problem)
		}
	}
	if looks != 1 {
		t.Errorf("got %d lookups, want 1", looks)
	}
	if w := Plan(c, Host{})[0]; w.Problem != "" || w.Program != "gemini" {
		t.Errorf("%q, %q", w.Program, w.Problem)
	}
}

// The agent's environment takes precedence over the provider's. It is also used for the pool's check. It counts as
// configured even if the provider depends on the host.
func TestProviderEnvironment(t *testing.T) {
	text := "[[agents]]\nname = \"a\"\n%senv = { A = \"own\" }\npool.max = 1\n[providers.opencode]\nenv = { A = \"theirs\", B = \"$HOME\" }\n"
	h := having("/bin/opencode")
	h.Environ = append(h.Environ, "HOME=/h")
	for _, named := range []string{"", "provider = \"opencode\"\n"} {
		c := city(t, fmt.Sprintf(text, named))
		w, pools := Plan(c, h)[0], Pools(c, h)
		for name, want := range map[string]string{"A": "own", "B": "/h", "OPENCODE_PERMISSION": `{"*":"allow"}`} {
			if got := value(w.Spec.Env, name); got != want {
				t.Errorf("%s = %s, want %s", name, got, want)
			}
			if got := value(w.Spec.Configured(), name); got != want {
				t.Errorf("configured %s = %s, want %s", name, got, want)
			}
			if got := value(pools[0].Env, name); got != want {
				t.Errorf("check's %s: got %s, want %s", name, got, want)
			}
		}
		if value(w.Spec.Configured(), "HOME") != "(not set)" {
			t.Errorf("%q", w.Spec.Configured())
		}
	}
}

// The fingerprint covers the command, arguments and environment of a provider, but not its readiness settings.
func TestFingerprintOfPrograms(t *testing.T) {
	const text = "[[agents]]\nname = \"a\"\nprovider = \"claude\"\n[providers.claude]\nenv = { FOO = \"1\" }\n"
	everything := having("/bin/claude", "/bin/codex", "/bin/other")
	was := one(t, text, everything).Spec.Fingerprint
	for name, c := range map[string]struct{ old, new, want string }{
		"the same":                {"", "", ""},
		"args of the agent":       {"[providers", "args = [\"-v\"]\n[providers", "args changed"},
		"args that are the same":  {"[providers", "args = [\"--dangerously-skip-permissions\"]\n[providers", ""},
		"no args":                 {"[providers", "args = []\n[providers", "args removed"},
		"env of the provider":     {`"1"`, `"2"`, "env FOO changed"},
		"env of the agent":        {"[providers", "env = { FOO = \"2\", BAR = \"\" }\n[providers", "env BAR added|env FOO changed"},
		"command of the provider": {"env =", "command = \"other\"\nenv =", "command changed"},
		"another provider":        {`provider = "claude"`, `provider = "codex"`, "args changed|command changed|env FOO removed"},
		"a start_command":         {`provider = "claude"`, `start_command = "claude"`, "args removed|env FOO removed"},
		"readiness": {"env =", "ready_delay_ms = 5\nready_prompt_prefix = \"x\"\nprocess_names = [\"x\"]\ndisplay_name = \"x\"\nprompt_mode = \"none\"\n" +
			"emits_permission_warning = true\nenv =", ""},
		"readiness of the agent": {"[providers", "ready_delay_ms = 5\nready_prompt_prefix = \"x\"\nprocess_names = [\"x\"]\nnudge = \"x\"\nprompt_mode = \"none\"\n" +
			"emits_permission_warning = true\n[providers", ""},
	} {
		now := one(t, strings.Replace(text, c.old, c.new, 1), everything).Spec.Fingerprint
		if got := strings.Join(was.Drift(now), "|"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// An agent that was started by an older version keeps its fingerprint, because unset keys are not part of it.
func TestOlderFingerprintStaysValid(t *testing.T) {
	now := one(t, "[[agents]]\nname = \"a\"\nstart_command = \"sh\"\nenv = { A = \"$B\" }\npre_start = [\"x\", \"y\"]\n", having()).Spec.Fingerprint
	before := session.NewFingerprint(map[string]string{"command": "sh", "env A": "$B", "pre_start": "x\x00y"})
	if now.Sum != before.Sum {
		t.Errorf("%q", before.Drift(now))
	}
}

// An agent without a configured program does not drift if the host's first program changes or is missing.
func TestFirstFoundProgramIsNotDrift(t *testing.T) {
	const text = "[[agents]]\nname = \"a\"\nenv = { A = \"1\" }\n"
	was := one(t, text, having("/bin/opencode")).Spec
	for _, h := range []Host{having("/bin/claude"), having(), {}} {
		now := one(t, text, h).Spec
		if d := was.Fingerprint.Drift(now.Fingerprint); len(d) > 0 || now.Command == was.Command {
			t.Errorf("%q, %q", d, now.Command)
		}
	}
}

// A real shell passes every argument to the program unchanged.
func FuzzArgs(f *testing.F) {
	for _, seed := range []string{"", "a b", "it's", "$HOME `id` $(id)", "--x=~/y", "*", "\\n", "#", "ä\n"} {
		f.Add(seed, "second")
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		if strings.ContainsRune(one+two, 0) || len(one)+len(two) > 64<<10 {
			t.Skip("an argument cannot contain a NUL character")
		}
		p := config.Program{Provider: config.Provider{Command: "printf '%s|'"}}
		p.Args = []string{one, two}
		cmd := exec.Command("/bin/sh", "-c", p.CommandLine())
		cmd.Env = os.Environ()
		out, err := cmd.Output()
		if err != nil || string(out) != one+"|"+two+"|" {
			t.Errorf("%q and %q in %s: got %q, %v", one, two, p.CommandLine(), out, err)
		}
	})
}
