package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// FindProgram returns the program that the session's command runs on this machine, or an ErrMissing. The result is zero
// if the command needs a shell, or if its program cannot be used but the shell might continue with another command.
func (s *Spec) FindProgram() (Executable, error) {
	found, err := s.find(commandLine{s.Command, "the agent's program", "the start_command"})
	if err != nil || found == "" {
		return Executable{}, err
	}
	args, ok := argv(s.Command)
	if !ok {
		return Executable{}, nil
	}
	return Executable{Path: found, Args: args}, nil
}

// CheckPreStart returns an ErrMissing if the first line of PreStart needs a program that this machine cannot run. It
// does not check later lines, because the first line might install their programs.
func (s *Spec) CheckPreStart() error {
	if len(s.PreStart) == 0 {
		return nil
	}
	_, err := s.find(commandLine{s.PreStart[0], "the pre_start program", "the pre_start"})
	return err
}

type commandLine struct{ text, program, key string }

// find returns the path of the line's first program, or "" if a shell decides which program runs.
func (s *Spec) find(l commandLine) (string, error) {
	word := program(l.text)
	if word == "" {
		return "", nil
	}
	path := ""
	for _, kv := range s.Env {
		name, value, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "BASH_FUNC_") {
			return "", nil
		}
		if name == "PATH" {
			path = value
		}
	}
	found, err := s.lookUp(word, path, l)
	if err != nil && hasOtherCommands(l.text) {
		return "", nil
	}
	return found, err
}

// lookUp returns the path of the program word, or an ErrMissing. If word has no slash and PATH is empty, it returns "",
// because shells then search their own default path.
func (s *Spec) lookUp(word, path string, l commandLine) (string, error) {
	if strings.ContainsRune(word, '/') {
		return word, l.unusable(word, s.runnable(word))
	}
	found := fs.ErrNotExist
	for _, dir := range filepath.SplitList(path) {
		file := word
		if dir != "" {
			file = dir + "/" + word
		}
		err := s.runnable(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			found = err
		}
	}
	if path == "" {
		return "", nil
	}
	if errors.Is(found, fs.ErrNotExist) {
		return "", Missing(fmt.Errorf("%s %q is not on the agent's PATH; install it, or correct %s",
			l.program, word, l.key))
	}
	return "", l.unusable(word, found)
}

func (l commandLine) unusable(word string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return Missing(fmt.Errorf("program %s not found; install it, or correct %s", word, l.key))
	}
	return Missing(fmt.Errorf("cannot execute %s %s (%w); make it executable, or correct %s",
		l.program, word, err, l.key))
}

func (s *Spec) runnable(path string) error {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR)):
		return fs.ErrNotExist
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("the path is a folder")
	}
	return unix.Access(path, unix.X_OK)
}

const longestWord = 4095

// program returns the first program that a shell would run for a line, or "" if that is uncertain.
func program(line string) string {
	words := strings.Fields(line)
	if len(words) > 1 && words[0] == "exec" {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	word, ended := words[0], false
	if at := strings.IndexAny(word, ";&|<>"); at > 0 {
		word, ended = word[:at], true
	}
	defines := !ended && len(words) > 1 && strings.HasPrefix(words[1], "(")
	number := strings.Trim(word, "0123456789") == ""
	if len(word) > longestWord || word[0] == '-' || number || defines ||
		strings.ContainsFunc(word, func(r rune) bool {
			return !isPlain(r)
		}) || IsShellWord(word) {
		return ""
	}
	return word
}

// hasOtherCommands reports whether a shell line might succeed although its first program is missing. Only && stops the
// line after a failure. An operator in a comment or a substitution also counts.
func hasOtherCommands(line string) bool {
	line = strings.TrimSpace(line)
	for i, quote := 0, byte(0); i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case strings.HasPrefix(line[i:], "&&"), strings.HasPrefix(line[i:], ">|"),
			strings.HasPrefix(line[i:], ">&"), strings.HasPrefix(line[i:], "<&"):
			i++
		case strings.IndexByte(";&|\n", c) >= 0:
			return true
		}
	}
	return false
}

// IsShellWord reports whether a shell does not search PATH for a word.
func IsShellWord(word string) bool { return slices.Contains(shellWords(), word) }

func shellWords() []string {
	return strings.Fields(
		`. : [ alias bg bind break builtin caller case cd chdir command compgen complete
		compopt continue coproc declare dirs
		disown do done elif else enable esac eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill
		let local logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test then
		time times trap true type typeset ulimit umask unalias unset until wait while echo`)
}
