package tui

import (
	"gcity/beads"
	"gcity/city"
)

// effect is something the model wants done. The set is closed; the runner carries them out.
type effect interface{ effect() }

type (
	// perform carries commands out, several at a time, and answers with one result.
	perform struct {
		id       int // of the status line that waits for it
		title    string
		commands []city.Command
	}
	// seek asks the city for beads and answers with one found.
	seek struct {
		id    int
		query beads.Query
	}
	// watch points the pane at an agent's session; agent "" = at nothing. A session of another id is another terminal.
	watch struct {
		agent, session string
		running        bool
		focused        bool
	}
	// attach hands the terminal over to an agent.
	attach struct{ agent string }
	// finish ends the control room.
	finish struct{ exit Exit }
	// redraw paints everything anew.
	redraw struct{}
)

func (perform) effect() {}
func (seek) effect()    {}
func (watch) effect()   {}
func (attach) effect()  {}
func (finish) effect()  {}
func (redraw) effect()  {}

// result is how a perform ended.
type result struct {
	id       int
	title    string
	total    int
	receipts []string // what the city said, in the order of the commands
	failures []string
}

// found is what a seek came to.
type found struct {
	id      int
	beads   []beads.Bead
	problem string // why there is no answer, "" = there is
}
