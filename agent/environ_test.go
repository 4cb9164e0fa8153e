package agent

import (
	"strings"
	"testing"
)

func TestInherited(t *testing.T) {
	e := inherited(Host{Environ: []string{
		"HOME=/h", "PATH=/usr/bin:/c/bin:/bin", "API_KEY=k", "EMPTY=", "A=B=C", "=odd", "broken",
		"GC_AGENT=x", "GC_SESSION=fake", "GCC=1", "TMUX=1", "TMUX_PANE=%1", "TMUXINATOR=1", "NOTIFY_SOCKET=/n", "NOTIFY_SOCKETS=kept",
		"WATCHDOG_USEC=1", "WATCHDOG_PID=1", "LISTEN_FDS=1", "LISTEN_PID=1", "INVOCATION_ID=1", "JOURNAL_STREAM=1:2",
		"SYSTEMD_EXEC_PID=1", "MANAGERPID=1", "MANAGERPIDFDID=1", "MEMORY_PRESSURE_WATCH=/g", "MEMORY_PRESSURE_WRITE=1", "COLUMNS=80", "LINES=24", "LINESX=1", "TERM=dumb", "OLDPWD=/",
		"CLAUDECODE=1", "CLAUDE_EFFORT=high", "AI_AGENT=claude-code_agent", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=1", "CLAUDE_CODE_USE_BEDROCK=1", "CODEX_SANDBOX=seatbelt",
		"CODEX_SANDBOX_NETWORK_DISABLED=1", "CODEX_HOME=/x", "GEMINI_CLI=1", "GEMINI_API_KEY=k", "TERM_PROGRAM=vscode", "TERM_PROGRAM_VERSION=1",
	}, BinDir: "/c/bin"})
	want := map[string]string{"HOME": "/h", "PATH": "/c/bin:/usr/bin:/bin", "API_KEY": "k", "EMPTY": "", "A": "B=C", "GCC": "1",
		"NOTIFY_SOCKETS": "kept", "LINESX": "1", "TERM": "xterm-256color",
		"CLAUDE_CODE_USE_BEDROCK": "1", "CODEX_HOME": "/x", "GEMINI_API_KEY": "k"}
	for name, value := range want {
		if got, ok := e.pass[name]; !ok || got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
	for name := range e.pass {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is inherited", name)
		}
	}
}

func TestOfLetsTheLaterWin(t *testing.T) {
	c := city(t, `
[workspace]
name = "app"
[[agents]]
name = "a"
[agents.env]
PATH = "/x:$PATH"
TERM = "vt100"
GC_AGENT = "liar"
GC_SESSION_ID = "liar"
GC_RIG = "liar"
BEADS_DIR = "/liar"
GC_OWN = "kept"
`)
	got := Plan(c, Host{Environ: []string{"PATH=/bin"}, BinDir: "/c/bin"})[0].Spec.Env
	all := "\n" + strings.Join(got, "\n") + "\n"
	for _, want := range []string{"PATH=/c/bin:/x:/bin", "TERM=vt100", "GC_AGENT=a", "GC_OWN=kept", "BEADS_DIR=" + c.Path + "/.beads"} {
		if !strings.Contains(all, "\n"+want+"\n") {
			t.Errorf("%s is missing in %s", want, all)
		}
	}
	if strings.Contains(all, "liar") {
		t.Errorf("the configuration overrides a variable of gcity's: %s", all)
	}
}

func TestExpand(t *testing.T) {
	vars := map[string]string{"A": "1", "AB": "2", "_x9": "3", "D": "$A"}
	for in, want := range map[string]string{
		"": "", "plain": "plain", "$A": "1", "${A}": "1", "$AB": "2", "${A}B": "1B", "$A-$AB": "1-2", "$_x9.": "3.",
		"$NONE": "", "a${NONE}b": "ab", "$$": "$", "$$A": "$A", "$$$A": "$1", "$": "$", "a$": "a$", "$1": "$1", "$(ls)": "$(ls)",
		"${": "${", "${A": "${A", "${}": "${}", "${A-x}": "${A-x}", "$D": "$A", "pa$5word": "pa$5word", "ä$Aö": "ä1ö",
	} {
		if got := expand(in, vars); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
