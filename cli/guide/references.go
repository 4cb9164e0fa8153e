package guide

import (
	"regexp"
	"slices"
	"strings"
)

// references replaces the links in a text. If a link's words are the page's file name, the command that shows the page
// replaces them. Otherwise the words remain, and the command follows at the end of the clause.
type references struct {
	pattern *regexp.Regexp
	out     strings.Builder
	pending []string // the commands for the links in the current clause
	depth   int      // the number of parentheses that were opened since the first of these links
	code    bool     // inside backquotes
}

func (r *references) replace(text string) string {
	for text != "" {
		if text[0] == '[' && !r.code {
			if m := r.pattern.FindStringSubmatch(text); m != nil && strings.HasPrefix(text, m[0]) {
				r.link(m[1], m[2])
				text = text[len(m[0]):]
				continue
			}
		}
		r.character(text)
		r.out.WriteByte(text[0])
		text = text[1:]
	}
	r.flush(" (see ", ")")
	return r.out.String()
}

func (r *references) link(words, target string) {
	page, _, _ := strings.Cut(target, "#")
	name, isPage := strings.CutSuffix(page, ".md")
	_, known := Find(name)
	command := "`gcity help " + name + "`"
	switch {
	case isPage && known && words == page:
		r.out.WriteString(command)
		return
	case isPage && known && !slices.Contains(r.pending, command):
		r.pending = append(r.pending, command)
	case strings.HasPrefix(target, "http"):
		words += " (" + target + ")"
	}
	r.out.WriteString(words)
}

// character writes the pending commands if rest begins with the end of a clause.
func (r *references) character(rest string) {
	switch c := rest[0]; {
	case c == '`':
		r.code = !r.code
	case r.code || len(r.pending) == 0:
	case c == '(':
		r.depth++
	case c == ')' && r.depth > 0:
		r.depth--
	case c == ')':
		r.flush("; see ", "")
	case r.depth == 0 && strings.IndexByte(",;:.", c) >= 0 && (len(rest) == 1 || rest[1] == ' '):
		r.flush(" (see ", ")")
	}
}

func (r *references) flush(before, after string) {
	if len(r.pending) > 0 {
		r.out.WriteString(before + strings.Join(r.pending, " and ") + after)
	}
	r.pending, r.depth = nil, 0
}
