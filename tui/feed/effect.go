package feed

import (
	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// Effect is something the model wants done. The set is closed; the runner carries them out.
type Effect interface{ effect() }

type (
	// Perform carries commands out, several at a time, and answers with one result.
	Perform struct {
		ID       int // of the status line that waits for it
		Title    string
		Commands []city.Command
		First    []city.Command // what has to succeed before each of them is tried, nil = nothing
	}
	// QueryBeads asks the city for beads and answers with one found.
	QueryBeads struct {
		ID    int
		Query beads.Query
	}
	// Watch points the pane at an agent's session or at a run's output; without either at nothing. A session of
	// another id is another terminal.
	Watch struct {
		Agent, Session string
		Run            string // the id of its record
		Running        bool
		Focused        bool
		Deep           bool // all that is kept of its output, not only the newest
	}
	// ShowText hands the terminal over to a pager with a text.
	ShowText struct{ Text string }
	// Save writes a text into a file that is not there yet.
	Save struct {
		ID         int // of the status line that waits for it
		Path, Text string
		Lines      int
	}
	// Attach hands the terminal over to an agent.
	Attach struct{ Agent string }
	// Quit ends the control room.
	Quit struct{ Exit Exit }
	// Copy gives a text to a clipboard: the terminal's, or the machine's by a program that was asked for. The latter
	// answers with a result.
	Copy struct {
		ID      int // of the status line that waits for it
		What    string
		Text    string
		Program bool
	}
	// Redraw paints everything anew.
	Redraw struct{}
)

func (Perform) effect()    {}
func (QueryBeads) effect() {}
func (Watch) effect()      {}
func (ShowText) effect()   {}
func (Save) effect()       {}
func (Attach) effect()     {}
func (Quit) effect()       {}
func (Redraw) effect()     {}
func (Copy) effect()       {}

// Result is how a perform ended.
type Result struct {
	ID       int
	Title    string
	Total    int
	Receipts []string // what the city said, in the order of the commands
	Failures []string
	Refused  []int // which of the commands failed
	Letters  []Letter
	Quiet    bool // only a failure is news
}

// FoundBeads is what a seek came to.
type FoundBeads struct {
	ID      int
	Beads   []beads.Bead
	Problem string // why there is no answer, "" = there is
}

// SwitchCity leaves for another city's room, for that of all cities, or for that of the city that this program runs.
type SwitchCity struct {
	ID         int
	Name, Path string // of the city; "" = all cities
	Home       bool   // the city that the room was opened for
	Agent      string // to be selected there, "" = whoever is
	Leaving    bool   // to ask there how to leave
}

func (SwitchCity) effect() {}

type (
	// Edit hands the terminal to an editor, with a draft or, nil, a new one of a place.
	Edit struct {
		Draft *Draft
		At    FileLine
	}
	// ApplyDraft puts a draft into force, and answers with a result.
	ApplyDraft struct {
		ID    int
		Draft *Draft
		Data  []byte
	}
)

func (Edit) effect()       {}
func (ApplyDraft) effect() {}

// Edited is how an edit ended.
type Edited struct {
	Draft    *Draft // nil = nothing is left of it
	Data     []byte
	Problems []string
	Line     int
	Plan     Plan
	Err      error
}

// DiscardDraft removes a draft's file.
type DiscardDraft struct{ Path string }

func (DiscardDraft) effect() {}

// LoadHistory asks for events older than one and answers with one dug.
type LoadHistory struct {
	ID     int
	Before uint64
}

func (LoadHistory) effect() {}

// LoadedHistory is what a dig came to.
type LoadedHistory struct {
	ID      int
	Events  []events.Event // oldest first
	Begins  bool           // there is none before them
	Problem string         // why there is no answer, "" = there is
}

// CityOrder is a command for a city of the list. It goes to the one that was looked at, or to none: another one may
// have got the name meanwhile.
type CityOrder struct {
	Name, Path string
	Command    city.Command
}

// steer carries an order out; enroll and dismiss change the list. Each answers with a result.
type (
	CommandCity struct {
		ID    int // of the status line that waits for it
		Title string
		Order CityOrder
	}
	RegisterCity struct {
		ID   int
		Path string
	}
	UnregisterCity struct {
		ID         int
		Name, Path string
	}
)

func (CommandCity) effect()    {}
func (RegisterCity) effect()   {}
func (UnregisterCity) effect() {}

// Inspect asks what is known of an agent beyond the snapshot, and answers with one inspected.
type Inspect struct {
	ID    int
	Agent string
}

func (Inspect) effect() {}

// Inspected is what an inspect came to.
type Inspected struct {
	ID      int
	About   *city.Inspection
	Problem string // why there is no answer, "" = there is
}

// Remember writes down how the room stands.
type Remember struct{ Body []byte }

func (Remember) effect() {}

// AskBackground asks how bright the terminal is. Nobody waits for the answer: it may never come.
type AskBackground struct{}

func (AskBackground) effect() {}

// Letter is a text that was sent to one agent.
type Letter struct {
	Agent string
	Text  string // all of it: a city tells only the beginning
	Send  city.Send
}
