package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"

	"gcity/internal/disk"
)

// Why an edit was not made.
var (
	ErrNoAgent = errors.New("no such agent")
	ErrChanged = errors.New("the file was changed meanwhile")
)

// lockWait bounds the wait for another edit; each takes milliseconds.
const lockWait = 5 * time.Second

// Target is what a suspended flag belongs to: an agent or pool by its qualified name, a rig, or, empty, the workspace.
type Target struct{ Agent, Rig string }

// SetSuspended writes the suspended flag of a target into the city.toml in dir. Nothing
// else in the file changes: comments, order, blank lines and line ends stay. A file that says so already is not written. The file has
// to be valid, otherwise the *Error says what is wrong with it. Edits by gcity take turns; one by somebody else in the
// same moment is ErrChanged. An agent that the file does not have is ErrNoAgent.
func SetSuspended(dir string, t Target, on bool) error {
	agent := t.Agent
	dir, err := canonical(dir)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	unlock, err := lockEdits(dir)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	defer unlock()
	path := filepath.Join(dir, FileName)
	before, err := read(path)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	after, err := suspended(dir, before, agent, on)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return replace(path, before, after)
}

// replace writes a file that still is what it was.
func replace(path string, before, after []byte) error {
	now, err := read(path)
	if err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	if sum(now) != sum(before) {
		return fmt.Errorf("cannot edit %s: %w by somebody else; nothing was written, try again", path, ErrChanged)
	}
	if err := disk.WriteFile(path, after, 0o644); err != nil {
		return fmt.Errorf("cannot edit the configuration: %w", err)
	}
	return nil
}

// lockEdits makes edits by several processes take turns.
func lockEdits(dir string) (unlock func(), err error) {
	state := filepath.Join(dir, ".gc")
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(state, "config.lock")
	for deadline := time.Now().Add(lockWait); ; time.Sleep(10 * time.Millisecond) {
		l, err := disk.TryLock(path)
		if err == nil {
			return func() { _ = l.Release() }, nil // the kernel releases it at the latest when the process ends
		}
		if !errors.Is(err, disk.ErrLocked) {
			return nil, err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("another edit has held %s for %s; see who has it open, and try again", path, lockWait)
		}
	}
}

// suspended is data with the flag set, or data itself if it says so already.
func suspended(dir string, data []byte, agent string, on bool) ([]byte, error) {
	c, err := Parse(dir, data)
	if err != nil {
		return nil, err
	}
	root, faults := parseTOML(data, cityNeeds)
	if len(faults) > 0 {
		return nil, faults[0]
	}
	t, is, err := suspendable(c, root, agent)
	if err != nil || is == on {
		return data, err
	}
	after := splice(data, t, on)
	if err := onlyFlag(data, after, agent, on); err != nil {
		return nil, fmt.Errorf("cannot edit %s without touching more than one key (%w); write suspended = %t by hand", FileName, err, on)
	}
	return after, nil
}

// suspendable finds the table that the flag belongs to, nil if it is not written, and what it says now.
func suspendable(c *City, root *node, agent string) (*node, bool, error) {
	if agent == "" {
		return root.get("workspace"), c.Workspace.Suspended, nil
	}
	names := make([]string, 0, len(c.Agents))
	for i := range c.Agents {
		names = append(names, c.Agents[i].Name)
		if c.Agents[i].Name != agent {
			continue
		}
		for _, list := range []string{"agents", "agent"} {
			for _, t := range tablesOf(root.get(list)) {
				if n := t.get("name"); n != nil && n.text == agent {
					return t, c.Agents[i].Suspended, nil
				}
			}
		}
	}
	if near := suggest(agent, names); near != "" {
		return nil, false, fmt.Errorf("%w as %q in %s; did you mean %q?", ErrNoAgent, agent, FileName, near)
	}
	return nil, false, fmt.Errorf("%w as %q in %s", ErrNoAgent, agent, FileName)
}

// splice sets the flag in a table: in place, else in a line below the name or the header, else in a table of its own.
func splice(data []byte, t *node, on bool) []byte {
	value := strconv.FormatBool(on)
	if n := t.get("suspended"); n != nil {
		return cut(data, n.value, value)
	}
	flag := "suspended = " + value
	if t == nil {
		return appendTable(data, "workspace", flag)
	}
	var near *node // a key of this table, the name if there is one
	for _, kid := range t.kids {
		if kid.line.end > 0 && (near == nil || kid.key == "name") {
			near = kid
		}
	}
	switch {
	case t.inline && near != nil:
		return cut(data, span{near.line.end, near.line.end}, ", "+flag)
	case t.inline:
		return cut(data, span{t.value.start + 1, t.value.start + 1}, " "+flag+" ")
	case near != nil && (t.get("name") == near || !t.header):
		prefix := string(data[near.line.start:near.at]) // of a dotted key
		return insertLine(data, near.line, prefix+flag)
	}
	return insertLine(data, t.value, flag)
}

// cut replaces a span.
func cut(data []byte, s span, by string) []byte {
	out := make([]byte, 0, len(data)+len(by))
	out = append(out, data[:s.start]...)
	out = append(out, by...)
	return append(out, data[s.end:]...)
}

// insertLine puts a line below the one that s ends in, with the indentation and the end of line of the one it starts in.
func insertLine(data []byte, s span, text string) []byte {
	start := bytes.LastIndexByte(data[:s.start], '\n') + 1
	indent := string(data[start:s.start])
	if len(bytes.TrimLeft([]byte(indent), " \t")) > 0 {
		indent = ""
	}
	eol := lineBreak(data)
	end := s.end + lineEnd(data[s.end:])
	if end == len(data) {
		return append(cut(data, span{end, end}, eol+indent+text), eol...)
	}
	return cut(data, span{end + 1, end + 1}, indent+text+eol)
}

// appendTable puts a table at the end, where it cannot take keys from another one.
func appendTable(data []byte, name, text string) []byte {
	eol := lineBreak(data)
	gap := eol
	if !bytes.HasSuffix(data, []byte("\n")) {
		gap += eol
	}
	return append(bytes.Clone(data), (gap + "[" + name + "]" + eol + text + eol)...)
}

// lineBreak is the end of line that a file uses.
func lineBreak(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// onlyFlag decodes both and says how they differ beyond the flag.
func onlyFlag(before, after []byte, agent string, on bool) error {
	var was, is map[string]any
	if _, err := toml.Decode(string(unmarked(before)), &was); err != nil {
		return err
	}
	if _, err := toml.Decode(string(unmarked(after)), &is); err != nil {
		return err
	}
	for _, t := range flagged(was, agent) {
		t["suspended"] = on
	}
	if !reflect.DeepEqual(was, is) {
		return errors.New("the result would differ in more")
	}
	return nil
}

// flagged gives the decoded tables that the flag belongs to.
func flagged(m map[string]any, agent string) []map[string]any {
	if agent == "" {
		t, ok := m["workspace"].(map[string]any)
		if !ok {
			t = map[string]any{}
			m["workspace"] = t
		}
		return []map[string]any{t}
	}
	var out []map[string]any
	add := func(t map[string]any) {
		if t["name"] == agent {
			out = append(out, t)
		}
	}
	for _, list := range []string{"agents", "agent"} {
		switch l := m[list].(type) {
		case []map[string]any:
			for _, t := range l {
				add(t)
			}
		case []any:
			for _, e := range l {
				if t, ok := e.(map[string]any); ok {
					add(t)
				}
			}
		}
	}
	return out
}
