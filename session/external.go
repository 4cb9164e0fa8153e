package session

import "strings"

// The kinds of provider that are the operator's own program. The configuration names them "exec:SCRIPT" and
// "plugin:PROGRAM".
const (
	Script = "exec"   // executed once per operation, see package session/script
	Plugin = "plugin" // started once and then called, see package session/plugin
)

// External splits the name of a provider that is a user's own program into its kind and the program.
func External(provider string) (kind, program string, ok bool) {
	kind, program, ok = strings.Cut(provider, ":")
	if kind != Script && kind != Plugin {
		return "", "", false
	}
	return kind, program, ok
}
