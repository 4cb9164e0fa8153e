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

func checkPrograms(_ context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgePrograms(folder.Plan(p.config, p.dir))
}

// judgePrograms says which agents are which program, and which of them are so only because it was found first. What is
// missing altogether is said of the agents.
func judgePrograms(wants []agent.Want) finding {
	var lines []string
	guessed := false
	names := map[string][]string{}
	for _, w := range wants {
		if w.Program == "" || len(w.Lack.Programs) > 0 {
			continue
		}
		line := fmt.Sprintf("%s, by `%s`", w.Program, output.SafeLine(redact.Text(w.Spec.Command)))
		if w.Found {
			line, guessed = line+", the first that is found and named by nobody", true
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
		return ok("no agent is started by a provider")
	case guessed:
		return note("write provider = \"…\" into [workspace] or the agent: another machine, or "+
			"another PATH, finds another one first", "%s", text)
	default:
		return ok("%s", text)
	}
}
