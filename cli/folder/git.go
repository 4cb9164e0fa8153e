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

const gitLimit = 5 * time.Second

// Exposed returns a warning if git does not ignore the work in a rig's repository. It returns nil if git is not
// installed.
func Exposed(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	const notIgnored = 1 // git's exit code
	c := exec.CommandContext(ctx, "git", "-c", "core.fsmonitor=false", "-c",
		"core.hooksPath=/dev/null", "-C", dir, "check-ignore", "--quiet", "--",
		filepath.Join(WorkFolder, "beads.db"))
	c.Env = slices.DeleteFunc(os.Environ(),
		func(kv string) bool { return strings.HasPrefix(kv, "GIT_") })
	c.WaitDelay = time.Second
	err := c.Run()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == notIgnored {
		return []string{fmt.Sprintf("git does not ignore %s, so the rig's work may be "+
			"committed with the project; add the line %s/ to %s to prevent that",
			filepath.Join(dir, WorkFolder), WorkFolder, filepath.Join(dir, ".gitignore"))}
	}
	return nil
}
