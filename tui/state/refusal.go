package state

import (
	"cmp"
	"fmt"
	"strings"

	"gcity/city"
	"gcity/mail"
	"gcity/tui/keymap"
	"gcity/tui/panel"
)

// Refusal returns text that says why an action with the given title cannot run.
func Refusal(m *Room, title, why string) string {
	verb := keymap.Verb(title)
	for _, noun := range []string{"the agent or the pool", "the agent or pool"} {
		before, after, found := strings.Cut(verb, noun)
		if !found {
			continue
		}
		name := refused(m)
		verb = before + name + after
		for _, is := range []string{" is ", " has "} {
			if rest, ok := strings.CutPrefix(why, name+is); ok {
				why = "it" + is + rest
			}
		}
		break
	}
	return "cannot " + verb + ": " + why
}

func refused(m *Room) string {
	rows := Targets(m)
	switch {
	case ActsOnPools(m):
		return cmp.Or(m.ActionPanel().Called(), "the pool")
	case len(m.NamedAgents) == 0 && AgentVerbsUnavailable(m):
		return "the agent or the pool"
	case len(rows) == 0:
		return "the agent"
	}
	return TargetNames(m, rows)
}

// Unstored returns the reason why the pane shows no output for an agent.
func Unstored(r *panel.AgentRow) string {
	switch {
	case r.Running || r.State == city.Waiting || r.State == city.Starting:
		return "it has printed nothing yet"
	case r.HasOutput():
		return "its last session has printed nothing that can be shown"
	}
	return "it has no stored output, because gcity stores output only after a crash"
}

// CannotReply returns the reason why a message cannot be replied to, or "".
func CannotReply(m *Room, l *mail.Message) string {
	if !strings.HasPrefix(l.From, city.WatchdogSender) {
		return ""
	}
	return fmt.Sprintf("a watchdog reads no mail; press %s, then %s to acknowledge its call",
		m.Keys.KeyText("focus.watchdogs"), m.Keys.KeyText(ReleaseID))
}
