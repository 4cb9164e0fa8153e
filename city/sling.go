package city

import (
	"context"
	"fmt"
	"strings"
)

// SlingRequest hands a piece of work to somebody: a bead, what a formula makes, both (the formula is how the bead
// is done), or, where there is neither, a new bead of its Title.
type SlingRequest struct {
	// an agent, a pool or a rig, by Address's rules; of a rig its default_sling_target; "" = of the rig that has
	// the bead
	Target  string `json:"target,omitempty"`
	Bead    string `json:"bead,omitempty"` // an id
	Formula string `json:"formula,omitempty"`
	// not even the target's default_sling_formula
	NoFormula bool `json:"no_formula,omitempty"`
	// of what is made; "" = the formula's own
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Vars        map[string]string `json:"vars,omitempty"` // of the formula
	// and whoever gets it is told, by a text in the terminal
	Nudge bool   `json:"nudge,omitempty"`
	By    string `json:"by,omitempty"`    // who hands it out, "" = a person
	Force bool   `json:"force,omitempty"` // also what somebody else has
	// how many runs of automations have led to it, by the events that they caused
	Depth int `json:"depth,omitempty"`
}

// SlingWork is the command of a SlingRequest. Sling gives it, and does the rest.
type SlingWork struct {
	SlingRequest
}

func (SlingWork) Verb() string   { return "sling" }
func (SlingWork) Target() string { return "" }

// Check refuses a request that says too little or too much.
func (s SlingRequest) Check() error {
	problem := ""
	switch {
	case s.Bead == "" && s.Formula == "" && strings.TrimSpace(s.Title) == "":
		problem = "what is to be handed out? A bead, a formula, or a title for a new bead"
	case strings.TrimSpace(s.Target) == "" && s.Bead == "":
		problem = "to whom? The target is an agent, a pool or a rig"
	case s.Bead != "" && s.Formula == "" && (s.Title != "" || s.Description != ""):
		problem = "a title and a description are for what is made; the bead has its own"
	case s.Formula != "" && s.NoFormula:
		problem = "with a formula, or without: say one"
	case s.Formula == "" && s.NoFormula && len(s.Vars) > 0:
		problem = "variables are for a formula"
	}
	if problem != "" {
		return &Error{Code: Invalid, Message: problem}
	}
	if by := CheckBy(s.By); by != nil {
		return by
	}
	return nil
}

// Sling hands a piece of work to an agent, a pool or a rig: an agent becomes its assignee, a pool's members find it
// by its label. The receipt has the bead; where a nudge was asked for and cannot be typed, it says why, and the
// work is handed out all the same. Errors are *Error: Conflict for work that is closed or somebody else's.
func Sling(ctx context.Context, c Control, s SlingRequest) (Receipt, error) {
	if err := s.Check(); err != nil {
		return Receipt{}, err
	}
	nudge := s.Nudge
	s.Nudge = false // or whoever carries it out would do it as well
	r, err := c.Do(ctx, SlingWork{s})
	if err != nil || !nudge || r.Bead == nil {
		return r, err
	}
	snap, err := c.Snapshot(ctx)
	if err != nil {
		r.Message += "; nobody could be told: " + err.Error()
		return r, nil
	}
	who := snap.toldOf(r.Bead.Assignee, r.Bead.Labels)
	if who == "" {
		r.Message += "; nobody is there to be told, and whoever comes finds it"
		return r, nil
	}
	told, err := c.Do(ctx, Nudge{Agent: who, Text: fmt.Sprintf("Work for you: %s %s", r.Bead.ID,
		r.Bead.Title)})
	if err != nil {
		r.Message += fmt.Sprintf("; %s could not be told: %v", who, err)
		return r, nil
	}
	r.Send = told.Send
	r.Message += "; " + told.Message
	return r, nil
}

// toldOf is the agent to tell of a piece of work: the assignee, else the first member that runs of the pool in its
// labels which has nothing to do, else any that runs.
func (s *Snapshot) toldOf(assignee string, labels []string) string {
	if a, ok := s.Agent(assignee); ok {
		return a.Name
	}
	busy := ""
	for _, l := range labels {
		pool, is := strings.CutPrefix(l, PoolLabel)
		if !is {
			continue
		}
		for i := range s.Agents {
			a := &s.Agents[i]
			switch {
			case a.Pool != pool || a.State != Running:
			case a.Task == "":
				return a.Name
			case busy == "":
				busy = a.Name
			}
		}
	}
	return busy
}
