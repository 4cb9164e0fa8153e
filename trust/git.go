package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Heads returns the state of the git checkouts that contain the city, the files that declare its programs, or the
// programs' own files, by folder. It only reads files, because git itself would run programs from a repository's
// configuration.
func Heads(dir string, programs []Program) map[string]Head {
	out, seen := map[string]Head{}, map[string]bool{}
	add := func(from string) {
		for at := from; filepath.IsAbs(at) && !seen[at]; at = filepath.Dir(at) {
			seen[at] = true
			if gitDir, ok := gitDirOf(at); ok {
				out[at] = headOf(gitDir)
				return
			}
		}
	}
	add(dir)
	for _, p := range programs {
		for _, path := range p.paths() {
			add(path)
		}
	}
	return out
}

// InNestedCheckout reports whether a path in a folder is in a git checkout that is itself below the folder, such as an
// agent's worktree. A pull in the folder's own checkout does not change such a path.
func InNestedCheckout(folder, path string) bool {
	for at := path; at != folder && within(folder, at); at = filepath.Dir(at) {
		if _, ok := gitDirOf(at); ok {
			return true
		}
	}
	return false
}

func gitDirOf(dir string) (string, bool) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	if info.IsDir() {
		return path, true
	}
	to, found := strings.CutPrefix(firstLine(path), "gitdir: ")
	if !found {
		return "", false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return to, true
}

// interrupted returns the names in .git that exist during an operation such as a merge. Until it ends, the checkout can
// contain files from outside HEAD.
func interrupted() []string {
	return []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"}
}

func headOf(gitDir string) Head {
	var h Head
	for _, name := range []string{"index.lock", "HEAD.lock"} {
		if info, err := os.Lstat(filepath.Join(gitDir, name)); err == nil &&
			info.ModTime().After(h.locked) {
			h.locked = info.ModTime()
		}
	}
	h.interrupted = slices.ContainsFunc(interrupted(), func(name string) bool {
		_, err := os.Lstat(filepath.Join(gitDir, name))
		return err == nil
	})
	h.Busy = h.interrupted || !h.locked.IsZero()
	h.Since = func(commit string) bool { return committedHere(gitDir, commit) }
	if info, err := os.Stat(filepath.Join(gitDir, "index")); err == nil {
		h.indexed = info.ModTime()
	}
	h.Commit = commitOf(gitDir)
	return h
}

// Git replaces the index shortly before it moves HEAD. A checkout is settled when its index is at least settleTime old,
// or has not changed for settleTime. The time of an index may be in the future, if the clock was set back. A checkout
// with an interrupted operation or with an old lock file stays busy, so settledHeads does not wait for it.
const (
	settleTime  = 2 * time.Second
	settleLimit = 5 * time.Second
)

func settledHeads(dir string, programs []Program) map[string]Head {
	type index struct{ replaced, seen time.Time }
	indexes := map[string]index{}
	for deadline := time.Now().Add(settleLimit); ; time.Sleep(settleTime / 20) {
		heads, now := Heads(dir, programs), time.Now()
		settled := true
		for repo, h := range heads {
			if h.interrupted {
				continue
			}
			if i, ok := indexes[repo]; !ok || !i.replaced.Equal(h.indexed) {
				indexes[repo] = index{h.indexed, now}
			}
			locked := !h.locked.IsZero() && now.Sub(h.locked) < settleLimit
			if locked || now.Sub(h.indexed) < settleTime &&
				now.Sub(indexes[repo].seen) < settleTime {
				h.Busy, settled = true, false
				heads[repo] = h
			}
		}
		if settled || now.After(deadline) {
			return heads
		}
	}
}

func commitOf(gitDir string) string {
	head := firstLine(filepath.Join(gitDir, "HEAD"))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return head
	}
	common := gitDir
	if to := firstLine(filepath.Join(gitDir, "commondir")); to != "" {
		if common = to; !filepath.IsAbs(to) {
			common = filepath.Join(gitDir, to)
		}
	}
	for _, dir := range []string{gitDir, common} {
		if commit := firstLine(filepath.Join(dir, ref)); commit != "" {
			return commit
		}
	}
	for line := range strings.Lines(text(filepath.Join(common, "packed-refs"))) {
		if commit, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return commit
		}
	}
	// this package does not parse reftables, so any change to them counts as a new commit
	for _, dir := range []string{gitDir, common} {
		if tables := text(filepath.Join(dir, "reftable", "tables.list")); tables != "" {
			sum := sha256.Sum256([]byte(tables))
			return hex.EncodeToString(sum[:])
		}
	}
	return ""
}

// committedHere reports whether, according to the reflog, only `git commit` has moved HEAD since the given commit.
func committedHere(gitDir, from string) bool {
	lines := strings.Split(strings.TrimSpace(text(filepath.Join(gitDir, "logs", "HEAD"))), "\n")
	at := commitOf(gitDir)
	for i := len(lines) - 1; i >= 0; i-- {
		ids, what, _ := strings.Cut(lines[i], "\t")
		fields := strings.Fields(ids)
		if len(fields) < 2 || fields[1] != at {
			return false
		}
		if !strings.HasPrefix(what, "commit: ") && !strings.HasPrefix(what, "commit (amend): ") &&
			!strings.HasPrefix(what, "commit (initial): ") {
			return false
		}
		if at = fields[0]; at == from || from == "" && strings.Trim(at, "0") == "" {
			return true
		}
	}
	return false
}

// Origin returns the URL from which a city was cloned, or "" if it is unknown.
func Origin(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if gitDir, ok := gitDirOf(at); ok {
			return originIn(filepath.Join(gitDir, "config"))
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

func originIn(config string) string {
	within := false
	for line := range strings.Lines(text(config)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			within = line == `[remote "origin"]`
			continue
		}
		if key, url, ok := strings.Cut(line, "="); ok && within && strings.TrimSpace(key) == "url" {
			return strings.TrimSpace(url)
		}
	}
	return ""
}

const maxText = 16 << 20

func text(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxText {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

func firstLine(path string) string {
	line, _, _ := strings.Cut(text(path), "\n")
	return strings.TrimSpace(line)
}
