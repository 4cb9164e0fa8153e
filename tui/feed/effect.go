package feed

import (
	"fmt"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/tui/widget"
)

// Effect is a request of the model. The runner carries it out. The program carries out effects that contain byProgram,
// because it owns the terminal and the rooms.
type Effect interface {
	start(r *Runner) // carries it out in the background
}

// Start carries out an effect in the background.
func (r *Runner) Start(e Effect) { e.start(r) }

// byProgram is part of an effect for which the runner does nothing.
type byProgram struct{}

func (byProgram) start(*Runner) {}

type (
	// SendCommands sends commands in parallel. The response is a single Result.
	SendCommands struct {
		ID       int // ID of the status line that waits for the result
		Title    string
		Commands []city.Command
		// a command is sent only if the prerequisite with the same index has succeeded; nil = no prerequisites
		Prerequisites []city.Command
	}
	// QueryBeads requests beads from the city. The response is a FoundBeads.
	QueryBeads struct {
		ID         int
		Query      beads.Query
		Unassigned bool // omit the steps of work that has an assignee
	}
	// Wake sends the room an empty message after the delay.
	Wake struct{ After time.Duration }
	// Watch makes the pane show an agent's session, a run's output, or nothing. A different session ID means a
	// different terminal.
	Watch struct {
		Agent, Session string
		Run            string // ID of the run's record
		Running        bool
		Focused        bool
		AllOutput      bool // load all stored output, not only the newest
	}
	// ShowText shows text in a pager.
	ShowText struct {
		byProgram
		Text string
	}
	// Save writes text to a new file.
	Save struct {
		ID         int // ID of the status line that waits for the result
		Path, Text string
		Lines      int
	}
	// Attach attaches the terminal to an agent.
	Attach struct {
		byProgram
		Agent string
	}
	// Quit ends the control room.
	Quit struct {
		byProgram
		Exit Exit
	}
	// Copy copies text to the terminal's clipboard or, if Program is set, to this machine's. Only the latter has a
	// Result.
	Copy struct {
		ID      int // ID of the status line that waits for the result
		What    string
		Text    string
		Program bool
	}
	// Redraw redraws the whole screen.
	Redraw struct{ byProgram }
	// TakeTerminal sets the terminal's modes again and redraws the screen, because a shell has used the terminal while
	// this process was stopped. If Stop is set, it first restores the terminal and stops the process.
	TakeTerminal struct {
		byProgram
		Stop bool
	}
)

// Result is the result of an action.
type Result struct {
	ID            int
	Title         string
	Total         int
	Receipts      []string // responses from the city, in the order of the commands
	Failures      []string
	FailedIndexes []int
	// indexes of the commands that are, or require, an Unsend that the city rejected
	RejectedUnsends []int
	Sent            []SentText
	Created         string // ID of a bead that was created; "" = none
	FailuresOnly    bool
}

// FoundBeads is the response to QueryBeads.
type FoundBeads struct {
	ID      int
	Beads   []beads.Bead
	Problem string // why the query failed; "" = no error
}

// SwitchCity switches to another room.
type SwitchCity struct {
	byProgram
	ID         int
	Name, Path string // name and folder of the city; "" = all cities
	Home       bool   // switch to the city that the program was started for
	Agent      string // agent to select there; "" = keep the selection
	AskLeave   bool   // after the switch, ask how to leave
	Start      bool   // start a controller for the city before the switch
}

type (
	// Edit runs an editor on Draft. If Draft is nil, it first creates a draft of the file that contains the position
	// At.
	Edit struct {
		byProgram
		Draft *Draft
		At    FileLine
	}
	// ApplyDraft applies a draft. The response is a Result.
	ApplyDraft struct {
		ID    int
		Draft *Draft
		Data  []byte
	}
)

// Edited is the result of an edit.
type Edited struct {
	Draft    *Draft // nil = unchanged or missing because of an error
	Data     []byte
	Problems []string
	Line     int
	Plan     Plan
	Err      error
}

// DiscardDraft removes a draft's file.
type DiscardDraft struct{ Path string }

// LoadHistory requests events that are older than the given event. The response is a LoadedHistory.
type LoadHistory struct {
	ID     int
	Before uint64
}

// LoadedHistory is a page of older events.
type LoadedHistory struct {
	ID       int
	Events   []events.Event // oldest first
	Complete bool           // there are no older events
	Problem  string         // why the request failed; "" = no error
}

// CityCommand is a command for a city in the list. It is sent only if the name still refers to the city in the folder
// Path.
type CityCommand struct {
	Name, Path string
	Command    city.Command
}

// SendCityCommand sends a command to a city. RegisterCity and UnregisterCity change the list of cities. The response to
// each is a Result.
type (
	SendCityCommand struct {
		ID     int // ID of the status line that waits for the result
		Title  string
		Target CityCommand
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

// RefreshCities makes the directory read the list of cities immediately.
type RefreshCities struct{ byProgram }

// Inspect requests details of an agent in addition to those in the snapshot. The response is an Inspected.
type Inspect struct {
	ID    int
	Agent string
}

// Inspected is the response to Inspect.
type Inspected struct {
	ID         int
	Inspection *city.Inspection
	Problem    string // why the request failed; "" = no error
}

// SaveRoom stores the state of the room.
type SaveRoom struct {
	byProgram
	Data  []byte
	Base  []byte // the state at the previous save, or at the start of the room
	Mouse string // the user's new choice about the mouse, for all cities; "" = unchanged
}

// QueryBackground queries the terminal for its background color. The terminal might never respond.
type QueryBackground struct{ byProgram }

// SentText is a message that this room has sent to one agent.
type SentText struct {
	Agent string
	Text  string // the full text; a snapshot contains only its beginning
	Send  city.Send
}

// Text returns a one-line description of a result.
func (r *Result) Text() string {
	switch {
	case len(r.Failures) == 0 && r.Total == 1:
		return r.Receipts[0]
	case len(r.Failures) == 0:
		return fmt.Sprintf("%s: %d ok", strings.TrimSuffix(r.Title, ":"), r.Total)
	case r.Total == 1:
		return r.Failures[0]
	}
	return fmt.Sprintf("%s: %d ok, %d failed: %s", strings.TrimSuffix(r.Title, ":"),
		r.Total-len(r.Failures), len(r.Failures),
		strings.Join(r.Failures, "; "))
}

// Lines returns the result of each command, failures first.
func (r *Result) Lines() []string {
	if r.Total < 2 {
		return nil
	}
	all := make([]string, 0, r.Total)
	for _, why := range r.Failures {
		all = append(all, widget.FirstItem("failed: "+why))
	}
	for _, receipt := range r.Receipts {
		all = append(all, widget.FirstItem(receipt))
	}
	return all
}
