package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty"
)

// The path of a deleted file ends in " (deleted)".
func programOf(pid int) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return ""
	}
	return exe
}

func checkStrays(ctx context.Context, p *Subject) finding {
	if p.unlisted != nil || p.provider == nil {
		return ok("not checked: the sessions cannot be listed")
	}
	pids, err := proc.All()
	if err != nil {
		return note("mount /proc", "cannot list processes: %v", err)
	}
	of := map[int]string{}
	var hidden, moved []string
	for _, pid := range pids {
		environ := proc.Environ(pid)
		if id := valueIn(environ, "GC_SESSION_ID"); id == "" || pid == os.Getpid() ||
			!proc.HasEnv(environ, "GC_CITY_PATH="+p.dir, false) || ours(pid) {
			continue
		} else if deleted, away := elsewhere(pid); deleted != "" {
			hidden = append(hidden, deleted)
		} else if away != "" {
			moved = append(moved, away)
		} else {
			of[pid] = id
		}
	}
	if f := checkRuns(p); f.State != "ok" {
		return f
	}
	if len(of) == 0 {
		return judgeElsewhere(hidden, moved)
	}
	// a session might have started since the first list
	now, err := p.provider.List(ctx)
	if err != nil {
		return ok("not checked: the sessions cannot be listed")
	}
	f := judgeStrays(of, now, func(pid int) string { return strings.Join(proc.Args(pid), " ") })
	if f.State == "ok" {
		return judgeElsewhere(hidden, moved)
	}
	return f
}

// checkRuns reports processes of the previous controller's runs, unless a controller is running.
func checkRuns(p *Subject) finding {
	if p.Running != nil {
		return ok("none")
	}
	if held, err := folder.IsHeld(p.dir); held || err != nil {
		return ok("none")
	}
	pids, err := pty.FindRuns(p.dir)
	if err != nil || len(pids) == 0 {
		return ok("none")
	}
	return note("the next controller or `gcity stop` kills them",
		"automation runs or checks are still running without a controller:\n%s",
		strings.Join(commandLines(pids), "\n"))
}

func commandLines(pids []int) (lines []string) {
	slices.Sort(pids)
	for _, pid := range pids {
		if args := proc.Args(pid); len(args) > 0 { // otherwise, the process has exited
			lines = append(lines, fmt.Sprintf("%d: %s", pid,
				output.SafeLine(strings.Join(args, " "))))
		}
	}
	return lines
}

// elsewhere returns the folder of a process's running session if the folder was deleted, or its new path if the folder
// was moved and another folder has replaced it. It ignores processes in pods, because their session folders are in the
// pods.
func elsewhere(pid int) (deleted, moved string) {
	if !proc.SharesPIDs(pid) {
		return "", ""
	}
	for st, err := proc.ReadStat(pid); err == nil && st.PPID > 1; st, err = proc.ReadStat(pid) {
		pid = st.PPID
		args := proc.Args(pid)
		if len(args) != 3 || args[1] != "hold" {
			continue
		}
		now, err := os.Stat(args[2])
		if errors.Is(err, fs.ErrNotExist) {
			return args[2], ""
		}
		cwd := fmt.Sprintf("/proc/%d/cwd", pid) // a holder works in its session's folder
		at, _ := os.Readlink(cwd)
		held, heldErr := os.Stat(cwd)
		if err != nil || heldErr != nil || at == "/" || os.SameFile(now, held) {
			return "", ""
		}
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) {
			return args[2], ""
		}
		return "", at
	}
	return "", ""
}

func judgeElsewhere(deleted, moved []string) finding {
	switch {
	case len(moved) > 0:
		slices.Sort(moved)
		return note("their agents keep running; to stop them, run `gcity stop --city FOLDER` with "+
			"the city's new folder", "the folders of running sessions were moved to:\n%s",
			strings.Join(slices.Compact(moved), "\n"))
	case len(deleted) > 0:
		slices.Sort(deleted)
		return note("their agents keep running; the next controller or `gcity stop` creates the "+
			"folders again", "the folders of running sessions were deleted:\n%s",
			strings.Join(slices.Compact(deleted), "\n"))
	}
	return ok("none")
}

func judgeStrays(of map[int]string, sessions []session.Status, line func(pid int) string) finding {
	var lines []string
	for pid, id := range of {
		args := line(pid)
		lives := slices.ContainsFunc(sessions,
			func(st session.Status) bool { return st.Alive && st.ID == id })
		if !lives && args != "" {
			lines = append(lines, fmt.Sprintf("%d: %s", pid, output.SafeLine(args)))
		}
	}
	if len(lines) == 0 {
		return ok("none")
	}
	slices.Sort(lines)
	return note("`kill PID` stops a process; `gcity why AGENT` shows how its session ended",
		"left over from sessions that have ended:\n%s", strings.Join(lines, "\n"))
}

func ours(pid int) bool {
	args := proc.Args(pid)
	return len(args) > 1 && (args[1] == "hold" || args[1] == "pane" ||
		filepath.Base(args[0]) == "gcity")
}

func valueIn(environ []byte, name string) string {
	for kv := range strings.SplitSeq(string(environ), "\x00") {
		if value, found := strings.CutPrefix(kv, name+"="); found {
			return value
		}
	}
	return ""
}
