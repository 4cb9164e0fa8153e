package session

import "strings"

// Encode converts an agent's qualified name to one that is valid in file names, socket paths and tmux targets.
// Different names stay different: "_" becomes "__", "/" becomes "_s" and "." becomes "_d".
func Encode(agent string) string { return encoder.Replace(agent) }

var encoder = strings.NewReplacer("_", "__", "/", "_s", ".", "_d")
