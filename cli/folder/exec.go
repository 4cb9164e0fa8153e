package folder

import "strings"

// CutExec returns the script of a provider with the prefix exec:.
func CutExec(provider string) (script string, ok bool) {
	return strings.CutPrefix(provider, "exec:")
}
