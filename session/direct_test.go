package session

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArgv(t *testing.T) {
	for line, want := range map[string][]string{
		"cat":                         {"cat"},
		" cat\t-u  a=b \n":            {"cat", "-u", "a=b"},
		"exec cat x":                  {"cat", "x"},
		"claude 'do it' \"now\" ''":   {"claude", "do it", "now", ""},
		`agent 'it'\''s' --x="a b"c`:  {"agent", "it's", "--x=a bc"},
		`agent 'a` + "\n" + `$b;*~#'`: {"agent", "a\n$b;*~#"},
		"agent 'grüße'":               {"agent", "grüße"},
	} {
		if got, ok := argv(line); !ok || !slices.Equal(got, want) {
			t.Errorf("%q becomes %q, %v; want %q", line, got, ok, want)
		}
	}
	for _, line := range []string{
		"", "  ", "cat $HOME", "cat ~", "cat ~/x", "cat *", "cat a?", "cat [a]", "cat {a,b}", "cat a;b", "cat & x", "cat | x", "cat <x",
		"cat >x", "cat (x)", "A=b cat", "cd /", "exec", "exit 3", ": x", ". x", "test x", "cat `x`", `cat "$x"`, "cat \"`x`\"",
		`cat "a\b"`, "cat 'a", `cat "a`, `cat \`, "cat \\\n x", "cat\nx", "cat # x", "cat x#y", "! cat", "exec -a x cat", "exec cd", "'cat'",
		`"cat"`, `c\at`, "c'at'", "cat\u00a0x", "cat grüße", "cat \rx", "cat !x", "cat x\x00", "2 x", "-x", "exec >x", "x() { y; }",
	} {
		if got, ok := argv(line); ok {
			t.Errorf("%q: got %q without a shell", line, got)
		}
	}
}

// A program that is started without a shell is the one that the shell would find.
func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ command, path, env, want string }{
		{"tool x", "PATH=/nowhere:" + dir, "", dir + "/tool"},
		{"tool x", "PATH=:/nowhere", "", "tool"},
		{"./tool", "PATH=/nowhere", "", "./tool"},
		{"tool x; y", "PATH=" + dir, "", ""},
		{"tool x", "PATH=", "", ""},
		{"tool x", "PATH=" + dir, "BASH_FUNC_tool%%=() { :; }", ""},
	} {
		s := Spec{Command: c.command, Dir: dir, Env: []string{c.path, c.env}}
		if got, err := s.FindProgram(); err != nil || got.Path != c.want || (c.want == "") != (got.Args == nil) {
			t.Errorf("%q with %s: got %+v, %v; want %q", c.command, c.path, got, err, c.want)
		}
	}
}

// FuzzArgv compares argv with this machine's shell.
func FuzzArgv(f *testing.F) {
	for _, line := range []string{
		"cat a  b", "exec cat 'x y'", `a "b c"d'e'\f`, "a\tb=c", "a 'b", "a ~/x", "a {b,c}", "a #b", "a \\\nb", "a 'é\x01'", "a \"!\"",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		got, ok := argv(line)
		if !ok || strings.ContainsRune(line, 0) {
			return
		}
		script := "set -- " + strings.Trim(line, " \t\n") + "\n" + `[ "$1" != exec ] || shift` + "\n" + `printf '%s\0' "$@"`
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		want := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q; the shell returned %q, %v", line, got, want, err)
		}
	})
}
