package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/cli/folder"
	"gcity/cli/output"
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
