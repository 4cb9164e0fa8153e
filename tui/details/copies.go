package details

import (
	"fmt"
	"path/filepath"

	"gcity/internal/shell"
	"gcity/tui/panel"
)

// AgentCopies returns the values that can be copied from an agent.
func AgentCopies(s *Source, r *panel.AgentRow) []panel.Copied {
	all := []panel.Copied{{What: "name", Text: r.Name}}
	if r.PID > 0 {
		all = append(all, panel.Copied{What: "pid", Text: fmt.Sprint(r.PID)})
	}
	if r.Session != nil {
		all = append(all, panel.Copied{What: "session id", Text: r.Session.ID})
	}
	a := r.Agent
	all = append(all, panel.Copied{What: "attach command",
		Text: fmt.Sprintf("gcity agent attach %s --city %s", shell.Quote(r.Name),
			shell.Quote(s.Snap.Path))},
		panel.Copied{What: "folder", Text: a.Dir}, panel.Copied{What: "command", Text: a.Command},
		panel.Copied{What: "state and reason", Text: string(a.State) + ": " + a.Reason})
	if a.Exit != nil {
		all = append(all, panel.Copied{What: "last exit",
			Text: Exit(s, a.Exit)})
		if a.Exit.File != "" {
			all = append(all, panel.Copied{What: "file with its last output",
				Text: filepath.Join(s.Snap.Path, a.Exit.File)})
		}
	}
	return append(all, panel.Copied{What: "where it is declared", Text: a.Source})
}
