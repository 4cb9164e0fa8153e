package service

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// unit is what a service manager can keep running: a city's controller, or the supervisor of many.
type unit struct {
	kind   string // "city", "supervisor"
	group  string // of the commands that install it: "daemon", "supervisor"
	Name   string // of its unit, after "gcity-"
	at     string // the folder that identifies it
	about  string // for messages
	args   []string
	limit  time.Duration // how long it may take to stop
	log    string        // the log file for launchd
	System bool          // for the system, not for a user
	User   string        // the user of a system unit
	Exe    string
	env    []string // "K=V"
}

// mark returns the first line of a unit, which identifies the city or supervisor that it belongs to.
func (s *unit) mark() string { return markOf(s.kind, s.at) }

func markOf(kind, at string) string {
	// "--" would end an XML comment
	return "gcity-unit: " + kind + " " + strings.ReplaceAll(strconv.Quote(at), "--", `-\x2d`)
}

// command returns the service's command line.
func (s *unit) command() []string { return append([]string{s.Exe}, s.args...) }

// serviceSlack is the time that a service has in addition to its stop: to end scripts and requests, and for a slow
// machine.
const serviceSlack = 30 * time.Second

// UnitText is the systemd unit.
//
// What systemd offers to lock a service in is left out, because agents are children of this one and need all that a
// developer at this machine has. NoNewPrivileges and all that implies it (SystemCallFilter, RestrictSUIDSGID,
// LockPersonality and their like for services that are not root's) break sudo, ping and rootless containers;
// RestrictNamespaces the sandboxes of agents and browsers; MemoryDenyWriteExecute every JIT; PrivateTmp hides the
// sockets of tmux and ssh agents; ProtectSystem and ProtectHome what agents are to edit; PrivateDevices, ProtectProc
// and UMask likewise. What keeps one agent from harming the others stays: an agent that runs out of memory ends alone,
// and a fork bomb ends at TasksMax before it fills the machine.
//
// For a unit of a user, and for one with User=, systemd implements ProtectClock, ProtectKernelTunables,
// ProtectKernelModules, ProtectKernelLogs, RestrictRealtime and LockPersonality with seccomp, and sets NoNewPrivileges
// for that: sudo would fail in every agent, and the kernel refuses those users the clock, modules and tunables anyway.
// A unit that runs as root gets ProtectClock and RestrictRealtime, which take nothing from an agent. It does not get
// ProtectKernel*, whose mount namespace hides what agents mount, nor LockPersonality, which keeps gdb from switching
// off address randomization.
//
// Exit 1 is not answered by a start: it is what a city ends with that an operator stopped and that has left something.
// 2 is, because a crash ends with it too, and 4 and 78 want a person.
func (s *unit) UnitText() (string, error) {
	exec, err := UnitWords(s.command())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	scope, install := " --user", "default.target"
	if s.System {
		scope, install = "", "multi-user.target"
	}
	line("# %s", s.mark())
	line("# Written by `gcity %s install`, which overwrites it, and removed by `gcity %s "+
		"uninstall`.", s.group, s.group)
	line("# Put your own settings into a drop-in: systemctl%s edit %s", scope, s.UnitName())
	line("[Unit]")
	line("Description=gcity: %s", strings.ReplaceAll(s.about, "%", "%%"))
	line("Documentation=man:gcity(1)")
	if s.System {
		line("Wants=network-online.target")
		line("After=network-online.target")
		if plain(s.at) && !strings.Contains(s.at, "%") {
			line("RequiresMountsFor=%s", s.at)
		}
	}
	line("# Retry without a limit.")
	line("StartLimitIntervalSec=0")
	line("")
	line("[Service]")
	line("Type=notify")
	if s.System && s.User != "" {
		line("User=%s", s.User)
	}
	s.writeProcess(line, exec)
	if err := s.writeEnv(line); err != nil {
		return "", err
	}
	line("# Your own variables: keys and the like, one NAME=value per line.")
	line("EnvironmentFile=-%%E/gcity/service.env")
	line("")
	line("[Install]")
	line("WantedBy=%s", install)
	return b.String(), nil
}

