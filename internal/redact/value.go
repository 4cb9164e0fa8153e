// Package redact hides secrets in output. It recognizes names (API_KEY, --token, Authorization), URLs with a user, and
// prefixes of access tokens. It cannot recognize all secrets.
package redact

import (
	"net/url"
	"slices"
	"strings"
)

// Hidden is written in place of a secret.
const Hidden = "…"

// Name reports whether the name of a variable, parameter or option marks its value as a secret.
func Name(name string) bool {
	upper := strings.ToUpper(name)
	if countsTokens(upper) {
		return false
	}
	for _, part := range []string{"KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "PASSCODE",
		"CREDENTIAL", "PRIVATE", "BEARER", "COOKIE", "SIGNATURE", "WEBHOOK"} {
		if strings.Contains(upper, part) {
			return true
		}
	}
	switch {
	case strings.HasSuffix(upper, "PASS"): // PGPASS, SMTPPASS
		return true
	case strings.HasSuffix(upper, "_SOCK"), upper == "PWD", upper == "OLDPWD":
		// the variable contains a location, not a secret
		return false
	}
	return slices.ContainsFunc(words(name), func(word string) bool {
		return slices.Contains([]string{"PASS", "PW", "PWD", "AUTH", "OAUTH", "AUTHORIZATION",
			"PAT", "DSN", "JWT", "PSK", "PIN", "OTP", "CREDS"}, word)
	})
}

// countsTokens recognizes token limits of language models, such as MAX_TOKENS.
func countsTokens(upper string) bool {
	rest, ok := strings.CutSuffix(upper, "TOKENS")
	return ok && (strings.HasPrefix(rest, "MAX") || strings.HasPrefix(rest, "MIN") ||
		strings.HasPrefix(rest, "NUM")) &&
		!strings.Contains(rest, "KEY") && !strings.Contains(rest, "SECRET")
}

// words returns DB and PASS for both "DB_PASS" and "dbPass".
func words(name string) []string {
	var apart strings.Builder
	var last rune
	for _, r := range name {
		if r >= 'A' && r <= 'Z' && last >= 'a' && last <= 'z' {
			apart.WriteByte('_')
		}
		apart.WriteRune(r)
		last = r
	}
	return strings.FieldsFunc(strings.ToUpper(apart.String()), func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

// Value returns a variable's value without access tokens, users of URLs and secret parameters. It is for variables that
// Name does not mark as secret.
func Value(value string) string { return withoutTokens(withoutParameters(withoutUsers(value))) }

// withoutUsers hides the part before the host in URLs: "postgres://…@db/x".
func withoutUsers(s string) string {
	var out strings.Builder
	for {
		at := strings.Index(s, "//")
		if at < 0 {
			return out.String() + s
		}
		for at += 2; at < len(s) && s[at] == '/'; at++ {
		}
		out.WriteString(s[:at])
		s = s[at:]
		if n := userLength(s); n > 0 {
			out.WriteString(Hidden)
			s = s[n:]
		}
	}
}

// userLength returns the length of the user and password at the start of a URL without its scheme, or 0 if the URL has
// neither. Users write slashes in passwords, so any text after a colon counts as the password unless it is a port.
func userLength(s string) int {
	if end := strings.IndexAny(s, " \t\r\n"); end >= 0 {
		s = s[:end]
	}
	authority := s
	if end := strings.IndexAny(s, `/?#\`); end >= 0 {
		authority = s[:end]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		return at
	}
	_, port, colon := strings.Cut(authority, ":")
	if !colon || strings.HasPrefix(authority, "[") || port != "" &&
		strings.Trim(port, "0123456789") == "" {
		return 0
	}
	return max(0, strings.LastIndexByte(s, '@'))
}

// withoutParameters hides the values of secret parameters. A value ends only at an & or at the end of the text.
func withoutParameters(s string) string {
	var out strings.Builder
	for {
		at := strings.IndexAny(s, "=:")
		if at < 0 {
			return out.String() + s
		}
		name := strings.TrimRight(s[:at], " ")
		quoted := strings.HasSuffix(name, `"`) || strings.HasSuffix(name, `'`)
		assigns := s[at] == '=' || quoted || strings.HasPrefix(s[at+1:], " ")
		out.WriteString(s[:at+1])
		s = s[at+1:]
		if !assigns || !secretParameter(strings.TrimRight(name, `"'`)) {
			continue
		}
		end := strings.IndexByte(s, '&')
		if given := strings.TrimLeft(s, " "); end < 0 || strings.HasPrefix(given, `"`) ||
			strings.HasPrefix(given, "'") {
			end = len(s)
		}
		if end > 0 {
			out.WriteString(Hidden)
		}
		s = s[end:]
	}
}

// secretParameter reports whether text ends with the name of a secret parameter. It includes "pwd", although the
// variable PWD contains a path.
func secretParameter(text string) bool {
	name := text[strings.LastIndexAny(text, " \t\r\n?&;,{}()<>\"'/#")+1:]
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return Name(name) || strings.EqualFold(name, "pwd") || strings.EqualFold(name, "sig")
}
