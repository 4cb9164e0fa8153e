package folder

import "strings"

// ExternalScript returns the script if provider has the prefix "exec:".
func ExternalScript(provider string) (script string, ok bool) {
	return strings.CutPrefix(provider, "exec:")
}
