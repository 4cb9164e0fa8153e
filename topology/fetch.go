package topology

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/shell"
)

const (
	fetchLimit = 5 * time.Minute
	callLimit  = time.Minute
	lockLimit  = 10 * time.Second
)

// Result is the result of a fetch.
type Result struct {
	Name   string
	Commit string
	Was    string // the previous commit; "" = no copy existed
	// the copy was replaced because its files were damaged
	Repaired bool

	city string
	pin  Pin // from before the fetch
}

// Fetch updates a topology's copy to the commit in the lock file. It fetches the ref's newest commit instead if no
// commit is locked for this source and ref, or if update is true.
//
// git runs with the environment environ, without prompts or hooks, and is killed after a few minutes. A correct copy is
// not changed. After an error, the copy and the lock file are unchanged. The caller must call Keep or Undo with the
// result. If it calls neither, the topology's next fetch removes the previous copy.
func Fetch(ctx context.Context, city string, w Remote, update bool, environ []string) (Result,
	error) {
	r, err := fetch(ctx, city, w, update, environ)
	switch {
	case err == nil:
		return r, nil
	case r.Was != "":
		return r, fmt.Errorf("cannot fetch the topology %q: %w; its copy is still at commit %.12s",
			w.Name, err, r.Was)
	}
	return r, fmt.Errorf("cannot fetch the topology %q: %w", w.Name, err)
}

func fetch(ctx context.Context, city string, w Remote, update bool, environ []string) (Result,
	error) {
	if err := w.check(); err != nil {
		return Result{}, err
	}
	root := filepath.Join(city, ".gc", "topologies")
	if err := disk.MkdirState(root, 0o700); err != nil {
		return Result{}, err
	}
	unlock, err := lockFetches(ctx, root)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	// remove folders left by a fetch that was killed
	left, _ := filepath.Glob(filepath.Join(root, ".new-*"))
	for _, dir := range append(left, previousCopy(city, w.Name)) {
		if err := disk.RemoveAll(dir); err != nil {
			return Result{}, err
		}
	}
	lock, err := ReadLock(city)
	if err != nil {
		return Result{}, err
	}
	folder := Folder(city, w.Name)
	pin := lock[w.Name]
	r := Result{Name: w.Name, Was: head(folder), city: city, pin: pin}
	if update || pin.Source != w.Source || pin.Ref != w.Ref {
		pin.Commit = ""
	}
	g := git{dir: folder, env: clean(environ)}
	if r.Commit = pin.Commit; r.Commit != "" && r.Commit == r.Was {
		changed, err := g.run(ctx, callLimit, "status", "--porcelain", "--ignored",
			"--untracked-files=all")
		if err == nil && changed == "" {
			return r, w.checkFetched(folder, r.Commit, true)
		}
		r.Repaired = true
	}
	r.Commit, err = g.replace(ctx, city, w, pin.Commit, func(commit string) error {
		lock[w.Name] = Pin{w.Source, w.Ref, commit}
		return lock.write(city)
	})
	if err == nil && (r.Was == "" || r.Was == r.Commit) {
		r.Keep()
	}
	return r, err
}

// previousCopy returns the folder of a topology's previous copy. Fetches of other topologies do not remove it.
func previousCopy(city, name string) string {
	return filepath.Join(city, ".gc", "topologies", ".old-"+name)
}

// Keep removes the previous copy.
func (r Result) Keep() {
	// if another fetch has replaced the copy again, the folder belongs to that fetch
	if old := previousCopy(r.city, r.Name); head(old) == r.Was {
		_ = disk.RemoveAll(old) // the next fetch removes what is left
	}
}

