package main

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

type cellStyle struct{ fore, back, weight, line, reverse string }

func (i cellStyle) seen() bool { return i.back != "" || i.line != "" || i.reverse != "" }

// canonical removes escape sequences without a visible effect from a line, because they depend on the earlier screen.
func canonical(line string) string {
	var out strings.Builder
	var now, set cellStyle
	var state byte
	blanks := 0
	for line != "" {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		line, state = line[n:], next
		if width == 0 {
			if params, ok := strings.CutPrefix(seq, "\x1b["); ok && strings.HasSuffix(params, "m") {
				now.apply(strings.TrimSuffix(params, "m"))
			}
			continue
		}
		if seq == " " && !now.seen() {
			blanks++
			continue
		}
		if set.seen() && blanks > 0 {
			out.WriteString("\x1b[m")
			set = cellStyle{}
		}
		out.WriteString(strings.Repeat(" ", blanks))
		blanks = 0
		if now != set {
			out.WriteString(now.sequence())
			set = now
		}
		out.WriteString(seq)
	}
	return out.String()
}

func (i cellStyle) sequence() string {
	var all []string
	for _, p := range []string{i.weight, i.line, i.reverse, i.fore, i.back} {
		if p != "" {
			all = append(all, p)
		}
	}
	return "\x1b[" + strings.Join(append([]string{"0"}, all...), ";") + "m"
}

func (i *cellStyle) apply(params string) {
	codes := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		codes = []string{"0"}
	}
	for len(codes) > 0 {
		n := 1
		switch code := codes[0]; {
		case code == "38" || code == "48":
			n = 3
			if len(codes) > 1 && codes[1] == "2" {
				n = 5
			}
			n = min(n, len(codes))
			if code == "38" {
				i.fore = strings.Join(codes[:n], ";")
			} else {
				i.back = strings.Join(codes[:n], ";")
			}
		default:
			i.simple(code)
		}
		codes = codes[n:]
	}
}

func (i *cellStyle) simple(code string) {
	switch {
	case code == "0":
		*i = cellStyle{}
	case code == "1" || code == "2":
		i.weight = code
	case code == "22":
		i.weight = ""
	case code == "4":
		i.line = code
	case code == "24":
		i.line = ""
	case code == "7":
		i.reverse = code
	case code == "27":
		i.reverse = ""
	case code == "39":
		i.fore = ""
	case code == "49":
		i.back = ""
	case code[0] == '3' || code[0] == '9':
		i.fore = code
	case code[0] == '4' || strings.HasPrefix(code, "10"):
		i.back = code
	}
}
