package session

import "strings"

// Executable is a program that can run without a shell. The zero value means that a shell is needed.
type Executable struct {
	Path string   // path to execute, relative to the session's folder
	Args []string // Args[0] is the program's name on the command line
}

// argv splits a command line as a POSIX shell does. ok is true only if the line is a simple command, without
// expansions, assignments, redirections or shell builtins.
func argv(line string) (args []string, ok bool) {
	line = strings.Trim(line, " \t\n")
	if program(line) == "" {
		return nil, false
	}
	for line != "" {
		word, rest, ok := cutWord(line)
		if !ok {
			return nil, false
		}
		args = append(args, word)
		line = strings.TrimLeft(rest, " \t")
	}
	if args[0] == "exec" {
		args = args[1:]
	}
	return args, true
}

func cutWord(line string) (word, rest string, ok bool) {
	var b strings.Builder
	for line != "" {
		c := line[0]
		line = line[1:]
		switch {
		case c == ' ' || c == '\t':
			return b.String(), line, true
		case c == '\'' || c == '"':
			text, after, found := strings.Cut(line, string(c))
			if !found || c == '"' && strings.ContainsAny(text, "$`\\") {
				return "", "", false
			}
			b.WriteString(text)
			line = after
		case c == '\\':
			if line == "" || line[0] <= ' ' || line[0] >= 0x7f {
				return "", "", false
			}
			b.WriteByte(line[0])
			line = line[1:]
		case isPlain(rune(c)) || c == '=':
			b.WriteByte(c)
		default:
			return "", "", false
		}
	}
	return b.String(), "", true
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("_-+./@%:,", r)
}
