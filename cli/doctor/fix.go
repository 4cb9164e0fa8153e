package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/disk"
)

type repair struct {
	what string
	idle bool   // only while no process holds the city's lock
	then string // advice if another process holds that lock

	needsConfig bool
	// does nothing if the problem no longer exists
	do func() error
}

const freeAdvice = "`gcity doctor --fix` removes the file when no controller is running"

var errInvalidConfig = errors.New("gcity will rewrite the file once the configuration is valid")

// A younger temporary file might be in use.
const leftoverAge = time.Hour

func openFolder(dir string) []repair {
	gc := folder.StateDir(dir)
	info, err := os.Lstat(gc)
	if err != nil || !info.IsDir() || disk.Own(gc) != nil || info.Mode().Perm() == 0o700 {
		return nil
	}
	return []repair{{what: fmt.Sprintf("other users can open %s (%v)", gc, info.Mode()),
		do: func() error { return disk.MakePrivate(gc) }}}
}

func leftovers(dir string) []repair {
	gc := folder.StateDir(dir)
	info, err := os.Lstat(gc)
	if err != nil || !info.IsDir() || disk.Own(gc) != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(gc, "controller.lock")); err != nil {
		return nil
	}
	var out []repair
	if _, err := os.Lstat(filepath.Join(gc, ".gitignore")); errors.Is(err, fs.ErrNotExist) {
		out = append(out, repair{what: gc + " has no .gitignore, so git would add " +
			"runtime files",
			do: func() error { return folder.HideFromGit(gc) }})
	}
	held, _ := folder.IsHeld(dir)
	if what := brokenLink(folder.BinDir(dir), held); what != "" {
		out = append(out, repair{what: what + ", so agents cannot find gc",
			do: func() error { return folder.LinkBinary(dir) }})
	}
	for _, left := range partialFiles(gc) {
		out = append(out, repair{what: left + " was left by a killed process", idle: true,
			then: freeAdvice, do: func() error { return folder.IgnoreNotExist(disk.Remove(left)) }})
	}
	if data, err := disk.ReadFile(folder.ConfigCachePath(dir)); err == nil && !json.Valid(data) {
		out = append(out, repair{what: folder.ConfigCachePath(dir) + " is damaged", idle: true,
			then: "`gcity reload` makes the controller write the file again", do: func() error {
				c, err := folder.LoadCity(dir)
				if err != nil {
					return errInvalidConfig
				}
				return folder.SaveConfigCache(dir, c)
			}, needsConfig: true})
	}
	return append(out, staleFiles(dir)...)
}

// brokenLink says what is wrong with the link to gcity in bin, or returns "". A controller creates bin when it starts.
// held means that one is running.
func brokenLink(bin string, held bool) string {
	link := filepath.Join(bin, "gc")
	if _, err := os.Stat(link); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if _, err := os.Lstat(link); err == nil {
		return link + " is a broken link"
	}
	if _, err := os.Lstat(bin); err == nil || held {
		return link + " is missing"
	}
	return ""
}

func staleFiles(dir string) []repair {
	if held, err := folder.IsHeld(dir); err != nil || held {
		return nil
	}
	var out []repair
	at := disk.FindSocket(folder.SocketPath(dir))
	if info, err := os.Lstat(at); err == nil && info.Mode().Type() == fs.ModeSocket &&
		isSocketDead(dir) {
		out = append(out, repair{what: at + " belongs to a dead controller", idle: true,
			then: freeAdvice, do: func() error { return folder.RemoveSocket(dir) }})
	}
	pid := filepath.Join(folder.StateDir(dir), "daemon.pid")
	// last, because a starting controller waits for the lock only while that file exists
	if _, err := os.Lstat(pid); err == nil {
		out = append(out, repair{what: pid + " belongs to a dead controller", idle: true,
			then: freeAdvice,
			do:   func() error { return folder.IgnoreNotExist(disk.Remove(pid)) }})
	}
	return out
}

func isSocketDead(dir string) bool {
	_, closeNear, err := folder.Dial(dir)
	if err == nil {
		closeNear()
	}
	return err != nil && exit.IsNotRunning(err)
}

func partialFiles(gc string) []string {
	unfinished :=
		regexp.MustCompile(
			`^(\.gcity-[A-Z2-7]{26}|\.[A-Za-z][A-Za-z0-9-]*\.[a-z]+[0-9]{9,}|gc\.[0-9]+)$`)
	var out []string
	for _, dir := range []string{gc, filepath.Join(gc, "bin")} {
		entries, err := disk.ReadDir(dir)
		if err != nil {
			continue // other checks report this error
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !unfinished.MatchString(e.Name()) ||
				time.Since(info.ModTime()) < leftoverAge {
				continue
			}
			if link := strings.HasPrefix(e.Name(),
				"gc."); link == (info.Mode().Type() == fs.ModeSymlink) &&
				(link || info.Mode().IsRegular()) {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	return out
}

func checkLeftovers(_ context.Context, p *Subject) finding {
	held, err := folder.IsHeld(p.dir)
	held = held || err != nil
	var lines []string
	rest, fix := "it", ""
	for _, problem := range leftovers(p.dir) {
		switch {
		case problem.needsConfig && p.config == nil:
			lines, rest = append(lines, problem.what+"; "+errInvalidConfig.Error()), "the rest"
		case problem.idle && held:
			lines, rest = append(lines, problem.what+"; "+problem.then), "the rest"
		default:
			lines, fix = append(lines, problem.what), "`gcity doctor --fix` repairs "
		}
	}
	if fix != "" {
		fix += rest
	}
	return perLine(note, lines, fix, "none")
}

type repairs struct {
	Done []string `json:"mended"`
	Left []string `json:"left"`
}

// repairCity loses no data, and does not change anything that a running controller uses.
func repairCity(dir string) repairs {
	out := repairs{Done: []string{}, Left: []string{}}
	var problems []repair
	for _, c := range checks() {
		if c.fix != nil {
			problems = append(problems, c.fix(dir)...)
		}
	}
	var held error
	if slices.ContainsFunc(problems, func(problem repair) bool { return problem.idle }) {
		lock, err := disk.TryLock(filepath.Join(folder.StateDir(dir), "controller.lock"))
		if held = err; err == nil {
			defer func() { _ = lock.Release() }() // if this fails, this process's exit releases it
		}
	}
	for _, problem := range problems {
		err := error(nil)
		if problem.idle && held != nil {
			err = held
			if errors.Is(held, disk.ErrLocked) {
				err = errors.New(problem.then)
			}
		} else {
			err = problem.do()
		}
		if err != nil {
			out.Left = append(out.Left, problem.what+": "+err.Error())
		} else {
			out.Done = append(out.Done, problem.what)
		}
	}
	return out
}

func printRepairs(e *env.Env, m repairs) {
	for _, line := range m.Done {
		e.Sayf("%s", e.Paint(output.Green, "repaired: ")+output.SafeLine(line))
	}
	for _, line := range m.Left {
		e.Sayf("%s", e.Paint(output.Yellow, "not repaired: ")+output.SafeLine(line))
	}
	if len(m.Done)+len(m.Left) == 0 {
		e.Sayf("nothing to repair")
	}
	e.Sayf("")
}
