package topology

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gcity/internal/redact"
)

// transports are the URL schemes that git may be given. Git serves them itself and authenticates the other side:
// what is fetched will run.
var transports = []string{"https", "ssh", "git+ssh", "ssh+git", "file"}

// allowed is GIT_ALLOW_PROTOCOL: the same transports as git names them, also for a redirect or a rewritten URL.
const allowed = "https:ssh:file"

// tokens are the beginnings of access tokens that code hosts take in place of a user's name.
var tokens = []string{"ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "gldt-",
	"x-token-auth"}

// Refused says why a source is not given to git, "" if it may be. The text does not repeat the source, which may be
// secret.
func Refused(source string) string {
	if Helped(source) {
		return "names a helper program of git, which may run anything; write a URL with https:// " +
			"or ssh://, or a repository's folder"
	}
	scheme, rest, isURL := strings.Cut(source, "://")
	if !isURL || strings.ContainsAny(scheme, "/:@ ") {
		return ""
	}
	if !slices.Contains(transports, scheme) {
		return fmt.Sprintf("uses %s://, a transport that git does not authenticate or does not "+
			"know; use https://, ssh:// or file://", scheme)
	}
	if hasPassword(rest) {
		return "contains a password or token, and it would be " +
			"written to " + LockFile + "; take it out, and store it with a credential " +
			"helper of git: " +
			"`git config --global credential.helper store` (or cache, libsecret, osxkeychain, " +
			"manager), then `git credential approve`"
	}
	return ""
}

// hasPassword reports whether a URL, given what follows its slashes, names a password before its host, or a token
// as the user or in its query. A password may contain a slash although URLs forbid that.
func hasPassword(rest string) bool {
	path, query, _ := strings.Cut(rest, "?")
	if redact.Text(query) != query {
		return true
	}
	at := strings.LastIndexByte(path, '@')
	if slash := strings.IndexByte(path, '/'); slash >= 0 && slash < at {
		_, port, colon := strings.Cut(path[:slash], ":")
		if !colon || strings.Trim(port, "0123456789") == "" || strings.HasPrefix(path, "[") ||
			strings.Contains(path[:slash], "@") {
			at = strings.LastIndexByte(path[:slash], '@')
		}
	}
	if at < 0 {
		return false
	}
	user := path[:at]
	return strings.Contains(user, ":") || slices.ContainsFunc(tokens,
		func(t string) bool { return strings.HasPrefix(user, t) })
}

// bracketed is the beginning of a URL, or of HOST:PATH, whose host is an address in brackets. It says what git is
// to do, so that the program that git would look for a helper in has a name already.
var bracketed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:(?:https?|ssh|git|git\+ssh|ssh\+git)://(?:[^/@\[\]:]+(?::[^/@\[\]:]*)?@)?\[([^/@\[\]]+)\](?::[0-9]+)?(?:/|$)|(?:[^/@\[\]:]+@)?\[([^/@\[\]]+)\]:)`)
})

// Helped says whether git would, or might, start a helper program that the source names: "NAME::ADDRESS" runs
// git-remote-NAME, and ext:: any command. Two colons stand for something else only in the address of a host, in
// brackets.
func Helped(source string) bool {
	if m := bracketed().FindStringSubmatch(source); m != nil {
		host, _, _ := strings.Cut(m[1]+m[2], "%25")
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && ip.Zone() == "" {
			source = source[len(m[0]):]
		}
	}
	return strings.Contains(source, "::")
}
