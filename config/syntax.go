package config

import (
	"bytes"
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/internal/toml"
)

// ParseTOML parses the content of a city.toml as TOML.
func ParseTOML(data []byte) (*toml.Node, []*toml.Fault) { return parseTOML(data, cityNeeds) }

func parseTOML(data []byte, hint string) (*toml.Node, []*toml.Fault) {
	if len(data) > files.MaxSize {
		return nil, []*toml.Fault{files.TooLarge()}
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return nil, []*toml.Fault{{At: toml.Everywhere, Msg: "is in UTF-16; save it in UTF-8"}}
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return nil, []*toml.Fault{{At: at, Msg: "contains a NUL byte; it is not a text file, " +
			"or was not written completely"}}
	}
	data = toml.BlankBOM(data)
	if msg := blank(data, hint); msg != "" {
		return nil, []*toml.Fault{{At: toml.Everywhere, Msg: msg}}
	}
	root, faults := toml.Parse(data)
	if n := len(toml.TablesOf(root.Get("agents"))) + len(toml.TablesOf(root.Get("agent"))); n >
		keys.MaxAgents {
		return nil, []*toml.Fault{{At: toml.Everywhere,
			Msg: fmt.Sprintf("there are %d agents; a city can have at most %d", n,
				keys.MaxAgents)}}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return root, nil
}

func blank(data []byte, hint string) string {
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
		return "the file contains only comments; " + hint
	case len(data) > 0:
		return "the file is blank; " + hint
	}
	return "the file is empty; " + hint
}
