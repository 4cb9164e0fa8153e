package shell

import "strings"

// ScriptEnv returns the environment for a user's program: environ, followed by own. It omits variables that mark the
// processes of a session or run; otherwise, gcity would kill the program with that session or run. From environ, it
// also omits variables that describe the calling agent or automation, a service or a terminal.
func ScriptEnv(environ []string, own ...string) []string {
	values, order := map[string]string{}, []string{}
	add := func(all []string, without ...func(name string) bool) {
	next:
		for _, kv := range all {
			name, _, ok := strings.Cut(kv, "=")
			if !ok || name == "" {
				continue
			}
			for _, drop := range without {
				if drop(name) {
					continue next
				}
			}
			if _, known := values[name]; !known {
				order = append(order, name)
			}
			values[name] = kv
		}
	}
	add(environ, marksProcess, ofCaller, ofSurroundings)
	add(own, marksProcess)
	out := make([]string, 0, len(order))
	for _, name := range order {
		out = append(out, values[name])
	}
	return out
}

func marksProcess(name string) bool {
	switch name {
	case "GC_SESSION_ID", "GC_SESSION_NAME", "GC_EXEC_START", "GC_RUN", "GC_DIR":
		return true
	}
	return strings.HasPrefix(name, "GCITY_SESSION_")
}

func ofCaller(name string) bool {
	switch name {
	case "GC_CITY", "GC_CITY_PATH", "GC_CITY_NAME", "GC_RIG", "GC_RIG_PATH", "GC_AGENT",
		"GC_AUTOMATION",
		"GC_EVENTS_FILE", "GC_EXEC_STATE_DIR", "AUTOMATION_DIR", "ORDER_DIR", "PACK_DIR",
		"GC_PACK_DIR", "BEADS_DIR":
		return true
	}
	return hasPrefix(name, "GC_EVENT_", "GC_FAILED_", "GC_SLING_", "GC_WATCHDOG")
}

func ofSurroundings(name string) bool {
	switch name {
	case "NOTIFY_SOCKET", "INVOCATION_ID", "JOURNAL_STREAM", "SYSTEMD_EXEC_PID", "MANAGERPID",
		"MANAGERPIDFDID",
		"TMUX", "TMUX_PANE", "STY", "COLUMNS", "LINES", "PWD", "OLDPWD":
		return true
	}
	return hasPrefix(name, "WATCHDOG_", "LISTEN_", "MEMORY_PRESSURE_")
}

func hasPrefix(name string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
