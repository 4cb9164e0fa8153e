package feed

import (
	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

// Effect is something that the model wants done. The set is closed; the runner carries effects out.
type Effect interface{ effect() }

type (
	// Perform sends commands, several at a time, and answers with one Result.
	Perform struct {
		ID       int // of the status line that waits for it
		Title    string
		Commands []city.Command
		First    []city.Command // what has to succeed before each command is tried, nil = nothing
	}
	// QueryBeads asks the city for beads and answers with FoundBeads.
	QueryBeads struct {
		ID    int
		Query beads.Query
		Loose bool // leave out steps of work that is assigned
	}
	// Watch points the pane at an agent's session or at a run's output, or at nothing. A session with another id is
	// another terminal.
	Watch struct {
		Agent, Session string
		Run            string // the id of its record
		Running        bool
		Focused        bool
		Deep           bool // all stored output, not only the newest
	}
	// ShowText shows a text in a pager.
	ShowText struct{ Text string }
	// Save writes a text to a new file.
	Save struct {
		ID         int // of the status line that waits for it
		Path, Text string
		Lines      int
	}
	// Attach attaches the terminal to an agent.
	Attach struct{ Agent string }
	// Quit ends the control room.
	Quit struct{ Exit Exit }
	// Copy copies a text to the clipboard of the terminal, or of the machine with a program, which answers with a
	// Result.
	Copy struct {
		ID      int // of the status line that waits for it
		What    string
		Text    string
		Program bool
	}
	// Redraw draws the whole screen again.
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

// Result is the result of an action.
type Result struct {
	ID       int
	Title    string
	Total    int
	Receipts []string // the city's answers, in the order of the commands
	Failures []string
	Refused  []int // which of the commands failed
	Letters  []Letter
	Quiet    bool // report only failures
}

// FoundBeads is the answer to QueryBeads.
type FoundBeads struct {
	ID      int
	Beads   []beads.Bead
	Problem string // why it failed, "" = it did not
}

// SwitchCity switches to another city's room, to that of all cities, or to that of the city that this program runs.
type SwitchCity struct {
	ID         int
	Name, Path string // of the city; "" = all cities
	Home       bool   // the city that the program was started for
	Agent      string // to be selected there, "" = keep the selection
	Leaving    bool   // ask there how to leave
}

func (SwitchCity) effect() {}

type (
	// Edit runs an editor on a draft, or on a new one for a position.
	Edit struct {
		Draft *Draft
		At    FileLine
	}
	// ApplyDraft applies a draft, and answers with a Result.
	ApplyDraft struct {
		ID    int
		Draft *Draft
		Data  []byte
	}
)

func (Edit) effect()       {}
func (ApplyDraft) effect() {}

// Edited is the result of an edit.
type Edited struct {
	Draft    *Draft // nil = the draft is gone
	Data     []byte
	Problems []string
	Line     int
	Plan     Plan
	Err      error
}

// DiscardDraft removes a draft's file.
type DiscardDraft struct{ Path string }

func (DiscardDraft) effect() {}

// LoadHistory asks for events older than one and answers with LoadedHistory.
type LoadHistory struct {
	ID     int
	Before uint64
}

func (LoadHistory) effect() {}

// LoadedHistory is a page of older events.
type LoadedHistory struct {
	ID      int
	Events  []events.Event // oldest first
	Begins  bool           // it has the oldest event of all
	Problem string         // why it failed, "" = it did not
}

// CityOrder is a command for a city of the list. It is sent only if the name still belongs to the folder.
type CityOrder struct {
	Name, Path string
	Command    city.Command
}

// CommandCity sends a command to a city; RegisterCity and UnregisterCity change the list. Each answers with a
// Result.
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

// Inspect asks for details of an agent beyond the snapshot, and answers with Inspected.
type Inspect struct {
	ID    int
	Agent string
}

func (Inspect) effect() {}

// Inspected is the answer to Inspect.
type Inspected struct {
	ID      int
	About   *city.Inspection
	Problem string // why it failed, "" = it did not
}

// Remember stores the state of the room.
type Remember struct{ Body []byte }

func (Remember) effect() {}

// AskBackground asks for the terminal's background. The answer may never come.
type AskBackground struct{}

func (AskBackground) effect() {}

// Letter is a text that was sent to one agent.
type Letter struct {
	Agent string
	Text  string // the full text: a snapshot has only the beginning
	Send  city.Send
}