// Undo restores the previous copy and its commit in the lock file. It must only be called if the fetch replaced a copy
// with one of another commit.
func (r Result) Undo(ctx context.Context) error {
	folder := Folder(r.city, r.Name)
	unlock, err := lockFetches(ctx, filepath.Dir(folder))
	if err != nil {
		return err
	}
	defer unlock()
	lock, err := ReadLock(r.city)
	if err != nil {
		return err
	}
	previous := previousCopy(r.city, r.Name)
	if head(folder) != r.Commit || lock[r.Name].Commit != r.Commit || head(previous) != r.Was {
		return errors.New("another fetch has changed it")
	}
	fresh := filepath.Join(filepath.Dir(folder), ".new-"+rand.Text())
	err = swap(previous, folder, fresh, func() error {
		if lock[r.Name] = r.pin; r.pin == (Pin{}) {
			delete(lock, r.Name)
		}
		return lock.write(r.city)
	})
	if err == nil {
		_ = disk.RemoveAll(fresh) // the next fetch removes what is left
	}
	return err
}

func (w Remote) check() error {
	if why := RejectReason(w.From); why != "" {
		return errors.New("its source " + why)
	}
	if w.From == "" || strings.HasPrefix(w.From, "-") || strings.HasPrefix(w.Ref, "-") {
		return fmt.Errorf("invalid source %q or ref %q: the source must not be empty, and neither "+
			"may start with \"-\"", w.From, w.Ref)
	}
	return nil
}

// replace replaces the copy with a fresh clone, and calls pin to store its commit. If pin fails, the old copy stays.
// Otherwise, the old copy moves to previousCopy.
func (g git) replace(ctx context.Context, city string, w Remote, at string,
	pin func(commit string) error) (commit string, _ error) {
	old := previousCopy(city, w.Name)
	fresh := filepath.Join(filepath.Dir(old), ".new-"+rand.Text())
	if err := disk.MkdirAll(fresh, 0o700); err != nil {
		return commit, err
	}
	defer disk.RemoveAll(fresh)
	folder := g.dir
	g.dir = fresh
	limit := bounds{maxSize, maxFiles, sizeInterval}
	err := limit.watch(ctx, fresh, func(ctx context.Context) (err error) {
		commit, err = g.clone(ctx, w, at)
		return err
	})
	if err != nil {
		return commit, err
	}
	if head(fresh) != commit {
		return commit, fmt.Errorf("git checked out a commit other than %.12s", commit)
	}
	if err := w.checkFetched(fresh, commit, at != ""); err != nil {
		return commit, err
	}
	if err := contained(fresh); err != nil {
		return commit, fmt.Errorf("commit %.12s has %w", commit, err)
	}
	return commit, swap(fresh, folder, old, func() error { return pin(commit) })
}

// swap moves folder to old, replaces it with fresh, and then calls pin. If a step fails, swap restores folder.
func swap(fresh, folder, old string, pin func() error) error {
	if err := disk.Rename(folder, filepath.Base(old)); err != nil &&
		!errors.Is(err, os.ErrNotExist) {
		return err
	}
	err := disk.Rename(fresh, filepath.Base(folder))
	if err == nil {
		if err = pin(); err != nil {
			_ = disk.Rename(folder, filepath.Base(fresh))
		}
	}
	if err != nil {
		_ = disk.Rename(old, filepath.Base(folder))
		return err
	}
	return nil
}

// lockFetches locks the folder of the copies.
func lockFetches(ctx context.Context, root string) (unlock func(), err error) {
	path := filepath.Join(root, ".lock")
	ctx, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		l, err := disk.TryLock(path)
		if err == nil {
			return func() { _ = l.Release() }, nil // the kernel releases the lock in any case
		}
		if !errors.Is(err, disk.ErrLocked) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("another fetch has locked %s for too long: find the process "+
				"that has it open, and try again", path)
		case <-tick.C:
		}
	}
}

