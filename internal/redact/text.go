package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Text returns a command line, a message or a log line without the secrets in it. It hides:
//
//   - the values of options, variables, parameters and headers with a name that Name recognizes:
//     --api-key X, --token=X, API_KEY=X, "Authorization: Bearer X", {"password": "X"}
//   - the word after "Bearer", and the password after -u or --user
//   - the user and password of URLs, and access tokens of known forms
//
// A value ends where a shell would end the word.
func Text(s string) string {
	s = withoutTokens(withoutUsers(s))
	var r reader
	r.text(s)
	return r.out.String()
}

// Args is like Text for a list of arguments. Each argument is one word.
func Args(args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, 0, len(args))
	var r reader
	for _, arg := range args {
		r.out.Reset()
		if r.next != nothing {
			r.word(withoutTokens(withoutUsers(arg)))
			out = append(out, r.out.String())
			continue
		}
		if r.word(withoutTokens(withoutUsers(arg))); r.next != nothing &&
			!strings.ContainsAny(arg, " \t\n") {
			out = append(out, r.out.String()) // the secret is the next argument
			continue
		}
		r.next = nothing
		out = append(out, Text(arg))
	}
	return out
}

type following uint8

const (
	nothing  following = iota
	argument           // the value of an option, or another option
	value              // the value after "name:", "name =" or "Bearer"
	login              // the value of -u or --user: USER:PASSWORD
)

type reader struct {
	out  strings.Builder
	next following
	last string
}

func (r *reader) text(s string) {
	for s != "" {
		space := spaceLength(s)
		r.out.WriteString(s[:space])
		s = s[space:]
		n := wordLength(s)
		if n > 0 {
			r.word(s[:n])
		}
		s = s[n:]
	}
}

func spaceLength(s string) int {
	n := 0
	for n < len(s) {
		switch {
		case strings.IndexByte(" \t\r\n", s[n]) >= 0:
			n++
		case strings.HasPrefix(s[n:], "\\\n"):
			n += 2
		default:
			return n
		}
	}
	return n
}

func wordLength(s string) int {
	n := 0
	for n < len(s) {
		switch c := s[n]; {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			return n
		case c == '\\' && n+1 < len(s):
			if s[n+1] == '\n' {
				return n
			}
			n += 2
		case c == '"' || c == '\'':
			n += quoteLength(s[n:])
		default:
			n++
		}
	}
	return len(s)
}

// quoteLength returns the length of the quoted text at the start of s, including its quotes. If the closing quote is
// missing, it returns 1.
func quoteLength(s string) int {
	for n := 1; n < len(s); n++ {
		switch {
		case s[n] == '\\' && s[0] == '"':
			n++
		case s[n] == s[0]:
			return n + 1
		}
	}
	return 1
}

// schemes lists the words that can precede the secret in the value of an Authorization header.
var schemes = []string{"bearer", "basic", "token", "digest", "negotiate", "apikey"}

