package folder

import "strings"

// ExternalScript returns the script of a provider with the prefix exec:.
func ExternalScript(provider string) (script string, ok bool) {
	return strings.CutPrefix(provider, "exec:")
}
