package city

import (
	"fmt"
	"time"
)

// Ending is a stop of the city under way. Whose end it waits for, the snapshot's agents say.
type Ending struct {
	Since   time.Time `json:"since"`
	Hurried bool      `json:"hurried,omitempty"` // nobody has any grace left
	// when whoever is left is ended at once, or was; zero = all had ended before
	Hurry time.Time `json:"hurry,omitzero"`
	Until time.Time `json:"until"`           // when it is given up
	Waits []string  `json:"waits,omitempty"` // what it waits for besides agents, a clause each
}

// Telling tells of a stop under way, and everything once. The zero value has told nothing.
type Telling struct {
	told    map[string]bool
	counted map[string]bool // told of by their number alone
}

// toldAtOnce bounds how many agents one telling names. Who was only counted is named when no more than that are left.
const toldAtOnce = 8

// Of gives what a stop waits for and has not been told yet, a line each: until when at most, whose end, what else.
func (f *Telling) Of(s *Snapshot) []string {
	e := s.Ending
	if e == nil {
		return nil
	}
	limit := fmt.Sprintf("whoever is left at %s is ended at once, and what is left at %s "+
		"is given up", moment(e.Hurry), moment(e.Until))
	if e.Hurried || e.Hurry.IsZero() {
		limit = "what is left at " + moment(e.Until) + " is given up"
	}
	lines := f.fresh(fmt.Sprintf("the city is being stopped since %s: %s", moment(e.Since), limit))
	lines = append(lines, f.agents(s, func(a *Agent) bool {
		return a.Running || a.State == Stopping || a.State == Starting
	})...)
	for _, what := range e.Waits {
		lines = append(lines, f.fresh("waits: "+what)...)
	}
	return lines
}

// Unsettled gives whom a city waits for that is brought once to what its configuration says.
func (f *Telling) Unsettled(s *Snapshot) []string {
	return f.agents(s, func(a *Agent) bool { return a.State == Stopping || a.State == Starting })
}

func (f *Telling) agents(s *Snapshot, of func(*Agent) bool) []string {
	var all, news, lines []string
	for i := range s.Agents {
		if a := &s.Agents[i]; of(a) {
			all = append(all, a.awaited())
		}
	}
	few := len(all) <= toldAtOnce
	for _, line := range all {
		if !f.told[line] && (few || !f.counted[line]) {
			news = append(news, line)
		}
	}
	more := 0
	if len(news) > toldAtOnce {
		if f.counted == nil {
			f.counted = map[string]bool{}
		}
		for _, line := range news[toldAtOnce-1:] {
			f.counted[line] = true
			more++
		}
		news = news[:toldAtOnce-1]
	}
	for _, line := range news {
		lines = append(lines, f.fresh(line)...)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("waits for %d more agents", more))
	}
	return lines
}

// fresh is a line, unless it has been told.
func (f *Telling) fresh(line string) []string {
	if f.told[line] {
		return nil
	}
	if f.told == nil {
		f.told = map[string]bool{}
	}
	f.told[line] = true
	return []string{line}
}

// awaited says of an agent whose end is waited for how it stands.
func (a *Agent) awaited() string {
	text := "waits for " + a.Name
	if a.Provider != "" {
		text += " (" + a.Provider + ")"
	}
	text += fmt.Sprintf(": %s since %s, %s", a.State, moment(a.Since), a.Reason)
	if a.Until != nil {
		text += ", until " + moment(*a.Until)
	}
	return text
}

func moment(t time.Time) string { return t.Local().Format("15:04:05") }
