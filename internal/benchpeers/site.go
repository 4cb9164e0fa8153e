package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

type site struct {
	dir   string
	names []string
	work  string // the command that an agent executes after it has reported its start
	pid   int
}

func newSite(parent string, n int, work string) (*site, error) {
	dir, err := os.MkdirTemp(parent, "m")
	if err != nil {
		return nil, err
	}
	s := &site{dir: dir, work: work}
	for i := range n {
		s.names = append(s.names, fmt.Sprintf("agent-%04d", i))
	}
	if err := syscall.Mkfifo(s.path("births"), 0o600); err != nil {
		return nil, err
	}
	return s, s.script("agent", `"$1"`)
}

func (s *site) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

func (s *site) command(name string) string { return s.path("agent") + " " + name }

func (s *site) script(file, name string) error {
	text := fmt.Sprintf("#!/bin/sh\necho %s $$ >%s\nexec %s\n", name, s.path("births"), s.work)
	return os.WriteFile(s.path(file), []byte(text), 0o755)
}

func (s *site) write(name, text string) error {
	return os.WriteFile(s.path(name), []byte(text), 0o600)
}

func (s *site) each(format string) string {
	var b strings.Builder
	for _, name := range s.names {
		fmt.Fprintf(&b, format, name, s.command(name))
	}
	return b.String()
}

func (s *site) env() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.HasPrefix(name, "GC_"), strings.HasPrefix(name, "GCITY_"),
			strings.HasPrefix(name, "TMUX"), strings.HasPrefix(name, "XDG_"),
			name == "HOME", name == "SVDIR":
		default:
			env = append(env, kv)
		}
	}
	return append(env,
		"HOME="+s.dir, "GC_HOME="+s.path("gc"), "XDG_RUNTIME_DIR="+s.dir, "GCITY_TRUST=all")
}
