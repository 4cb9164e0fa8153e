package pty

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gcity/internal/proc"
)

// A simple command line starts without a shell. A shell would set PWD.
func TestSimpleCommandWithoutShell(t *testing.T) {
	for _, plain := range []bool{false, true} {
		p := newProvider(t, t.TempDir())
		p.plain = plain
		s := spec(p.files.city, "a", "exec sleep '1000'")
		s.Env = append(s.Env, "PWD=/elsewhere")
		st := start(t, p, s)
		if env := proc.Environ(st.PID); !proc.HasEnv(env, "PWD=/elsewhere", false) {
			t.Errorf("a shell changed the environment: %q", env)
		}
		if args := proc.Args(st.PID); strings.Join(args, " ") != "sleep 1000" {
			t.Errorf("command line: got %q", args)
		}
	}
}

// A command that needs a shell has the same exit code as in a shell.
func TestShellRunsOtherCommands(t *testing.T) {
	p := newProvider(t, t.TempDir())
	for name, text := range map[string]string{
		"no-interpreter-line": "exit 7\n",
		"no-interpreter":      "#!/nowhere/interpreter\nexit 7\n",
		"empty":               "",
	} {
		path := filepath.Join(p.files.city, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", path)
		cmd.Run()
		s := spec(p.files.city, name, path)
		start(t, p, s)
		if x := <-p.Exits(); x.ID != s.ID || x.Code != cmd.ProcessState.ExitCode() {
			t.Errorf("%s: got %+v, want exit code %s", name, x, strconv.Itoa(cmd.ProcessState.ExitCode()))
		}
	}
}
