package doctor

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"gcity/cli/service"
)

func checkLinger(context.Context, *Subject) finding {
	if _, err := os.Stat("/run/systemd/system"); errors.Is(err, fs.ErrNotExist) {
		return ok("systemd does not kill processes at logout here")
	}
	me, err := user.Current()
	if err != nil {
		return note("", "cannot determine your user name: %v", err)
	}
	return judgeLogout(me.Username, me.Uid == "0", service.Lingers(), logindSettings("/"))
}

func judgeLogout(name string, root, lingers bool, l logind) finding {
	kills := l.kill && !slices.Contains(l.exclude, name) &&
		(len(l.only) == 0 || slices.Contains(l.only, name))
	switch {
	case root && slices.Contains(l.exclude, "root"):
		return ok("you are root")
	case lingers && !kills:
		return ok("lingering is on: agents and services keep running when you log out")
	case lingers:
		return note("run the city as a service: `gcity daemon install --now`",
			"KillUserProcesses=yes (%s): systemd kills the processes started in a terminal at "+
				"logout, and agents with them; services keep running", l.from)
	case kills:
		return note("run `loginctl enable-linger`, and run the city as a service: `gcity daemon "+
			"install --now`", "KillUserProcesses=yes (%s): systemd kills your agents when "+
			"you log out", l.from)
	}
	return note("run `loginctl enable-linger`",
		"your services stop when you log out, and the agents that they started stop too")
}

type logind struct {
	kill          bool
	exclude, only []string
	from          string // file that sets KillUserProcesses
}

// A later file name overrides an earlier one; /etc overrides /run and /usr.
func logindSettings(root string) logind {
	l := logind{exclude: []string{"root"}}
	places := []string{"etc", "run", "usr/local/lib", "usr/lib", "lib"}
	for _, place := range places {
		if l.read(filepath.Join(root, place, "systemd/logind.conf")) {
			break
		}
	}
	dropins := map[string]string{}
	for _, place := range places {
		found, _ := filepath.Glob(filepath.Join(root, place, "systemd/logind.conf.d/*.conf"))
		for _, file := range found {
			if name := filepath.Base(file); dropins[name] == "" {
				dropins[name] = file
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropins)) {
		l.read(dropins[name])
	}
	return l
}

func (l *logind) read(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	section := ""
	for scan := bufio.NewScanner(f); scan.Scan(); {
		line := strings.TrimSpace(scan.Text())
		if strings.HasPrefix(line, "[") {
			section = line
		}
		key, value, _ := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if section != "[Login]" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		switch key {
		case "KillUserProcesses":
			l.kill, l.from = slices.Contains([]string{"yes", "true", "1", "on", "y", "t"},
				strings.ToLower(value)), file
		case "KillExcludeUsers":
			l.exclude = strings.Fields(value)
		case "KillOnlyUsers":
			l.only = strings.Fields(value)
		}
	}
	return true
}
