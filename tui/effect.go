package tui

import (
	"gcity/beads"
	"gcity/city"
	"gcity/events"
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

// travel leaves for another city's room, for that of all cities, or for that of the city that this program runs.
type travel struct {
	id         int
	name, path string // of the city; "" = all cities
	home       bool   // the city that the room was opened for
	agent      string // to be selected there, "" = whoever is
	leaving    bool   // to ask there how to leave
}

func (travel) effect() {}

type (
	// edit hands the terminal to an editor, with a draft or, nil, a new one of a place.
	edit struct {
		draft *draft
		at    fileLine
	}
	// enforce puts a draft into force, and answers with a result.
	enforce struct {
		id    int
		draft *draft
		data  []byte
	}
)

func (edit) effect()    {}
func (enforce) effect() {}

// edited is how an edit ended.
type edited struct {
	draft    *draft // nil = nothing is left of it
	data     []byte
	problems []string
	line     int
	plan     Plan
	err      error
}

// discard removes a draft's file.
type discard struct{ path string }

func (discard) effect() {}

// dig asks for events older than one and answers with one dug.
type dig struct {
	id     int
	before uint64
}

func (dig) effect() {}

// dug is what a dig came to.
type dug struct {
	id      int
	events  []events.Event // oldest first
	begins  bool           // there is none before them
	problem string         // why there is no answer, "" = there is
}

// steering is a command for a city of the list. It goes to the one that was looked at, or to none: another one may
// have got the name meanwhile.
type steering struct {
	name, path string
	command    city.Command
}

// steer carries an order out; enroll and dismiss change the list. Each answers with a result.
type (
	steer struct {
		id    int // of the status line that waits for it
		title string
		order steering
	}
	enroll struct {
		id   int
		path string
	}
	dismiss struct {
		id         int
		name, path string
	}
)

func (steer) effect()   {}
func (enroll) effect()  {}
func (dismiss) effect() {}

// inspect asks what is known of an agent beyond the snapshot, and answers with one inspected.
type inspect struct {
	id    int
	agent string
}

func (inspect) effect() {}

// inspected is what an inspect came to.
type inspected struct {
	id      int
	about   *city.Inspection
	problem string // why there is no answer, "" = there is
}

// remember writes down how the room stands.
type remember struct{ text []byte }

func (remember) effect() {}

// glance asks how bright the terminal is. Nobody waits for the answer: it may never come.
type glance struct{}

func (glance) effect() {}

// letter is a text that was sent to one agent.
type letter struct {
	agent string
	text  string // all of it: a city tells only the beginning
	send  city.Send
}
