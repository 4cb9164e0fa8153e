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

type unit struct {
	kind   string // "city" or "supervisor"
	group  string // "daemon" or "supervisor"
	Name   string // without "gcity-"
	at     string // folder that identifies the unit
	about  string
	args   []string
	limit  time.Duration // for stopping
	log    string        // for launchd
	System bool
	User   string
	Exe    string
	env    []string // variables as "K=V"
}

func (s *unit) mark() string { return markOf(s.kind, s.at) }

func markOf(kind, at string) string {
	// "--" would end an XML comment
	return "gcity-unit: " + kind + " " + strings.ReplaceAll(strconv.Quote(at), "--", `-\x2d`)
}

func (s *unit) command() []string { return append([]string{s.Exe}, s.args...) }

// serviceSlack is added to the stop timeout, to allow for scripts, requests and slow machines.
const serviceSlack = 30 * time.Second

// UnitText returns the systemd unit.
//
// The unit does not use systemd's sandbox settings, because agents are child processes and need everything that a
// developer on this machine can use. NoNewPrivileges breaks sudo, ping and rootless containers. So do SystemCallFilter,
// RestrictSUIDSGID, LockPersonality and similar settings, which imply it unless the service runs as root.
// RestrictNamespaces breaks the sandboxes of agents and browsers, and MemoryDenyWriteExecute breaks every JIT.
// PrivateTmp hides the sockets of tmux and ssh agents. ProtectSystem and ProtectHome protect the files that agents
// should edit. PrivateDevices, ProtectProc and UMask have similar effects. The settings that protect agents from one
// another remain: if an agent runs out of memory, only that agent dies, and TasksMax stops a fork bomb.
//
// In a user unit, and in one with User=, systemd implements ProtectClock, ProtectKernelTunables, ProtectKernelModules,
// ProtectKernelLogs, RestrictRealtime and LockPersonality with seccomp, and sets NoNewPrivileges for that. sudo would
// then fail in every agent. The kernel denies users other than root access to the clock, modules and tunables anyway. A
// unit that runs as root sets ProtectClock and RestrictRealtime, which do not affect agents. It does not set
// ProtectKernel*, because that needs a mount namespace, which hides mounts made by agents. It does not set
// LockPersonality either, because gdb could then not disable address randomization.
//
// systemd does not restart the service after exit code 5: it means that a user stopped the city, but some processes
// might still be running. Nor does it restart the service after 4 and 78, because a user must resolve these problems.
// It restarts the service after 2, because that is also the exit code of a crash.
func (s *unit) UnitText() (string, error) {
	exec, err := UnitWords(s.command())
	if err != nil {
		return "", err
	}
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	scope, install := " --user", "default.target"
	if s.System {
		scope, install = "", "multi-user.target"
	}
	write(`# %s
# Written and overwritten by `+"`gcity %s install`, and removed by `gcity %s uninstall`"+`.
# Put your own settings into a drop-in: systemctl%s edit %s
[Unit]
Description=gcity: %s
Documentation=man:gcity(1)
`, s.mark(), s.group, s.group, scope, s.UnitName(), strings.ReplaceAll(s.about, "%", "%%"))
	if s.System {
		write("Wants=network-online.target\nAfter=network-online.target\n")
		if plain(s.at) && !strings.Contains(s.at, "%") {
			write("RequiresMountsFor=%s\n", s.at)
		}
	}
	write(`# Retry without a limit.
StartLimitIntervalSec=0

[Service]
Type=notify
`)
	if s.System && s.User != "" {
		write("User=%s\n", s.User)
	}
	s.writeProcess(write, exec)
	for _, kv := range slices.Sorted(slices.Values(s.env)) {
		words, err := unitWord(kv)
		if err != nil {
			return "", err
		}
		write("Environment=%s\n", words)
	}
	write(`# Your own variables, such as API keys: one NAME=value per line.
EnvironmentFile=-%%E/gcity/service.env

[Install]
WantedBy=%s
`, install)
	return b.String(), nil
}

func (s *unit) writeProcess(write func(format string, args ...any), exec string) {
	write(`ExecStart=%s
ExecReload=kill -HUP $MAINPID
Restart=on-failure
RestartSec=5
# Exit codes: already running; stopped with processes left; invalid configuration.
RestartPreventExitStatus=4 5 78
# Restarting the service keeps the agents running; stopping it stops them.
KillMode=process
RestartKillSignal=SIGUSR1
TimeoutStopSec=%d
WatchdogSec=30
# If an agent runs out of memory, only that agent dies.
OOMPolicy=continue
# A limit for all agents together: a fork bomb fails before it exhausts the machine.
TasksMax=%d
`, exec, s.stopSeconds(), MaxTasks)
	if s.System && s.asRoot() {
		write("ProtectClock=yes\nRestrictRealtime=yes\n")
	}
}

// MaxTasks is the maximum number of processes and threads in a service that gcity installs.
const MaxTasks = 32768

func (s *unit) asRoot() bool {
	return s.User == "root" || s.User == "" && os.Getuid() == 0
}

// UnitName returns the unit's name.
func (s *unit) UnitName() string { return "gcity-" + s.Name + ".service" }

func (s *unit) stopSeconds() int {
	return int(max(90*time.Second, (s.limit + serviceSlack).Round(10*time.Second)).Seconds())
}

func plain(s string) bool {
	return s != "" && !strings.ContainsFunc(s,
		func(r rune) bool { return !isNameRune(r) && !strings.ContainsRune("@+=:,/~%", r) })
}

func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
		strings.ContainsRune("_.-", r)
}

// UnitWords returns a command line in systemd's syntax. A command line with a $ begins with a colon, which disables
// variable substitution.
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

func fitForUnit(s string) error {
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return fmt.Errorf("%q cannot be written to a unit: it contains a line break or a "+
			"control character, or is not UTF-8; use a different name or value", s)
	}
	return nil
}

func unitSafe(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return !isNameRune(r) }), "-")
	return cmp.Or(strings.Trim(name[:min(len(name), 64)], "-."), "city")
}

// serviceVariables are the variables that install copies into the service, because a service manager sets hardly any.
var serviceVariables = []string{"LANG", "LANGUAGE", "TZ", "GC_HOME", "XDG_CONFIG_HOME",
	"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TMUX_TMPDIR"}

// serviceEnviron returns the variables to copy into the service. own means that the service runs as the current user;
// home is then ignored.
func serviceEnviron(environ []string, own bool, home string) []string {
	var out []string
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value == "":
		case name == "PATH":
			out = append(out, "PATH="+servicePath(value, own, home))
		// the value might contain a path below the current user's home folder
		case !own && name != "LANG" && name != "TZ" && !strings.HasPrefix(name, "LC_"):
		case strings.HasPrefix(name, "LC_"), slices.Contains(serviceVariables, name):
			out = append(out, kv)
		}
	}
	return out
}

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
