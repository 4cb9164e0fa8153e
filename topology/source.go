package topology

import (
	"net/netip"
	"regexp"
	"strings"
)

// bracketed is the beginning of a URL, or of HOST:PATH, whose host is an address in brackets. It says what git is to do, so
// that the program that git would look for a helper in has a name already.
var bracketed = regexp.MustCompile(`^(?:(?:https?|ssh|git|git\+ssh|ssh\+git)://(?:[^/@\[\]:]+(?::[^/@\[\]:]*)?@)?\[([^/@\[\]]+)\](?::[0-9]+)?(?:/|$)|(?:[^/@\[\]:]+@)?\[([^/@\[\]]+)\]:)`)

// Helped says whether git would, or might, start a helper program that the source names: "NAME::ADDRESS" runs git-remote-NAME,
// and ext:: any command. Two colons stand for something else only in the address of a host, in brackets.
func Helped(source string) bool {
	if m := bracketed.FindStringSubmatch(source); m != nil {
		host, _, _ := strings.Cut(m[1]+m[2], "%25")
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && ip.Zone() == "" {
			source = source[len(m[0]):]
		}
	}
	return strings.Contains(source, "::")
}
