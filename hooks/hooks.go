// Package hooks writes the files by which several kinds of agents call gcity: for their prompt when they start, for
// mail before each turn, for work when they are idle. Other content of such a file is kept.
//
// # Concurrency
//
// Callers must not install into the same folder at the same time.
package hooks

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"gcity/internal/disk"
)

// maxFile is the size of the largest file that hooks are added to, in bytes.
const maxFile = 4 << 20

//go:embed files/opencode.js
var opencode string

// hook is one shell command that an agent runs at one of its events.
type hook struct {
	event   string
	matcher string // selects occasions of the event; "" = all
	line    string
	has     string // a command that contains this is this hook
}

// kind is one kind of agent.
type kind struct {
	name   string
	file   string // in its working folder
	others string // a foreign file for the same purpose; "" = none
	text   string // the complete file; "" = JSON with these hooks in it
	hooks  []hook
	// each hook is an entry with "bash"; otherwise entries have a matcher and a list of hooks
	flat bool
}

// guarded returns a command that does nothing outside of a gcity agent.
func guarded(line string) string { return `test -z "$GC_AGENT" || ` + line }

func of(event, line string) hook { return hook{event: event, line: guarded(line), has: line} }

// kinds returns all kinds of agents that hooks can be installed for.
func kinds() []kind {
	const prime, mail, work = "gc prime --hook", "gc mail check --inject", "gc hook --inject"
	return []kind{
		{name: "claude", file: ".claude/settings.json", hooks: []hook{
			of("SessionStart", prime), of("UserPromptSubmit", mail), of("PreCompact", prime),
			of("Stop", work),
		}},
		{name: "gemini", file: ".gemini/settings.json", hooks: []hook{
			of("SessionStart", prime), of("BeforeAgent", mail), of("PreCompress", prime),
			of("SessionEnd", work),
		}},
		{name: "opencode", file: ".opencode/plugins/gcity.js",
			others: ".opencode/plugins/gascity.js", text: opencode},
		{name: "copilot", file: ".github/hooks/gcity.json", others: ".github/hooks/gascity.json",
			flat: true, hooks: []hook{
				of("sessionStart", prime), of("userPromptSubmitted", mail), of("sessionEnd", work),
			}},
	}
}

// Kinds returns the names of the agents that hooks can be installed for.
func Kinds() []string {
	var out []string
	for _, k := range kinds() {
		out = append(out, k.name)
	}
	return out
}

// Report is the result of an installation.
type Report struct {
	Written  []string // files that were created or extended
	Problems []string // files that were not changed, and why
}

// Install writes the hook files of the given kinds into a folder. A second call changes nothing. It writes nothing
// outside of the folder, whatever links it contains. Failures are problems in the report, because agents work
// without hooks.
func Install(dir string, names []string) Report {
	var r Report
	root, err := os.OpenRoot(dir)
	if err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("cannot install hooks: %v", err))
		return r
	}
	defer root.Close()
	for _, name := range names {
		at := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == name })
		if at < 0 {
			r.Problems = append(r.Problems, fmt.Sprintf("there are no hooks for %q", name))
			continue
		}
		k := kinds()[at]
		disk.SweepTemps(root, path.Dir(k.file)) // left by an installation that was killed
		written, err := k.install(root)
		if err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("cannot install the hooks of %s: %s %v",
				name, k.file, plainly(err)))
		}
		if written {
			r.Written = append(r.Written, k.file)
		}
	}
	return r
}

func plainly(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot be used: %w", p.Err)
	}
	return err
}

func (k *kind) install(root *os.Root) (written bool, err error) {
	if k.others != "" {
		if _, err := root.Lstat(k.others); err == nil {
			return false, nil
		}
	}
	old, mode, err := k.read(root)
	if err != nil {
		return false, err
	}
	var text []byte
	if k.text != "" {
		text = k.whole(old)
	} else if text, err = k.merged(old); err != nil {
		return false, err
	}
	if text == nil {
		return false, nil
	}
	return true, replace(root, k.file, text, mode)
}

// read returns a kind's file, nil if it does not exist.
func (k *kind) read(root *os.Root) ([]byte, fs.FileMode, error) {
	info, err := root.Lstat(k.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o644, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("is not a file of this folder, and was not changed")
	case info.Size() > maxFile:
		return nil, 0, fmt.Errorf("is larger than %d MB, and was not changed", maxFile>>20)
	}
	f, err := root.Open(k.file)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	return data, info.Mode().Perm(), err
}

// begins is the start of the first line of a generated file, before the hash of the rest. A file with another hash
// belongs to the user.
const begins = "// gcity, sha256 "

// whole returns the content of a generated file, nil if it is up to date or belongs to the user.
func (k *kind) whole(old []byte) []byte {
	first, rest, _ := strings.Cut(string(old), "\n")
	if old != nil && (first != begins+sum(rest) || rest == k.text) {
		return nil
	}
	return []byte(begins + sum(k.text) + "\n" + k.text)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// replace writes a file completely or not at all.
func replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	temp := disk.Temp(name)
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // the error is returned below
	}
	return err
}
