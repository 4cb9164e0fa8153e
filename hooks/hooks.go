// Package hooks installs hook files for several kinds of agent programs. The hooks make the program call gcity: for its
// prompt when it starts, for mail before each turn, and for work when it is idle. Install keeps everything else in
// these files.
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

const maxFile = 4 << 20

//go:embed files/opencode.js
var opencode string

type hook struct {
	event   string
	matcher string // restricts the hook to some occurrences of the event; "" = all
	line    string
	has     string // an existing command with this text counts as this hook
}

type kind struct {
	name   string
	file   string // path in the working folder
	others string // a file with the same purpose that gcity does not install; "" = none
	// content of the whole file; "" = the hooks are merged into a JSON file
	text  string
	hooks []hook
	// an entry is a single hook with the key "bash", without a matcher
	flat bool
}

func guarded(line string) string { return `test -z "$GC_AGENT" || ` + line }

func of(event, line string) hook { return hook{event: event, line: guarded(line), has: line} }

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

// Kinds returns the names of the agent programs that have hooks.
func Kinds() []string {
	var out []string
	for _, k := range kinds() {
		out = append(out, k.name)
	}
	return out
}

// Report is the result of an installation.
type Report struct {
	Written  []string
	Problems []string
}

// Install installs the hook files of the given kinds in a folder. It never writes outside the folder. It reports
// failures as problems.
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
		// remove temporary files of an installation that was killed
		disk.SweepTemps(root, path.Dir(k.file))
		written, err := k.install(root)
		if err != nil {
			r.Problems = append(r.Problems, fmt.Sprintf("cannot install hooks for %s: %s %v",
				name, k.file, withoutPath(err)))
		}
		if written {
			r.Written = append(r.Written, k.file)
		}
	}
	return r
}

func withoutPath(err error) error {
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
		text = k.updatedFile(old)
	} else if text, err = k.merged(old); err != nil {
		return false, err
	}
	if text == nil {
		return false, nil
	}
	return true, replace(root, k.file, text, mode)
}

func (k *kind) read(root *os.Root) ([]byte, fs.FileMode, error) {
	info, err := root.Lstat(k.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0o644, nil
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("is not a regular file, and was not changed")
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

// begins is the start of a generated file, followed by a hash of the rest of the file. If the hash does not match, a
// user has changed the file.
const begins = "// gcity, sha256 "

func (k *kind) updatedFile(old []byte) []byte {
	first, rest, _ := strings.Cut(string(old), "\n")
	// an empty file can be left by a power failure
	if len(old) > 0 && (first != begins+sum(rest) || rest == k.text) {
		return nil
	}
	return []byte(begins + sum(k.text) + "\n" + k.text)
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// replace writes a file atomically and durably, because the file can contain the user's settings.
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
	if err = errors.Join(err, f.Chmod(mode)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
	}
	return err
}
