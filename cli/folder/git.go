package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gitLimit is how long git has to say what it ignores.
const gitLimit = 5 * time.Second

// Exposed says that the work of a rig would be committed, if its folder is in a git repository that does not ignore it.
// Without git on the PATH nothing is said.
func Exposed(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	const notIgnored = 1 // the exit code; with 128 there is no repository
	c := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=/dev/null", "-C", dir, "check-ignore", "--quiet", "--",
		filepath.Join(WorkFolder, "beads.db"))
	c.Env = slices.DeleteFunc(os.Environ(),
		func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	c.WaitDelay = time.Second
	err := c.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == notIgnored {
		return []string{fmt.Sprintf("git does not ignore %s, so the work of the rig may be "+
			"committed with the project; a line %s/ in %s keeps it out",
			filepath.Join(dir, WorkFolder), WorkFolder, filepath.Join(dir, ".gitignore"))}
	}
	return nil
}
