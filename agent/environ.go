package agent

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config"
)

const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

type environ struct {
	inherited map[string]string // the controller's variables
	pass      map[string]string
	names     []string
	lines     []string // inherited variables as "K=V", shared by all agents
	bin       string

	find     func(program, path string) bool
	searched map[string]bool
}

func inherited(h Host) environ {
	e := environ{inherited: make(map[string]string, len(h.Environ)),
		pass: make(map[string]string, len(h.Environ)), bin: h.BinDir,
		find: h.Find, searched: map[string]bool{}}
	for _, kv := range h.Environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		e.inherited[name] = value
		if !isSessionVariable(name) {
			e.pass[name] = value
		}
	}
	e.inherited["PATH"] = prependPath(e.bin, e.inherited["PATH"])
	e.pass["PATH"] = e.inherited["PATH"]
	// agents run in gcity's own terminals, which might differ in type from the controller's terminal
	e.pass["TERM"] = "xterm-256color"
	e.names = slices.Sorted(maps.Keys(e.pass))
	for _, name := range e.names {
		e.lines = append(e.lines, name+"="+e.pass[name])
	}
	return e
}

// Agents do not inherit variables of the controller's own session, service or terminal, nor those that a coding agent
// sets for its commands. Claude Code, for example, refuses to start if CLAUDECODE is set.
func isSessionVariable(name string) bool {
	for _, prefix := range []string{"GC_", "TMUX", "WATCHDOG_", "LISTEN_", "MEMORY_PRESSURE_",
		"TERM_PROGRAM", "CODEX_SANDBOX", "CLAUDE_CODE_SESSION_", "CLAUDE_CODE_MESSAGING_"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	switch name {
	case "NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID",
		"MANAGERPIDFDID", "COLUMNS", "LINES", "OLDPWD",
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_SSE_PORT", "CLAUDE_EFFORT", "CLAUDE_PID",
		"AI_AGENT", "CODEX_CI",
		"CODEX_THREAD_ID", "GEMINI_CLI", "CURSOR_AGENT", "CURSOR_TRACE_ID", "OPENCODE",
		"OPENCODE_PID", "AMP_CURRENT_THREAD_ID":
		return true
	}
	return false
}

// forAgent returns the complete environment of an agent, sorted by name and without GC_SESSION_ID.
func (e environ) forAgent(c *config.City, a *config.Agent, configured map[string]string,
	dir string) []string {
	own := make(map[string]string, len(configured)+12)
	for name, value := range configured {
		own[name] = expand(value, e.inherited)
	}
	if path, ok := own["PATH"]; ok {
		own["PATH"] = prependPath(e.bin, path)
	}
	for _, name := range []string{"GC_SESSION_ID", "GC_RIG", "GC_RIG_PATH"} {
		delete(own, name)
	}
	own["GC_CITY"] = c.Path
	own["GC_CITY_PATH"] = c.Path
	own["GC_CITY_NAME"] = c.Workspace.Name
	own["BEADS_DIR"] = filepath.Join(c.Path, ".beads")
	if strings.HasPrefix(c.Origins["beads.provider"].File, "environment ") {
		// make agents use the same bead store as the controller
		own["GC_BEADS"] = c.Beads.Provider
	}
	if strings.HasPrefix(c.Origins["events.provider"].File, "environment ") {
		own["GC_EVENTS"] = c.Events.Provider
	}
	if _, configured := own["GC_PACK_DIR"]; !configured {
		own["GC_PACK_DIR"] = c.ConfigDir(a.Origin)
	}
	if r := c.Rig(a.Rig); r != nil {
		own["GC_RIG"] = r.Name
		own["GC_RIG_PATH"] = r.Path
		own["BEADS_DIR"] = filepath.Join(r.Path, ".beads")
	}
	for _, v := range memberVariables(a, dir) {
		own[v.name] = v.value
	}
	out := make([]string, 0, len(e.names)+len(own))
	names := slices.Sorted(maps.Keys(own))
	for i, name := range e.names {
		for len(names) > 0 && names[0] <= name {
			out = append(out, names[0]+"="+own[names[0]])
			names = names[1:]
		}
		if _, ok := own[name]; !ok {
			out = append(out, e.lines[i])
		}
	}
	for _, name := range names {
		out = append(out, name+"="+own[name])
	}
	return out
}

type variable struct{ name, value string }

func memberVariables(a *config.Agent, dir string) [4]variable {
	return [...]variable{{"GC_AGENT", a.Qualified()}, {"GC_DIR", dir},
		{"GC_SESSION_NAME", a.SessionName}, {"PWD", dir}}
}

func forMember(env []string, a *config.Agent, dir string) []string {
	out := slices.Clone(env)
	for _, v := range memberVariables(a, dir) {
		if at, ok := find(out, v.name); ok {
			out[at] = v.name + "=" + v.value
		}
	}
	return out
}

func find(env []string, name string) (at int, ok bool) {
	return slices.BinarySearchFunc(env, name, func(kv, name string) int {
		have, _, _ := strings.Cut(kv, "=")
		return strings.Compare(have, name)
	})
}

func prependPath(bin, path string) string {
	if path == "" {
		path = defaultPath
	}
	if bin == "" {
		return path
	}
	rest := slices.DeleteFunc(strings.Split(path, ":"), func(p string) bool { return p == bin })
	return strings.Join(append([]string{bin}, rest...), ":")
}

func expand(s string, vars map[string]string) string {
	if !strings.Contains(s, "$") {
		return s
	}
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "$")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		inner, braced := strings.CutPrefix(after, "{")
		n := nameLength(inner)
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteByte('$')
			s = after[1:]
		case n > 0 && !braced:
			b.WriteString(vars[inner[:n]])
			s = inner[n:]
		case n > 0 && strings.HasPrefix(inner[n:], "}"):
			b.WriteString(vars[inner[:n]])
			s = inner[n+1:]
		default:
			b.WriteByte('$')
			s = after
		}
	}
}

func nameLength(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_', 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', i > 0 && '0' <= c && c <= '9':
		default:
			return i
		}
	}
	return len(s)
}
