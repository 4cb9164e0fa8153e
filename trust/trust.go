// Package trust decides whether the programs that a city names are allowed to run. The user decides once for each city.
// Edits by the local user extend the trust; commits from elsewhere do not.
//
// # Concurrency
//
// All functions may be called concurrently. Records are separate files that are replaced atomically. Each has a lock
// file, which a process locks to change the record.
package trust

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/internal/shell"
)

// Program is a command, a script or a file that a city would run.
type Program struct {
	What  string   // where it is used: "agent scribe", "check of pool loader"
	Line  string   // the command line, or the script
	Runs  []string // the command lines to which Line expands; empty if Line is not a template
	At    string   // where it is declared: "city.toml:12:1"
	From  []string // the absolute paths of the files that declare it
	Files []string // the absolute paths of its scripts and folders
	User  string   // "agent scribe", "automation tick", "watchdog deacon"; "" = the city
	Sums  []string // hashes of what the program depends on, such as scripts and the environment
	Same  []string // other values of What; covered if the record covers it as one of them
	With  []string // the absolute paths of the files that -f adds to the configuration
	// Content returns a hash of a folder that can be large. It is set instead of Sums if the folder is a git checkout
	// that changes only together with its HEAD.
	Content func() string
	// how the program differs from the record: "new", "changed" or "new or changed"; set only in a Refusal
	Change string
}

// paths returns the files that declare the program, the files that it consists of, and the targets of symbolic links.
func (p Program) paths() []string {
	out := slices.Concat(p.From, p.Files)
	for _, path := range out {
		if target := realPath(path); target != path {
			out = append(out, target)
		}
	}
	return out
}

