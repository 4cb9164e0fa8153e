package session

import "strings"

// Encode converts an agent's qualified name to a name that is valid in a file name, a socket path and a tmux
// target. Different names stay different: "_" becomes "__", "/" becomes "_s", "." becomes "_d".
func Encode(agent string) string { return encoder.Replace(agent) }

// A Replacer is immutable and safe for concurrent use.
var encoder = strings.NewReplacer("_", "__", "/", "_s", ".", "_d")
