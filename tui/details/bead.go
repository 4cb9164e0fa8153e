package details

import (
	"slices"
	"strings"

	"gcity/tui/panel"
	"gcity/tui/widget"
)

// ClosingNotes returns what a user should know before closing a bead: whether it is blocked, and what it blocks.
func ClosingNotes(all *panel.Work, r *panel.WorkRow) (notes []string) {
	if r.State == panel.WorkBlocked {
		notes = append(notes, "It is blocked: it is waiting for other work or for a gate.")
	}
	var waiting []string
	for other := range all.All() {
		if slices.Contains(other.Bead.Needs, r.Bead.ID) && other.State != panel.WorkClosed {
			waiting = append(waiting, widget.Plain(other.Bead.ID))
		}
	}
	if len(waiting) > 0 {
		notes = append(notes, "Waiting for it: "+strings.Join(waiting, ", ")+".")
	}
	return notes
}
