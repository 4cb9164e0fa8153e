package folder

import "strings"

// CutExec is the script of a provider that is one.
func CutExec(provider string) (script string, ok bool) {
	return strings.CutPrefix(provider, "exec:")
}
