package shell

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// enter brings a shell into its folder ($1) and has it become the line's ($2). os/exec would change the folder in a
// child that borrows this process's memory until it has become another program: a folder that does not answer would
// then stop every thread of this process. A shell waits for it alone.
//
// What came of it is said on descriptor 3, which the line does not get. cd sets PWD and OLDPWD: the line gets them
// as they were ($3 and $4, "" = not set).
const enter = `if cd -P -- "$1" >/dev/null 2>&1; then echo ` + inside + `
elif ! [ -e "$1" ]; then echo gone; exit 96
elif ! [ -d "$1" ]; then echo file; exit 96
else echo closed; exit 96
fi >&3
unset PWD OLDPWD
[ -z "$3" ] || export "$3"
[ -z "$4" ] || export "$4"
exec /bin/sh -c "$2" 3>&-`

const inside = "inside"

// command is the line's shell, in a process group of its own.
func (l *Line) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", l.Text)
	if l.Dir != "" {
		dir := l.Dir
		if filepath.IsAbs(dir) {
			cmd.Dir = "/"
		} else {
			dir = "./" + dir // neither an option nor a thing of CDPATH
		}
		cmd.Args = []string{"/bin/sh", "-c", enter, "/bin/sh", dir, l.Text, last(l.Env, "PWD="),
			last(l.Env, "OLDPWD=")}
	}
	cmd.Env = l.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	return cmd
}

// outside says why a shell did not come into its folder, by what it said on descriptor 3; nil if it did. late: it
// was ended.
func (l *Line) outside(said string, late bool) error {
	why := map[string]string{
		"gone":   "it does not exist, or may not be looked at",
		"file":   "it is not a folder",
		"closed": "it may not be entered by you",
	}[strings.TrimSpace(said)]
	switch {
	case l.Dir == "" || strings.TrimSpace(said) == inside:
		return nil
	case why == "" && late:
		why = "it does not answer"
	case why == "":
		why = "its shell ended on the way"
	}
	return fmt.Errorf("cannot work in %s: %s", l.Dir, why)
}

// last returns the last entry of an environment with this prefix, or "". A process uses the last of several
// entries.
func last(env []string, prefix string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if strings.HasPrefix(env[i], prefix) {
			return env[i]
		}
	}
	return ""
}