// Sum returns a hash of the program without its position.
func (p Program) Sum() string {
	h := sha256.New()
	parts := append([]string{p.What, p.Line}, p.Sums...)
	if p.Content != nil {
		parts = append(parts, p.Content())
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Record is what a user has decided for one city.
type Record struct {
	Path string `json:"path"` // absolute path of the city
	// the sums of all trusted programs, sorted
	Programs []string `json:"programs"`
	// Program.What of all trusted programs, sorted. It is empty in records of earlier versions.
	Names []string `json:"names,omitempty"`
	// the commit of each git checkout that programs come from, by the checkout's folder
	Heads map[string]string `json:"heads"`
	Files []string          `json:"files,omitempty"` // from -f; the record covers their programs
	// Folders is set if the record covers Content. It is not set in records of earlier versions.
	Folders bool      `json:"folders,omitempty"`
	At      time.Time `json:"at"`
}

// NewRecord returns the record for a user who trusts these programs.
func NewRecord(dir string, programs []Program, heads map[string]Head, now time.Time) Record {
	return Record{Path: dir, At: now.UTC().Truncate(time.Second)}.with(programs, heads)
}

func (r Record) with(programs []Program, heads map[string]Head) Record {
	r.Programs, r.Names = slices.Clone(r.Programs), slices.Clone(r.Names)
	for _, p := range programs {
		r.Programs, r.Names = append(r.Programs, p.Sum()), append(r.Names, p.What)
	}
	slices.Sort(r.Programs)
	r.Programs = slices.Compact(r.Programs)
	slices.Sort(r.Names)
	r.Names = slices.Compact(r.Names)
	r.Files, r.Folders = filesWith(programs), true
	r.Heads = map[string]string{}
	for dir, h := range heads {
		r.Heads[dir] = h.Commit
	}
	return r
}

// extended is like with. If no checkout has moved, the record still covers the files from -f that are not in use now.
func (r Record) extended(programs []Program, heads map[string]Head) Record {
	out := r.with(programs, heads)
	for repo, head := range heads {
		if moved(&r, repo, head) {
			return out
		}
	}
	out.Files = append(out.Files, r.Files...)
	slices.Sort(out.Files)
	out.Files = slices.Compact(out.Files)
	return out
}

func filesWith(programs []Program) (files []string) {
	for _, p := range programs {
		files = append(files, p.With...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func (r Record) equal(other Record) bool {
	return r.Path == other.Path && r.Folders == other.Folders &&
		slices.Equal(r.Programs, other.Programs) && slices.Equal(r.Names, other.Names) &&
		slices.Equal(r.Files, other.Files) && maps.Equal(r.Heads, other.Heads)
}

// Head is the state of a git checkout.
type Head struct {
	Commit string // "" = no commit yet
	// Busy is set if the checkout can contain files from outside HEAD, for example during a merge.
	Busy bool
	// Since reports whether every commit after the given one was made by `git commit` in this checkout.
	Since func(commit string) bool

	interrupted bool      // git has stopped within an operation such as a merge, or is in a rebase
	locked      time.Time // when a git command locked the checkout; zero = it is not locked
	indexed     time.Time // when git last replaced the index
}

// Refusal is the error for a city with programs that are not allowed to run.
type Refusal struct {
	Dir string
	Why string
	New []Program // programs that the user does not trust yet
	// the files that -f adds to the configuration
	Files []string
	Diffs []string // git commands that show what has changed in the checkouts of New

	programs []Program // all of the city's programs
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("the city in %s is not trusted: %s. Its programs will not run until you "+
		"confirm them with `%s`", r.Dir, r.Why, r.Command())
}

// Command returns the command with which the user can trust the programs.
func (r *Refusal) Command() string {
	command := "gcity trust "
	for _, file := range r.Files {
		command += "-f " + shell.Quote(file) + " "
	}
	return command + shell.Quote(r.Dir)
}

// Of returns the refusal that applies to one user of programs; see Program.User. If all of the user's programs are
// trusted, Of returns nil.
func (r *Refusal) Of(user string) *Refusal {
	return r.about(func(p Program) bool { return p.User == user })
}

// OfLine is like Of for the programs with a command line.
func (r *Refusal) OfLine(line string) *Refusal {
	return r.about(func(p Program) bool { return p.Line == line })
}

func (r *Refusal) about(relevant func(Program) bool) *Refusal {
	out := &Refusal{Dir: r.Dir, Files: r.Files, programs: r.programs}
	out.New = slices.DeleteFunc(slices.Clone(r.New), unrelated(r.programs, relevant))
	if len(out.New) == 0 {
		return nil
	}
	out.Why = changed(out.New[0]) + " since you trusted the city"
	return out
}

// WithLine returns the programs with a command line, and the folders that contain files of these programs.
func WithLine(programs []Program, line string) []Program {
	other := unrelated(programs, func(p Program) bool { return p.Line == line })
	return slices.DeleteFunc(slices.Clone(programs), other)
}

// unrelated returns a function that reports whether a program is neither relevant nor a folder with files of a relevant
// program.
func unrelated(programs []Program, relevant func(Program) bool) func(Program) bool {
	var paths []string
	for _, p := range programs {
		if relevant(p) {
			paths = append(paths, p.paths()...)
		}
	}
	contains := func(folder string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return within(folder, path) })
	}
	return func(p Program) bool {
		return !relevant(p) && (p.User != "" || !slices.ContainsFunc(p.Files, contains))
	}
}

func changed(p Program) string {
	return fmt.Sprintf("%s is new or has changed (%s)", p.What, p.At)
}

// Judge decides whether a city's programs are allowed to run. It returns nil if they are. rec is the city's record, or
// nil.
func Judge(dir string, rec *Record, programs []Program, heads map[string]Head) *Refusal {
	if rec == nil {
		return &Refusal{Dir: dir, Why: "its programs have not been confirmed yet", New: programs,
			Files: filesWith(programs)}
	}
	// the recorded commits say nothing about programs that the user was not shown
	withoutHeads := *rec
	withoutHeads.Heads = nil
	out := &Refusal{Dir: dir, Files: filesWith(programs), programs: programs}
	for _, p := range programs {
		at, file := rec, rec.lacks(p.With)
		if file != "" {
			at = &withoutHeads
		}
		repo := movedOf(at, p.paths(), heads)
		if repo == "" || rec.predates(p) || rec.covers(p) {
			continue
		}
		if len(out.New) == 0 {
			out.Why = fmt.Sprintf("%s since you trusted the city, and HEAD of the git checkout "+
				"%s has changed", changed(p), repo)
			if heads[repo].Busy {
				out.Why = fmt.Sprintf("%s since you trusted the city, and git has not finished a "+
					"change, such as a merge, in the checkout %s", changed(p), repo)
			}
			if file != "" {
				out.Why = fmt.Sprintf("%s, and you have not trusted the city with the file %s",
					changed(p), file)
			}
		}
		p.Change = rec.change(p)
		out.New = append(out.New, p)
		out.Diffs = appendDiff(out.Diffs, repo, at.Heads[repo], heads[repo].Commit)
	}
	if len(out.New) == 0 {
		return nil
	}
	return out
}

// change describes a program that the record does not cover.
func (r *Record) change(p Program) string {
	named := func(what string) bool { return slices.Contains(r.Names, what) }
	switch {
	case len(r.Names) == 0 && len(r.Programs) > 0:
		return "new or changed"
	case named(p.What) || slices.ContainsFunc(p.Same, named):
		return "changed"
	}
	return "new"
}

func (r *Record) covers(p Program) bool {
	coversAs := func(what string) bool {
		p.What = what
		return slices.Contains(r.Programs, p.Sum())
	}
	return coversAs(p.What) || slices.ContainsFunc(p.Same, coversAs)
}

// predates reports whether the record is of an earlier version, which did not cover the folder of a topology without
// programs, such as one that contains only formulas.
func (r *Record) predates(p Program) bool {
	return p.Content != nil && !r.Folders &&
		!slices.ContainsFunc(p.From, func(folder string) bool { return r.Heads[folder] != "" })
}

// lacks returns the first of these files from -f that the record does not cover, or "".
func (r *Record) lacks(files []string) string {
	for _, file := range files {
		same := func(other string) bool {
			return other == file || realPath(other) == realPath(file)
		}
		if !slices.ContainsFunc(r.Files, same) {
			return file
		}
	}
	return ""
}

// realPath returns a path without symbolic links, if the file exists.
func realPath(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

func appendDiff(all []string, repo, from, to string) []string {
	const idLength = 40 // for a repository with reftables, the record contains a longer hash
	if len(from) != idLength || from == to {
		return all
	}
	command := fmt.Sprintf("git -C %s diff %.12s %.12s", shell.Quote(repo), from, to)
	if slices.Contains(all, command) {
		return all
	}
	return append(all, command)
}

func movedOf(rec *Record, paths []string, heads map[string]Head) string {
	for _, path := range paths {
		if repo := checkoutOf(path, heads); repo != "" && moved(rec, repo, heads[repo]) {
			return repo
		}
	}
	return ""
}

func moved(rec *Record, repo string, now Head) bool {
	was, known := rec.Heads[repo]
	switch {
	case now.Busy, !known && !within(repo, rec.Path) && !within(rec.Path, repo):
		return true
	case was == now.Commit:
		return false
	}
	return now.Since == nil || !now.Since(was)
}

func within(folder, path string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

func checkoutOf(path string, heads map[string]Head) string {
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, is := heads[dir]; is {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// Grant decides, on first use, whether a city's programs are allowed to run. The zero value does not allow any program.
type Grant struct {
	refused func() error
	again   func(ctx context.Context, line string) error // may be nil
}

// Err returns nil if the programs are allowed to run, and a *Refusal if they are not. Any other error means that the
// check failed.
func (g Grant) Err() error {
	if g.refused == nil {
		return &Refusal{Why: "trust was not checked"}
	}
	return g.refused()
}

// ErrFor is like Err for one user of programs; see Program.User. It ignores other programs that wait for trust, if the
// city has a record.
func (g Grant) ErrFor(user string) error {
	err := g.Err()
	r, refused := errors.AsType[*Refusal](err)
	if !refused || len(r.New) == 0 {
		return err // the city has never been trusted
	}
	if waits := r.Of(user); waits != nil {
		return waits
	}
	return nil
}

// ErrOf is like Err. If the city's controller is running in this process, ErrOf checks the programs with one command
// line, and it checks them again with each call.
func (g Grant) ErrOf(ctx context.Context, line string) error {
	if g.again == nil {
		return g.Err()
	}
	return g.again(ctx, line)
}

// Check returns the grant for a city. programs returns the city's programs. It is called at most once.
func (l *Ledger) Check(dir string, programs func() ([]Program, error)) Grant {
	return Grant{refused: sync.OnceValue(func() error { return l.check(dir, programs) })}
}

// Running returns the grant for a city with a running controller of this user. If again is not nil, ErrOf calls it.
func Running(again func(ctx context.Context, line string) error) Grant {
	return Grant{refused: func() error { return nil }, again: again}
}
