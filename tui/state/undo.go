package state

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// UndoDuration is how long undo is possible.
const UndoDuration = 30 * time.Second

// Undo describes how to undo the latest action that can be undone. The zero value undoes nothing.
type Undo struct {
	ID       int
	What     string // "suspending worker-2"
	Commands []city.Command
	Restore  func(m *Room) // undoes changes that exist only in this room
	Then     func(m *Room) // called when the commands are sent; nil = not called
	Until    time.Time
	sessions map[string]string // session IDs of the agents that the action drains, by name
	seen     map[string]bool   // names of the targets for which a snapshot has shown the change
	drained  []string          // agents that earlier actions drained; undo does not affect them
	refusal  string            // why the latest action cannot be undone; "" = unknown
	memo     undoMemo
}

// undoMemo keeps the result of Undo.Possible, because each frame needs it several times.
type undoMemo struct {
	snap     *city.Snapshot
	now      time.Time
	possible []city.Command
	why      string
}

func reversal(m *Room, commands []city.Command) []city.Command {
	back := make([]city.Command, len(commands))
	for i, c := range commands {
		if back[i] = Reverse(m, c); back[i] == nil {
			return nil
		}
	}
	return back
}

// Reverse returns the command that would undo c, or nil if c cannot be undone. An undo never stops agents, because it
// does not ask for confirmation.
func Reverse(m *Room, c city.Command) city.Command {
	switch c := c.(type) {
	case city.Suspend:
		return city.Resume(c)
	case city.SuspendRig:
		return city.ResumeRig(c)
	case city.Drain:
		return city.Undrain{Agent: c.Agent}
	case city.Scale:
		p := m.Pools.Find(c.Pool)
		switch {
		case p == nil:
			return nil
		case isScaling(m, p):
			return city.Scale{Pool: c.Pool, Size: m.Scaled.Size}
		case p.Override != nil:
			return city.Scale{Pool: c.Pool, Size: *p.Override}
		}
		return city.Scale{Pool: c.Pool, Auto: true}
	}
	return nil
}

func offerUndo(m *Room, what string, commands []city.Command) {
	drained := m.Undo.drainedBefore(commands)
	back := reversal(m, commands)
	if len(back) == 0 {
		refuseUndo(m, what)
		m.Undo.drained = drained
		return
	}
	m.Undo = Undo{ID: m.Status.ID, What: what, Commands: back, Until: m.Now.Add(UndoDuration),
		drained:  drained,
		sessions: map[string]string{}, seen: map[string]bool{}}
	for _, c := range m.Undo.Commands {
		if _, ok := c.(city.Undrain); ok {
			m.Undo.sessions[c.Target()] = sessionOf(m.Agents.Find(c.Target()))
		}
	}
}

// refuseUndo makes undo unavailable after an action that cannot be undone.
func refuseUndo(m *Room, what string) {
	m.Undo = Undo{What: what, refusal: widget.Plain(what) + " has no undo",
		drained: m.Undo.drainedBefore(nil)}
}

func sessionOf(r *panel.AgentRow) string {
	if r == nil || r.Session == nil || !r.Running {
		return ""
	}
	return r.Session.ID
}

// RenewUndo restarts the time limit for undo after an action has ended.
func RenewUndo(m *Room, r *feed.Result) {
	u := &m.Undo
	if u.ID != r.ID || len(u.Commands) == 0 {
		return
	}
	if len(r.Failures) == r.Total {
		m.Undo = Undo{refusal: "the latest action failed", drained: u.drained}
		return
	}
	kept := make([]city.Command, 0, len(u.Commands))
	for i, c := range u.Commands {
		if !slices.Contains(r.FailedIndexes, i) {
			kept = append(kept, c)
		}
	}
	u.Commands, u.Until, u.memo = kept, m.Now.Add(UndoDuration), undoMemo{}
}

