package city

import (
	"fmt"
	"time"
)

// Ending is the progress of stopping the city.
type Ending struct {
	Since   time.Time `json:"since"`
	Hurried bool      `json:"hurried,omitempty"` // a user has cut the grace period short
	// when remaining agents are killed; zero = all exited on time
	Hurry time.Time `json:"hurry,omitzero"`
	Until time.Time `json:"until"` // when the controller gives up
	// what the city is waiting for besides agents
	Waits []string `json:"waits,omitempty"`
}

// StopReport reports the progress of stopping a city, each line only once. The zero value is ready to use.
type StopReport struct {
	reported map[string]bool
	counted  map[string]bool // agents that a report has counted but not named
}

const maxNamedAgents = 8

// NewLines returns the lines that have not been reported yet.
func (f *StopReport) NewLines(s *Snapshot) []string {
	e := s.Ending
	if e == nil {
		return nil
	}
	limit := fmt.Sprintf("remaining agents will be killed at %s; gcity will give up at %s",
		formatTime(e.Hurry), formatTime(e.Until))
	if e.Hurried || e.Hurry.IsZero() {
		limit = "gcity will give up at " + formatTime(e.Until)
	}
	lines := f.unlessReported(fmt.Sprintf("stopping since %s: %s", formatTime(e.Since), limit))
	lines = append(lines, f.agents(s, func(a *Agent) bool {
		return a.Running || a.State == Stopping || a.State == Starting
	})...)
	for _, what := range e.Waits {
		lines = append(lines, f.unlessReported("waiting: "+what)...)
	}
	return lines
}

// Unsettled returns the lines about starting and stopping agents that have not been reported yet.
func (f *StopReport) Unsettled(s *Snapshot) []string {
	return f.agents(s, func(a *Agent) bool { return a.State == Stopping || a.State == Starting })
}

func (f *StopReport) agents(s *Snapshot, of func(*Agent) bool) []string {
	var all, news, lines []string
	for i := range s.Agents {
		if a := &s.Agents[i]; of(a) {
			all = append(all, a.waitLine(s.Ending))
		}
	}
	few := len(all) <= maxNamedAgents
	for _, line := range all {
		if !f.reported[line] && (few || !f.counted[line]) {
			news = append(news, line)
		}
	}
	more := 0
	if len(news) > maxNamedAgents {
		if f.counted == nil {
			f.counted = map[string]bool{}
		}
		for _, line := range news[maxNamedAgents-1:] {
			f.counted[line] = true
			more++
		}
		news = news[:maxNamedAgents-1]
	}
	for _, line := range news {
		lines = append(lines, f.unlessReported(line)...)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("waiting for %d more agents", more))
	}
	return lines
}

func (f *StopReport) unlessReported(line string) []string {
	if f.reported[line] {
		return nil
	}
	if f.reported == nil {
		f.reported = map[string]bool{}
	}
	f.reported[line] = true
	return []string{line}
}

func (a *Agent) waitLine(e *Ending) string {
	text := "waiting for " + a.Name
	// while an agent is being killed, its Until is that of the whole city
	if e != nil && a.State == Stopping && a.Until != nil && a.Until.Before(e.Until) {
		return text + ": it has until " + formatTime(*a.Until) + " to exit"
	}
	if a.Provider != "" {
		text += " (" + a.Provider + ")"
	}
	text += fmt.Sprintf(": %s since %s, %s", a.State, formatTime(a.Since), a.Reason)
	if a.Until != nil {
		text += ", until " + formatTime(*a.Until)
	}
	return text
}

func formatTime(t time.Time) string { return t.Local().Format("15:04:05") }
