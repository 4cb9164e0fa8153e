package session

import "strings"

// These are the kinds of provider that run the operator's own program. The configuration names them "exec:SCRIPT"
// and "plugin:PROGRAM".
const (
	Script = "exec"   // executed once per operation, see package session/script
	Plugin = "plugin" // started once, then used for all operations, see package session/plugin
)

// External splits the name of a provider that runs the operator's own program into its kind and the program.
func External(provider string) (kind, program string, ok bool) {
	kind, program, ok = strings.Cut(provider, ":")
	if kind != Script && kind != Plugin {
		return "", "", false
	}
	return kind, program, ok
}
