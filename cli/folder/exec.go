package folder

import "strings"

// CutExec returns the script of an exec: provider.
func CutExec(provider string) (script string, ok bool) {
	return strings.CutPrefix(provider, "exec:")
}
