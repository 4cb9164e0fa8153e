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
		first    []city.Command // what has to succeed before each of them is tried, nil = nothing
	}
	// seek asks the city for beads and answers with one found.
	seek struct {
		id    int
		query beads.Query
	}
	// watch points the pane at an agent's session or at a run's output; without either at nothing. A session of
	// another id is another terminal.
	watch struct {
		agent, session string
		run            string // the id of its record
		running        bool
		focused        bool
		deep           bool // all that is kept of its output, not only the newest
	}
	// page hands the terminal over to a pager with a text.
	page struct{ text string }
	// save writes a text into a file that is not there yet.
	save struct {
		id         int // of the status line that waits for it
		path, text string
		lines      int
	}
	// attach hands the terminal over to an agent.
	attach struct{ agent string }
	// finish ends the control room.
	finish struct{ exit Exit }
	// clip gives a text to a clipboard: the terminal's, or the machine's by a program that was asked for. The latter
	// answers with a result.
	clip struct {
		id      int // of the status line that waits for it
		what    string
		text    string
		program bool
	}
	// redraw paints everything anew.
	redraw struct{}
)

func (perform) effect() {}
func (seek) effect()    {}
func (watch) effect()   {}
func (page) effect()    {}
func (save) effect()    {}
func (attach) effect()  {}
func (finish) effect()  {}
func (redraw) effect()  {}
func (clip) effect()    {}

// result is how a perform ended.
type result struct {
	id       int
	title    string
	total    int
	receipts []string // what the city said, in the order of the commands
	failures []string
	refused  []int // which of the commands failed
	letters  []letter
	quiet    bool // only a failure is news
}

// found is what a seek came to.
type found struct {
	id      int
	beads   []beads.Bead
	problem string // why there is no answer, "" = there is
}
