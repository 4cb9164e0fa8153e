package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/internal/redact"
)

func checkPrograms(_ context.Context, p *Subject) finding {
	return judgePrograms(folder.Plan(p.config, p.dir))
}

func judgePrograms(wants []agent.Want) finding {
	var lines []string
	guessed := false
	names := map[string][]string{}
	for _, w := range wants {
		if w.Program == "" || len(w.MissingPrograms.Programs) > 0 {
			continue
		}
		line := fmt.Sprintf("%s, run by `%s`", w.Program,
			output.SafeLine(redact.Text(w.Spec.Command)))
		if w.Found {
			line, guessed = line+", the first program found, because the configuration names "+
				"no provider", true
		}
		if names[line] == nil {
			lines = append(lines, line)
		}
		if !slices.Contains(names[line], w.Declared) {
			names[line] = append(names[line], w.Declared)
		}
	}
	for i, line := range lines {
		lines[i] = strings.Join(names[line], ", ") + ": " + line
	}
	switch text := strings.Join(lines, "\n"); {
	case len(lines) == 0:
		return ok("no agent uses a provider")
	case guessed:
		return note(
			`add provider = "…" to [workspace] or the agent: on a different machine, or with `+
				"a different PATH, a different program may be found first", "%s", text)
	default:
		return ok("%s", text)
	}
}

func checkOptions(_ context.Context, p *Subject) finding {
	return judgeOptions(folder.Plan(p.config, p.dir))
}

// judgeOptions reports commands that lack options of their program's preset.
func judgeOptions(wants []agent.Want) finding {
	var lines []string
	for _, w := range wants {
		preset := config.PresetOf(withoutAssignments(w.Spec.Command))
		if preset == nil {
			continue
		}
		given := strings.Fields(strings.NewReplacer("'", "", `"`, "").Replace(w.Spec.Command))
		lacks := slices.DeleteFunc(optionsOf(preset), func(option string) bool {
			words := strings.Fields(option)
			return slices.Contains(given, words[len(words)-1])
		})
		line := fmt.Sprintf("%s: its command lacks %s", w.Declared, strings.Join(lacks, " "))
		if len(lacks) > 0 && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return perLine(note, lines, "add the options to the agent's command; the last section of "+
		"`gcity help agents` says why", "no command lacks an option of its program")
}

// optionsOf returns the options in a preset's command, each with its value.
func optionsOf(p *config.Preset) (options []string) {
	for _, word := range strings.Fields(p.Command)[1:] {
		if strings.HasPrefix(word, "-") || len(options) == 0 {
			options = append(options, word)
		} else {
			options[len(options)-1] += " " + word
		}
	}
	return options
}

// withoutAssignments removes the assignments at the beginning of a command line, up to the first one that is quoted.
func withoutAssignments(line string) string {
	for {
		word, rest, more := strings.Cut(strings.TrimSpace(line), " ")
		name, _, assigns := strings.Cut(word, "=")
		if !more || !assigns || strings.ContainsAny(word, "'\"\\`$&|") ||
			strings.ContainsAny(name, "-/.") {
			return line
		}
		line = rest
	}
}
