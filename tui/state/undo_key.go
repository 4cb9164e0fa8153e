package state

import (
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// undoKeyPause is how long the key that undoes or releases does nothing after its effect has changed by itself,
// because the user might have read the previous effect.
const undoKeyPause = 1500 * time.Millisecond

// UndoKey is the effect of the key that undoes or releases.
type UndoKey struct {
	Effect string // "releases scout"; "" = it does nothing
	// when this effect replaced another one without user input; zero = it did not, or the user has been notified
	Changed time.Time
}

// WatchUndoKey records the current effect of the key that undoes or releases. byUser says whether the user might have
// changed it.
func WatchUndoKey(m *Room, byUser bool) {
	effect := undoKeyEffect(m)
	if k := &m.UndoKey; effect != k.Effect {
		before := k.Effect
		*k = UndoKey{Effect: effect}
		if !byUser && before != "" && effect != "" {
			k.Changed = m.Now
		}
	}
}

func undoKeyEffect(m *Room) string {
	switch {
	case m.Snap == nil || NeedWritable(m) != "":
		return ""
	case AcknowledgeableWatchdog(m) != nil:
		return "acknowledges the call"
	case Undoable(m):
		return "undoes " + strings.TrimPrefix(UndoText(m), "undo ")
	case AgentVerbsUnavailable(m) || len(Releasable(m)) == 0:
		return ""
	}
	return "releases " + TargetNames(m, Releasable(m))
}

// HoldsUndoKey reports whether to ignore the key that undoes or releases, because its effect has just changed by
// itself. If so, it shows the new effect.
func HoldsUndoKey(m *Room) bool {
	k := &m.UndoKey
	if k.Changed.IsZero() || m.Now.Sub(k.Changed) >= undoKeyPause || len(m.NamedAgents) > 0 {
		return false
	}
	k.Changed = time.Time{}
	ShowNote(m, m.Keys.KeyText(ReleaseID)+" now "+k.Effect+"; press it again")
	return true
}

// UndoExpired reports whether the time limit of the latest undo is over.
func UndoExpired(m *Room) bool { return m.Undo.ID != 0 && !m.Now.Before(m.Undo.Until) }

func expiredText(m *Room, u *Undo) string {
	text := "the undo of " + widget.Plain(u.What) + " has expired"
	if len(u.Commands) == 0 || m.Snap == nil {
		return text
	}
	row := "on its row"
	if len(u.Commands) > 1 {
		row = "on the rows"
	}
	c := u.Commands[0]
	if _, changes, _ := undoTarget(m.Snap, c); !changes {
		return text
	}
	switch c.(type) {
	case city.Resume:
		text += "; " + m.Keys.KeyText(SuspendID) + " " + row + " resumes"
	case city.ResumeRig:
		text += "; " + m.Keys.KeyText("rig.toggle") + " " + row + " resumes"
	case city.Undrain:
		text += "; " + m.Keys.KeyText(DrainID) + " " + row + " cancels the drain"
	}
	return text
}
