package cli

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"

	"gcity/cli/exit"
	"gcity/cli/service"
)

//go:embed gc_words.txt
var gcWordsText string

func gasCityCommand(args []string) error {
	before, words := commandWords(args)
	if len(words) == 0 {
		return nil
	}
	if len(words) == 2 && slices.Contains([]string{"start", "stop", "restart", "status", "suspend",
		"resume", "reload", "doctor"}, words[0]) &&
		!strings.HasPrefix(words[1], "-") && service.IsFolder(words[1]) {
		return exit.Usage("in gcity the city's folder is set with --city: gcity --city %s %s",
			quoted(words[1]), words[0])
	}
	table := gcWords()
	for n := min(2, len(words)); n > 0; n-- {
		name := strings.Join(words[:n], " ")
		to, known := table[name]
		if !known || n == 1 && isCommand(name) {
			continue
		}
		if !strings.HasPrefix(to, "gcity") {
			return exit.Usage("gcity has no %q: %s", name, to)
		}
		return exit.Usage("%q is not a gcity command; run `%s`", name,
			commandLine(to, before, words[n:]))
	}
	return nil
}

func gcWords() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(gcWordsText) {
		words, to, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok && !strings.HasPrefix(line, "#") {
			out[words] = to
		}
	}
	return out
}

func commandWords(args []string) (before, words []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--city" && i+1 < len(args):
			i++
		case strings.HasPrefix(args[i], "--city="), args[i] == "--json", args[i] == "--read-only":
		case strings.HasPrefix(args[i], "-"):
			return nil, nil
		default:
			return args[:i], args[i:]
		}
	}
	return nil, nil
}

func commandLine(replacement string, before, rest []string) string {
	var more []string
	for _, arg := range rest {
		more = append(more, quoted(arg))
	}
	line, takes := strings.CutSuffix(replacement, " *")
	if takes && len(more) > 0 {
		line += " " + strings.Join(more, " ")
	}
	for _, flag := range slices.Backward(before) {
		line = strings.Replace(line, "gcity ", "gcity "+quoted(flag)+" ", 1)
	}
	return line
}

func isCommand(name string) bool {
	return slices.ContainsFunc(branches(), func(b branch) bool { return b.name == name })
}

func quoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func installedAs(program string) string {
	if filepath.Base(program) != "gc" {
		return ""
	}
	return `

This is gcity, installed as gc. For a command that has a different name in gcity, it
prints that name and does nothing else.`
}