// Possible returns the undo commands that would still have an effect, and a reason if others would not.
func (u *Undo) Possible(m *Room) (all []city.Command, why string) {
	if len(u.Commands) == 0 {
		return nil, ""
	}
	if u.memo.snap == m.Snap && u.memo.now.Equal(m.Now) {
		return u.memo.possible, u.memo.why
	}
	for _, c := range u.Commands {
		if over := u.whyOver(m, c); over != "" {
			why = over
			continue
		}
		all = append(all, c)
	}
	u.memo = undoMemo{snap: m.Snap, now: m.Now, possible: all, why: why}
	return all, why
}

// CanUndo reports whether a verb can still be undone.
func CanUndo(m *Room) bool {
	if m.Mode == ReadOnly || !m.Now.Before(m.Undo.Until) {
		return false
	}
	possible, _ := m.Undo.Possible(m)
	return m.Undo.Restore != nil || len(possible) > 0
}

// NeedUndo returns the reason why no verb can be undone, or "".
func NeedUndo(m *Room) string {
	switch {
	case NeedWritable(m) != "":
		return NeedWritable(m)
	case CanUndo(m):
		return ""
	case m.Actions == 0:
		return "no action to undo yet"
	case UndoOver(m) != "":
		return UndoOver(m)
	case UndoExpired(m):
		return expiredText(m, &m.Undo)
	}
	return cmp.Or(m.Undo.refusal, "the latest action cannot be undone") + HowToCancelDrain(m)
}

// RunUndo undoes the latest verb. An undo cannot be undone.
func RunUndo(m *Room) []feed.Effect {
	u := m.Undo
	m.Undo = Undo{}
	if u.Restore != nil {
		u.Restore(m)
		return nil
	}
	m.Scaled = Scaling{}
	possible, _ := u.Possible(m)
	todo := SendCommands(m, "undoing:", u.What, possible)
	if u.Then != nil {
		u.Then(m)
	}
	m.Undo = Undo{refusal: "the latest action was an undo", drained: u.drained}
	return todo
}

// Undoable reports whether the release key would undo the latest verb.
func Undoable(m *Room) bool {
	acknowledges := len(m.NamedAgents) == 0 && AcknowledgeableWatchdog(m) != nil
	if !CanUndo(m) || acknowledges {
		return false
	}
	if a := m.Focused().About(); a.Kind != panel.KindAgent && a.NoAgent == "" {
		return true
	}
	held := Releasable(m)
	return len(held) == 0 || m.Focus != panel.IDQuarantine && m.Undo.About(held)
}

// About reports whether the verb to undo acted on all given agents.
func (u *Undo) About(rows []*panel.AgentRow) bool {
	return !slices.ContainsFunc(rows, func(r *panel.AgentRow) bool {
		return !slices.ContainsFunc(u.Commands, func(c city.Command) bool {
			return c.Target() == r.Name
		})
	})
}

// UndoText returns text that names what undo does: "undo suspending builder".
func UndoText(m *Room) string {
	what := widget.Cut(widget.Plain(m.Undo.What), 24, m.Look.Glyphs.More)
	return strings.TrimSpace("undo " + what)
}

// UndoLine returns the palette line that undoes the latest verb, or "" if the release key does.
func UndoLine(m *Room) string {
	k := m.Keys.MainKey("view.palette")
	if k == "" || !CanUndo(m) || Undoable(m) {
		return ""
	}
	if widget.Width(k) > 1 {
		k += " "
	}
	return k + "undo"
}

// UndoHint returns text for the status line that says how long the latest verb can still be undone, or "".
func UndoHint(m *Room) string {
	if m.Status.ID == 0 || m.Undo.ID != m.Status.ID {
		return ""
	}
	k := m.Keys.MainKey(ReleaseID)
	if line := UndoLine(m); line != "" {
		k = line
	} else if k == "" || !Undoable(m) {
		return ""
	}
	if m.ReducedMotion {
		return "  " + k + " undoes"
	}
	return "  " + k + " undoes for " + widget.Until(m.Undo.end(m), m.Now)
}
