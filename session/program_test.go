package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// program returns the first program of a shell line only if that program certainly runs.
func TestProgram(t *testing.T) {
	for line, want := range map[string]string{
		"claude --resume": "claude", "exec claude": "claude", "  /opt/x/run;echo": "/opt/x/run", "cat": "cat", "./run.sh a b": "./run.sh",
		"agent>log 2>&1": "agent", "agent& wait": "agent", "python3.12 -m x": "python3.12",
		"": "", "exec": "", "exec -a name agent": "", "echo hi; exec cat": "", "while :; do x; done": "", "FOO=1 agent": "", "$AGENT": "",
		`"my agent"`: "", "'agent'": "", "f() { x; }; f": "", "f () { x; }; f": "", "{ agent; }": "", "! agent": "", "(agent)": "", ">log agent": "",
		"2>log agent": "", "~/agent": "", ": changed; x": "", "a\\ b": "", "`agent`": "", "# nothing": "", "cd x && agent": "", "[ -f x ]": "",
		"ag*nt": "", "agent{,s}": "", "caf\u00e9": "",
	} {
		if got := program(line); got != want {
			t.Errorf("%q begins with %q, want %q", line, got, want)
		}
	}
}

// A missing or non-executable program is reported before anything starts.
func TestMissingProgram(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("yes", 0o755)
	write("no", 0o644)
	if err := os.MkdirAll(filepath.Join(dir, "folder", "yes"), 0o755); err != nil {
		t.Fatal(err)
	}
	spec := func(command string, more ...string) Spec {
		return Spec{Command: command, Dir: dir, Env: append([]string{"PATH=/nowhere:" + dir}, more...)}
	}
	for _, s := range []Spec{
		spec("yes --x"), spec("./yes"), spec(filepath.Join(dir, "yes")), spec("echo"), spec("none", "BASH_FUNC_none%%=() { echo; }"),
		spec("folder/../yes"), spec("late", "PATH="),
		{Command: "yes", Dir: dir, Env: []string{"PATH=" + dir + "/folder:" + dir}},
		spec("./none || exec yes"), spec("./none; exec yes"), spec("none\nyes"), spec("none | yes"), spec("none & yes"),
		spec("./no; exec yes"), spec("none && yes || yes"), spec("none 'a' || yes"), spec("none >x; yes"),
	} {
		if _, err := s.FindProgram(); err != nil {
			t.Errorf("%q: %v", s.Command, err)
		}
	}
	for command, why := range map[string]string{
		"none --x": "not on the agent's PATH", "no": "permission denied", "./none": "program ./none not found", "./no": "permission denied",
		"none && yes": "not on the agent's PATH", "none 'a;b' \"c|d\" e\\;": "not on the agent's PATH", "none 2>&1 >|x": "not on the agent's PATH", " none \n": "not on the agent's PATH",
		"./folder": "the path is a folder", "/nowhere/at/all": "not found", "yes/under": "not found",
	} {
		s := spec(command)
		if err := lookFor(&s); !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v, want %q", command, err, why)
		}
	}
}

// FuzzProgram checks that the program of any line is a plain word in that line.
func FuzzProgram(f *testing.F) {
	for _, line := range []string{"exec a b", "a;b", "  x\ty", "exec  ;", "\x00", "é"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if word := program(line); !strings.Contains(line, word) || strings.ContainsAny(word, " \t\n\"'$`\\;&|<>(){}*?[]#~=!") {
			t.Errorf("%q: got %q", line, word)
		}
	})
}

func lookFor(s *Spec) error {
	_, err := s.FindProgram()
	return err
}