func clean(environ []string) []string {
	out := make([]string, 0, len(environ)+4)
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_SSL_") &&
			name != "GIT_SSH" && name != "GIT_SSH_COMMAND" || name == "SSH_ASKPASS" ||
			name == "LC_ALL" {
			continue
		}
		out = append(out, kv)
	}
	out = append(out, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false",
		"LC_ALL=C", "GIT_LFS_SKIP_SMUDGE=1", "GIT_ALLOW_PROTOCOL="+allowed)
	for _, kv := range out {
		if strings.HasPrefix(kv, "GIT_SSH_COMMAND=") || strings.HasPrefix(kv, "GIT_SSH=") {
			return out
		}
	}
	return append(out, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
}

type git struct {
	dir string
	env []string
}

func (g git) clone(ctx context.Context, w Remote, commit string) (string, error) {
	if _, err := g.run(ctx, callLimit, "init", "--quiet", "--template=", "."); err != nil {
		return "", err
	}
	err := g.fetch(ctx, w.From,
		"+HEAD:refs/gcity/head", "+refs/heads/*:refs/gcity/heads/*", "+refs/tags/*:refs/tags/*")
	if err != nil && strings.Contains(err.Error(), "askpass") {
		err = errors.New("the server asks for a login, or the repository does not exist; check " +
			"the address, or set up a git credential helper")
	}
	if err != nil {
		return "", fmt.Errorf("git cannot read %s: %w", w.From, err)
	}
	found, err := g.find(ctx, names(w.Ref, commit))
	// a server can also offer a commit of a branch that was deleted or rewritten
	if id := cmp.Or(commit, w.Ref); err != nil && isCommit(id) && g.fetch(ctx, w.From, id) == nil {
		found, err = g.find(ctx, []string{id})
	}
	switch {
	case err != nil && commit != "":
		return "", fmt.Errorf("%s no longer has commit %.12s, which %s pins; `gcity topology "+
			"fetch %s --update` fetches the newest", w.From, commit, LockFile, w.Name)
	case err != nil && w.Ref == "":
		return "", fmt.Errorf("%s has no default branch; set ref", w.From)
	case err != nil:
		return "", fmt.Errorf("%s has no branch, tag or commit %q", w.From, w.Ref)
	}
	_, err = g.run(ctx, fetchLimit, "checkout", "--quiet", "--force", "--detach", found)
	return found, err
}

func (g git) fetch(ctx context.Context, from string, what ...string) error {
	args := []string{"fetch", "--quiet", "--no-recurse-submodules", "--force",
		"--update-shallow", "--end-of-options", from}
	_, err := g.run(ctx, fetchLimit, append(args, what...)...)
	return err
}

// find returns the commit of the first of these names that exists.
func (g git) find(ctx context.Context, names []string) (commit string, err error) {
	for _, name := range names {
		if commit, err = g.run(ctx, callLimit, "rev-parse", "--verify", "--quiet",
			"--end-of-options", name+"^{commit}"); err == nil {
			break
		}
	}
	return commit, err
}

func names(ref, commit string) []string {
	switch {
	case commit != "":
		return []string{commit}
	case ref == "":
		return []string{"refs/gcity/head"}
	}
	return []string{"refs/gcity/heads/" + ref, "refs/tags/" + ref, ref}
}

func (g git) run(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	safe := []string{"-c", "submodule.recurse=false", "-c", "core.hooksPath=/dev/null", "-c",
		"core.fsmonitor=false", "-c", "advice.detachedHead=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "credential.interactive=false",
		"-c", "init.defaultBranch=none"}
	got, err := shell.Call(ctx, shell.Program{Path: "git", Args: append(safe, args...), Dir: g.dir,
		Env: g.env, MaxStdout: 1 << 20})
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", errors.New("git not found on PATH; install it, or use the path of a folder " +
			"with the topology")
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Errorf("git did not finish within %s", limit)
	case err != nil:
		return "", err
	case got.Code != 0:
		return "", fmt.Errorf("git %s: %s", args[0], oneLine(got.Stderr))
	}
	return strings.TrimSpace(string(got.Stdout)), nil
}

func oneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "fatal: "), "error: ")
}
