package config

import (
	"bytes"
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/internal/toml"
)

// ParseTOML reads a city.toml as TOML.
func ParseTOML(data []byte) (*toml.Node, []*toml.Fault) { return parseTOML(data, cityNeeds) }

// parseTOML reads a file as TOML: first what it may not be at all, then its grammar, then its sense. needs says what is
// lacking in a file without anything.
func parseTOML(data []byte, needs string) (*toml.Node, []*toml.Fault) {
	if len(data) > files.MaxSize {
		return nil, []*toml.Fault{files.TooLarge()}
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return nil, []*toml.Fault{{At: at, Msg: "there is a NUL byte; this is no text file, or " +
			"it was not written to its end"}}
	}
	data = toml.Unmarked(data)
	if msg := blank(data, needs); msg != "" {
		return nil, []*toml.Fault{{At: toml.Everywhere, Msg: msg}}
	}
	root, faults := toml.Parse(data)
	if n := len(toml.TablesOf(root.Get("agents"))) + len(toml.TablesOf(root.Get("agent"))); n >
		keys.MaxAgents {
		return nil, []*toml.Fault{{At: toml.Everywhere,
			Msg: fmt.Sprintf("there are %d agents; %d are the most that a city can have", n,
				keys.MaxAgents)}}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return root, nil
}

// blank says what is there where no key and no table is.
func blank(data []byte, needs string) string {
	comments := false
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return ""
		}
		comments = comments || len(line) > 0
	}
	switch {
	case comments:
		return "the file has nothing but comments; " + needs
	case len(data) > 0:
		return "the file is blank; " + needs
	}
	return "the file is empty; " + needs
}