func (r *reader) word(w string) {
	next, last := r.next, r.last
	r.next, r.last = nothing, w
	bare := strings.ToLower(strings.Trim(w, `"'\,;[](){}`))
	switch {
	case next == argument && isOption(w):
	case next == argument || next == value && !slices.Contains(schemes, bare) && bare != "=" &&
		bare != ":":
		r.hide(w)
		return
	case next == value:
		r.out.WriteString(w)
		r.next = value
		return
	case next == login:
		r.login(w)
		return
	}
	switch {
	case bare == "bearer":
		r.next = value
	case bare == "-u" || bare == "--user" || bare == "--proxy-user":
		r.next = login
	case strings.HasPrefix(bare, "-") && !strings.ContainsAny(w, "=:") &&
		secretName(strings.TrimLeft(bare, "-")):
		r.next = argument
	case (w == "=" || w == ":") && secretName(strings.Trim(last, `"'\`)):
		r.next = value
	case (strings.HasSuffix(bare, ":") || strings.HasSuffix(bare, "=")) &&
		secretName(strings.TrimRight(bare[:len(bare)-1], `"'\`)) && !isProse(w) && !isPath(bare):
		r.next = value
	default:
		r.within(w)
		return
	}
	r.out.WriteString(w)
}

func isOption(w string) bool {
	return strings.HasPrefix(w, "--") && len(w) > 2 || len(w) == 2 && w[0] == '-' && w[1] != '-'
}

func (r *reader) hide(w string) {
	if q := w[0]; (q == '"' || q == '\'') && len(w) > 1 && w[len(w)-1] == q {
		r.out.WriteString(string(q) + Hidden + string(q))
		return
	}
	r.out.WriteString(Hidden)
}

func (r *reader) login(w string) {
	user, password, has := strings.Cut(w, ":")
	// two numbers are a user ID and a group ID, not a login
	if !has || strings.Trim(user+password, "0123456789") == "" {
		r.within(w)
		return
	}
	r.out.WriteString(user + ":" + Hidden)
}

func (r *reader) within(w string) {
	for i := 0; i < len(w); i++ {
		switch c := w[i]; c {
		case '\\':
			i++
		case '"', '\'':
			n := quoteLength(w[i:])
			if n == 1 {
				continue
			}
			r.quoted(w, i, n)
			return
		case '=', ':':
			if !followsName(w, i) {
				continue
			}
			r.out.WriteString(w[:i+1])
			rest := w[i+1:]
			end := strings.IndexByte(rest, '&')
			if end < 0 || strings.ContainsAny(rest[:end], `"'\`) {
				end = len(rest)
			}
			if end > 0 {
				r.out.WriteString(Hidden)
			}
			r.within(rest[end:])
			return
		}
	}
	r.out.WriteString(w)
}

// quoted handles the n bytes of quoted text at w[i], as in {"name":"value"} and name="value".
func (r *reader) quoted(w string, i, n int) {
	inner, rest := w[i+1:i+n-1], w[i+n:]
	r.out.WriteString(w[:i+1])
	if (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, "=")) &&
		secretName(strings.Trim(inner, `"'\`)) {
		r.out.WriteString(inner + w[i+n-1:i+n+1] + Hidden)
		if end := valueLength(rest[1:]); end < len(rest[1:]) {
			r.within(rest[1+end:])
		}
		return
	}
	var in reader
	in.text(inner)
	r.out.WriteString(in.out.String() + w[i+n-1:i+n])
	r.within(rest)
}

func valueLength(s string) int {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if n := quoteLength(s); n > 1 {
			return n
		}
		return len(s)
	}
	if end := strings.IndexAny(s, ",}"); end >= 0 {
		return end
	}
	return len(s)
}

// followsName reports whether w[i], a "=" or ":", follows the name of a secret. It rejects a slash before ":", because
// lists of paths also contain colons.
func followsName(w string, i int) bool {
	name := strings.TrimRight(w[:i], `"'\`)
	if w[i] == ':' && strings.Contains(name, "/") {
		return false
	}
	return secretName(name)
}

// isProse reports whether a word with ":" may be prose, as in "cannot press keys: it is away".
func isProse(w string) bool {
	name, colon := strings.CutSuffix(w, ":")
	return colon && slices.Contains([]string{"key", "keys", "tokens", "secrets", "credentials",
		"cookies", "private", "pin", "auth", "webhook", "webhooks", "signature"}, name)
}

// isPath reports whether a word is a URL or an absolute path, as in "cannot read https://h/auth.git: no route".
func isPath(word string) bool {
	return strings.HasPrefix(word, "/") || strings.Contains(word, "://")
}

// secretName rejects parameters for files, such as --token-file.
func secretName(text string) bool {
	upper := strings.ToUpper(text)
	for _, end := range []string{"_FILE", "-FILE", "_PATH", "-PATH", "_DIR", "-DIR"} {
		if strings.HasSuffix(upper, end) {
			return false
		}
	}
	return secretParameter(text)
}

var tokenPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|` +
			`github_pat_[A-Za-z0-9_]{16,}|glpat-[A-Za-z0-9_-]{16,}|` +
			`xox[a-z]-[A-Za-z0-9-]{10,}|A[KS]IA[0-9A-Z]{16}|` +
			`AIza[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{30,}|` +
			`eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)|` +
			`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`)
})

func withoutTokens(s string) string {
	if len(s) < 16 {
		return s
	}
	return tokenPattern().ReplaceAllLiteralString(s, Hidden)
}
