package details

import (
	"fmt"
	"path/filepath"

	"gcity/internal/shell"
	"gcity/tui/panel"
)

// AgentCopies returns the values that can be copied from an agent.
func AgentCopies(s *Source, r *panel.AgentRow) (all []panel.Copied) {
	add := func(what, text string) { all = append(all, panel.Copied{What: what, Text: text}) }
	add("name", r.Name)
	if r.PID > 0 {
		add("pid", fmt.Sprint(r.PID))
	}
	if r.Session != nil {
		add("session id", r.Session.ID)
	}
	add("attach command", fmt.Sprintf("gcity agent attach %s --city %s", shell.Quote(r.Name),
		shell.Quote(s.Snap.Path)))
	add("folder", r.Dir)
	add("command", r.Command)
	add("state and reason", string(r.Agent.State)+": "+r.Reason)
	if r.Exit != nil {
		add("last exit", Exit(s, r.Exit))
	}
	if r.Exit != nil && r.Exit.File != "" {
		add("file with its last output", filepath.Join(s.Snap.Path, r.Exit.File))
	}
	add("where it is declared", r.Source)
	return all
}
