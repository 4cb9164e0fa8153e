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

// transports are the URL schemes that git may use. Schemes that do not authenticate the server are excluded, because
// programs in the fetched files will run.
var transports = []string{"https", "ssh", "git+ssh", "ssh+git", "file"}

// allowed is the value of GIT_ALLOW_PROTOCOL, which git also applies to redirects and rewritten URLs.
const allowed = "https:ssh:file"

// tokens lists the prefixes of access tokens that code hosts accept instead of a user name.
var tokens = []string{"ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "gldt-",
	"x-token-auth"}

// RejectReason returns why a source must not be passed to git, or "". The reason does not contain the source, which may
// include a secret.
func RejectReason(source string) string {
	if StartsHelper(source) {
		return "names a git helper program, which can run any command; use a URL with " +
			"https:// or ssh://, or the folder of a repository"
	}
	scheme, rest, isURL := strings.Cut(source, "://")
	if !isURL || strings.ContainsAny(scheme, "/:@ ") {
		return ""
	}
	if !slices.Contains(transports, scheme) {
		return fmt.Sprintf("uses %s://, which is not secure or which git does not support; use "+
			"https://, ssh:// or file://", scheme)
	}
	if hasPassword(rest) {
		return "contains a password or token, which would be " +
			"written to " + LockFile + "; remove it, and store it with a git credential " +
			"helper: `git config --global credential.helper store` (or cache, libsecret, " +
			"osxkeychain, manager), then `git credential approve`"
	}
	return ""
}

// hasPassword reports whether a URL has a password, or a token as its user or in its query. The parameter rest is the
// part of the URL after "//".
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

// bracketed matches the beginning of a source that has its host in brackets. The "::" of an IPv6 address in the
// brackets does not make git start a helper program.
var bracketed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:(?:https?|ssh|git|git\+ssh|ssh\+git)://(?:[^/@\[\]:]+(?::[^/@\[\]:]*)?@)?` +
			`\[([^/@\[\]]+)\](?::[0-9]+)?(?:/|$)|(?:[^/@\[\]:]+@)?\[([^/@\[\]]+)\]:)`)
})

// StartsHelper reports whether a source might make git start a helper program. "NAME::ADDRESS" starts git-remote-NAME,
// and ext:: starts any command.
func StartsHelper(source string) bool {
	if m := bracketed().FindStringSubmatch(source); m != nil {
		host, _, _ := strings.Cut(m[1]+m[2], "%25")
		if ip, err := netip.ParseAddr(host); err == nil && ip.Is6() && ip.Zone() == "" {
			source = source[len(m[0]):]
		}
	}
	return strings.Contains(source, "::")
}