// writeProcess writes how systemd runs the process: its command, restarts, stops and limits.
func (s *unit) writeProcess(line func(format string, args ...any), exec string) {
	line("ExecStart=%s", exec)
	line("ExecReload=kill -HUP $MAINPID")
	line("Restart=on-failure")
	line("RestartSec=5")
	line("# Stopped with processes left; already running; invalid configuration.")
	line("RestartPreventExitStatus=1 4 78")
	line("# A restart keeps the agents, a stop stops them.")
	line("KillMode=process")
	line("RestartKillSignal=SIGUSR1")
	line("TimeoutStopSec=%d", s.stopSeconds())
	line("WatchdogSec=30")
	line("# If an agent runs out of memory, only that agent dies.")
	line("OOMPolicy=continue")
	line("# For all agents together: this stops a fork bomb before it stops the machine.")
	line("TasksMax=%d", maxTasks)
	if s.System && s.asRoot() {
		line("ProtectClock=yes")
		line("RestrictRealtime=yes")
	}
}

func (s *unit) writeEnv(line func(format string, args ...any)) error {
	env := slices.Clone(s.env)
	slices.Sort(env)
	for _, kv := range env {
		words, err := unitWord(kv)
		if err != nil {
			return err
		}
		line("Environment=%s", words)
	}
	return nil
}

// maxTasks is the limit of processes and threads for all agents of a service together.
const maxTasks = 32768

// asRoot reports whether the service runs as root.
func (s *unit) asRoot() bool {
	return s.User == "root" || s.User == "" && os.Getuid() == 0
}

// UnitName returns the name of the unit.
func (s *unit) UnitName() string { return "gcity-" + s.Name + ".service" }

// stopSeconds returns the timeout of systemd for a stop.
func (s *unit) stopSeconds() int {
	return int(max(90*time.Second, (s.limit + serviceSlack).Round(10*time.Second)).Seconds())
}

// plain reports whether a word needs no quotes in a unit.
func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s,
		func(r rune) bool { return !isNameRune(r) && !strings.ContainsRune("@+=:,/~%", r) })
}

func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("_.-", r)
}

// UnitWords writes a command line in the syntax of systemd. The colon in it prevents variable substitution.
func UnitWords(args []string) (string, error) {
	var words []string
	for _, arg := range args {
		w, err := unitWord(arg)
		if err != nil {
			return "", err
		}
		words = append(words, w)
	}
	line := strings.Join(words, " ")
	if strings.ContainsRune(line, '$') {
		if !strings.HasPrefix(line, `"`) {
			return ":" + line, nil
		}
		return `":` + line[1:], nil
	}
	return line, nil
}

// unitWord writes one word in the syntax of systemd.
func unitWord(s string) (string, error) {
	if err := fitForUnit(s); err != nil {
		return "", err
	}
	s = strings.ReplaceAll(s, "%", "%%")
	if plain(s) {
		return s, nil
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`, nil
}

// fitForUnit returns an error for text that a unit cannot contain.
func fitForUnit(s string) error {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%q cannot be written into a unit: it has a line break, a control "+
			"character, or is not UTF-8; rename it, or use another value", s)
	}
	return nil
}

// unitSafe returns a name with every character replaced that a unit's name cannot have.
func unitSafe(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !isNameRune(r) }), "-")
	return cmp.Or(strings.Trim(name[:min(len(name), 64)], "-."), "city")
}

// variables that install copies from its own environment, because a service manager starts with almost none
var serviceVariables = []string{"LANG", "LANGUAGE", "TZ", "GC_HOME", "XDG_CONFIG_HOME",
	"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMUX_TMPDIR"}

// serviceEnviron returns the environment of a service. own means that it runs as the current user; otherwise its
// home folder is home.
func serviceEnviron(environ []string, own bool, home string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value == "":
		case name == "PATH":
			out = append(out, "PATH="+servicePath(value, own, home))
		// folders of another user
		case !own && name != "LANG" && name != "TZ" && !strings.HasPrefix(name, "LC_"):
		case strings.HasPrefix(name, "LC_"), slices.Contains(serviceVariables, name):
			out = append(out, kv)
		}
	}
	return out
}

// servicePath returns a PATH without folders of a single session, and without relative folders.
func servicePath(path string, own bool, home string) string {
	var dirs []string
	if !own && home != "" {
		dirs = append(dirs, filepath.Join(home, ".local", "bin"), filepath.Join(home, "bin"))
	}
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) && !strings.HasSuffix(filepath.Clean(dir), "/.gc/bin") &&
			!slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, ":")
}
