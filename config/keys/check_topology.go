package keys

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"gcity/topology"
)

// compatibleWith is the supported version of Gas City.
const compatibleWith = "0.13.0"

func checkSource(v any) string {
	s := v.(string)
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty; use a URL or folder that git can clone"
	case strings.HasPrefix(s, "-"):
		return fmt.Sprintf("%q starts with \"-\", which git would interpret as an option", s)
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "contains a control character; use a URL or folder that git can clone"
	}
	if why := topology.RejectReason(s); why != "" {
		return why
	}
	return checkPath(v)
}

func checkRef(v any) string {
	s := v.(string)
	switch {
	case s == "":
		return "is empty; set a branch, tag or commit, or remove the key"
	case strings.HasPrefix(s, "-"):
		return fmt.Sprintf("%q starts with \"-\", which git would interpret as an option", s)
	case strings.ContainsAny(s, " ~^:?*[\\\x7f") || strings.Contains(s, "..") ||
		strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }):
		return fmt.Sprintf("%q is not a branch, tag or commit", s)
	}
	return ""
}

func checkInside(v any) string {
	if p := v.(string); p != "" && !filepath.IsLocal(p) {
		return fmt.Sprintf("%q is outside the repository; use a folder inside it", p)
	}
	return checkPath(v)
}

func checkSchema(v any) string {
	if n := v.(int); n != 1 {
		return fmt.Sprintf("is %d; this version supports schema 1", n)
	}
	return ""
}

func checkRequires(v any) string {
	text := v.(string)
	for part := range strings.SplitSeq(text, ",") {
		op, number := comparison(strings.TrimSpace(part))
		wanted, ok := version(number)
		if !ok {
			return fmt.Sprintf("%q is not a version requirement; use a form such as \">=0.13\"",
				text)
		}
		mine, _ := version(compatibleWith)
		d := 0
		for i := range mine {
			if d = cmp.Compare(mine[i], wanted[i]); d != 0 {
				break
			}
		}
		holds := map[string]bool{">=": d >= 0, ">": d > 0, "=": d == 0, "<": d < 0, "<=": d <= 0,
			"!=": d != 0,
			"^":  d >= 0 && mine[0] == wanted[0] && (mine[0] > 0 || mine[1] == wanted[1]),
			"~":  d >= 0 && mine[0] == wanted[0] && mine[1] == wanted[1]}[op]
		if !holds {
			return fmt.Sprintf("is %q, but this program is compatible with Gas City %s; use a "+
				"different version of the topology or of gcity", text, compatibleWith)
		}
	}
	return ""
}

func comparison(part string) (op, number string) {
	for _, op := range []string{">=", "<=", "!=", "==", ">", "<", "=", "^", "~"} {
		if rest, ok := strings.CutPrefix(part, op); ok {
			if op == "==" {
				op = "="
			}
			return op, strings.TrimSpace(rest)
		}
	}
	return ">=", part
}

func version(text string) (v [3]int, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	text, _, _ = strings.Cut(text, "-")
	parts := strings.Split(text, ".")
	if len(parts) > 3 {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 31)
		if err != nil {
			return v, false
		}
		v[i] = int(n)
	}
	return v, true
}
