package shell

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// enterScript changes to the folder $1 and then executes the line $2. If os/exec entered the folder (Cmd.Dir), a hung
// file system would block every thread of this process. The script reports the result on descriptor 3, and restores PWD
// and OLDPWD to $3 and $4 ("" = not set).
const enterScript = `if cd -P -- "$1" >/dev/null 2>&1; then echo ` + inside + `
elif ! [ -e "$1" ]; then echo gone; exit 96
elif ! [ -d "$1" ]; then echo file; exit 96
else echo closed; exit 96
fi >&3
unset PWD OLDPWD
[ -z "$3" ] || export "$3"
[ -z "$4" ] || export "$4"
exec /bin/sh -c "$2" 3>&-`

const inside = "inside"

func (l *Line) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", l.Text)
	if l.Dir != "" {
		dir := l.Dir
		if filepath.IsAbs(dir) {
			cmd.Dir = "/"
		} else {
			// the shell must not take the name for an option, or search CDPATH for it
			dir = "./" + dir
		}
		cmd.Args = []string{"/bin/sh", "-c", enterScript, "/bin/sh", dir, l.Text,
			last(l.Env, "PWD="), last(l.Env, "OLDPWD=")}
	}
	cmd.Env = l.Env
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	OwnGroup(cmd)
	return cmd
}

// report is the shell's output on descriptor 3; late means that the shell was killed at the deadline
func (l *Line) folderError(report string, late bool) error {
	why := map[string]string{
		"gone":   "the folder does not exist, or a folder above it is not accessible",
		"file":   "the path is not a folder",
		"closed": "you do not have permission to enter the folder",
	}[strings.TrimSpace(report)]
	switch {
	case l.Dir == "" || strings.TrimSpace(report) == inside:
		return nil
	case why == "" && late:
		why = "the folder does not respond"
	case why == "":
		why = "the shell exited before it entered the folder"
	}
	return fmt.Errorf("cannot work in %s: %s", l.Dir, why)
}

// the last of several entries for a variable takes effect
func last(env []string, prefix string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if strings.HasPrefix(env[i], prefix) {
			return env[i]
		}
	}
	return ""
}
