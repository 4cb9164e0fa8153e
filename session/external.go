package session

import "strings"

// The two kinds of provider that run a user's own program. The configuration refers to them as "exec:SCRIPT" and
// "plugin:PROGRAM".
const (
	Script = "exec" // runs the program once per operation, see package session/script
	// runs the program once for all operations, see package session/plugin
	Plugin = "plugin"
)

// External splits the name of an external provider into its kind and its program.
func External(provider string) (kind, program string, ok bool) {
	kind, program, ok = strings.Cut(provider, ":")
	if kind != Script && kind != Plugin {
		return "", "", false
	}
	return kind, program, ok
}
