package city

import (
	"context"
	"fmt"
	"strings"
)

// SlingRequest describes work to assign: a bead, what a formula creates, or a new bead with this Title. With both a
// bead and a formula, the formula describes how to work on the bead.
type SlingRequest struct {
	// an agent, a pool or a rig (its default_sling_target), resolved as in Address; "" = the bead's rig
	Target  string `json:"target,omitempty"`
	Bead    string `json:"bead,omitempty"`
	Formula string `json:"formula,omitempty"`
	// use no formula, not even the target's default_sling_formula
	NoFormula bool `json:"no_formula,omitempty"`
	// "" = the title in the formula
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Vars        map[string]string `json:"vars,omitempty"`
	Nudge       bool              `json:"nudge,omitempty"`
	By          string            `json:"by,omitempty"`    // "" = a user
	Force       bool              `json:"force,omitempty"` // take the work from another assignee
	// number of automation runs that led to the request
	Depth int `json:"depth,omitempty"`
}

// SlingWork is the command that carries out a SlingRequest. The function Sling also notifies the recipient.
type SlingWork struct {
	SlingRequest
}

func (SlingWork) Verb() string   { return "sling" }
func (SlingWork) Target() string { return "" }

// Check returns an error if a request is incomplete or contradicts itself.
func (s SlingRequest) Check() error {
	problem := ""
	switch {
	case s.Bead == "" && s.Formula == "" && strings.TrimSpace(s.Title) == "":
		problem = "nothing to assign: specify a bead, a formula, or a title for a new bead"
	case strings.TrimSpace(s.Target) == "" && s.Bead == "":
		problem = "no target: specify an agent, a pool or a rig"
	case s.Bead != "" && s.Formula == "" && (s.Title != "" || s.Description != ""):
		problem = "a title and a description are only for new beads; this bead already has its own"
	case s.Formula != "" && s.NoFormula:
		problem = "a formula and no_formula contradict each other: use only one of them"
	case s.Formula == "" && s.NoFormula && len(s.Vars) > 0:
		problem = "variables require a formula"
	}
	if problem != "" {
		return &Error{Code: Invalid, Message: problem}
	}
	if by := CheckBy(s.By); by != nil {
		return by
	}
	return nil
}

// Sling assigns work to an agent, a pool or a rig, and nudges the recipient on request. The receipt contains the bead.
// Errors are *Error. The code is Conflict if the work is closed or another agent has it.
func Sling(ctx context.Context, c Control, s SlingRequest) (Receipt, error) {
	if err := s.Check(); err != nil {
		return Receipt{}, err
	}
	nudge := s.Nudge
	s.Nudge = false
	r, err := c.Do(ctx, SlingWork{s})
	if err != nil || !nudge || r.Bead == nil {
		return r, err
	}
	snap, err := c.Snapshot(ctx)
	if err != nil {
		r.Message += "; no agent could be notified: " + err.Error()
		return r, nil
	}
	recipient := snap.agentToNotify(r.Bead.Assignee, r.Bead.Labels)
	if recipient == "" {
		r.Message += "; no agent for this work is running, so none was notified; the next one to " +
			"start will find the work"
		return r, nil
	}
	nudged, err := c.Do(ctx, Nudge{Agent: recipient, Text: fmt.Sprintf("Work for you: %s %s",
		r.Bead.ID,
		r.Bead.Title), Depth: s.Depth})
	if err != nil {
		r.Message += fmt.Sprintf("; %s could not be notified: %v", recipient, err)
		return r, nil
	}
	r.Send = nudged.Send
	r.Message += "; " + nudged.Message
	return r, nil
}

// agentToNotify returns the assigned agent or a running member of the assigned pool, preferably one without work. It
// returns "" if there is none.
func (s *Snapshot) agentToNotify(assignee string, labels []string) string {
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
