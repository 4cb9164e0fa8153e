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

// Command is a gcity command that a hook runs.
type Command string

// The commands of hooks. An existing command that contains one of these texts counts as the hook for its event.
const (
	Prime Command = "gc prime --hook"
	Mail  Command = "gc mail check --inject"
	Work  Command = "gc hook --inject"
)

type hook struct {
	event   string
	command Command
	// the output with which the program passes a text to its model: JSON in which TEXT stands for the text; "" = the
	// text itself
	output string
}

type kind struct {
	name   string
	file   string // path in the working folder
	others string // a file with the same purpose that gcity does not install; "" = none
	// content of the whole file; "" = the hooks are merged into a JSON file
	text  string
	hooks []hook
	// entry of a hook in the JSON file; LINE stands for its shell command
	entry string
	// hooks that earlier versions of gcity installed, without an output
	former []hook
}

const (
	nested = `{"matcher":"","hooks":[{"type":"command","command":LINE}]}`
	// makes the model continue with the text as its next instruction
	block = `{"decision":"block","reason":TEXT}`
)

func context(event string) string {
	return `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":TEXT}}`
}

// The table contains no hooks that cannot reach the model. Copilot, for example, ignores the output of
// userPromptSubmitted, and Gemini CLI that of PreCompress. Claude Code passes the output of PreCompact to the model as
// instructions for the summary. After the compaction, it runs the hooks of SessionStart again.
func kinds() []kind {
	return []kind{
		{name: "claude", file: ".claude/settings.json", entry: nested,
			hooks: []hook{{"SessionStart", Prime, ""}, {"UserPromptSubmit", Mail, ""},
				{"Stop", Work, block}},
			former: []hook{{"Stop", Work, ""}, {"PreCompact", Prime, ""}}},
		{name: "gemini", file: ".gemini/settings.json", entry: nested,
			hooks: []hook{{"SessionStart", Prime, context("SessionStart")},
				{"BeforeAgent", Mail, context("BeforeAgent")}, {"AfterAgent", Work, block}},
			former: []hook{{"SessionStart", Prime, ""}, {"BeforeAgent", Mail, ""},
				{"PreCompress", Prime, ""}, {"SessionEnd", Work, ""}}},
		{name: "codex", file: ".codex/hooks.json", entry: nested,
			hooks: []hook{{"SessionStart", Prime, context("SessionStart")},
				{"UserPromptSubmit", Mail, context("UserPromptSubmit")}, {"Stop", Work, block}}},
		{name: "opencode", file: ".opencode/plugins/gcity.js",
			others: ".opencode/plugins/gascity.js", text: opencode},
		{name: "copilot", file: ".github/hooks/gcity.json", others: ".github/hooks/gascity.json",
			entry: `{"type":"command","bash":LINE,"timeoutSec":30}`,
			hooks: []hook{{"sessionStart", Prime, `{"additionalContext":TEXT}`},
				{"agentStop", Work, block}},
			former: []hook{{"sessionStart", Prime, ""}, {"userPromptSubmitted", Mail, ""},
				{"sessionEnd", Work, ""}}},
		{name: "cursor", file: ".cursor/hooks.json", entry: `{"command":LINE}`,
			hooks: []hook{{"sessionStart", Prime, `{"additional_context":TEXT}`},
				{"stop", Work, `{"followup_message":TEXT}`}}},
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

// kindOf returns nil if the name is unknown.
func kindOf(name string) *kind {
	all := kinds()
	if i := slices.IndexFunc(all, func(k kind) bool { return k.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
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
		k := kindOf(name)
		if k == nil {
			r.Problems = append(r.Problems, fmt.Sprintf("there are no hooks for %q", name))
			continue
		}
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
