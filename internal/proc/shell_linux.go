package proc

import (
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// AtPrompt reports whether a process is an interactive shell at its prompt. Such a shell ignores SIGINT and exits on
// SIGHUP.
func AtPrompt(pid int) bool {
	st, err := ReadStat(pid)
	if err != nil || st.Session != pid || st.Foreground != pid || st.Group != pid ||
		!Shell(pid) {
		return false
	}
	input, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
	return err == nil && (strings.HasPrefix(input, "/dev/pts/") ||
		strings.HasPrefix(input, "/dev/tty"))
}

// Shell reports whether a process is a known shell that reads commands from standard input.
func Shell(pid int) bool { return interactive(Args(pid)) }

func interactive(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch strings.TrimPrefix(path.Base(args[0]), "-") {
	case "sh", "ash", "bash", "dash", "fish", "ksh", "mksh", "tcsh", "csh", "zsh":
	default:
		return false
	}
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		word := rest[0]
		switch {
		case slices.Contains([]string{"-o", "+o", "-O", "+O", "--rcfile", "--init-file"}, word):
			if len(rest) > 1 {
				rest = rest[1:]
			}
		case strings.HasPrefix(word, "--"):
			if strings.HasPrefix(word, "--command") {
				return false
			}
		case len(word) < 2 || word[0] != '-' && word[0] != '+' || strings.Contains(word, "c"):
			return false // a script, or -c
		}
	}
	return true
}
