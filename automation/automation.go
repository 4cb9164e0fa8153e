// Package automation decides when work begins by itself. An automation is a gate and an action, written in a file
// of its own: the gate says when (after a while, at a time, when a check succeeds, when something happened, or only
// by hand), the action is a shell line or a formula.
//
// The room is pure but for reading those files. Scanner finds and reads them; Judge says of one automation whether
// it is due, why, and what comes next; Runs is the memory of all: what was judged, what is due and waits for a
// place, what runs, what failed and is tried again. Times are given, records, events and results of checks are
// handed in, and what is to be done comes back as values.
package automation

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/formula"
	"gcity/internal/toml"
)

// FileName is the file that makes a folder below a layer's "automations" an automation. The folder's name is its name.
const FileName = "automation.toml"

// Gate is what opens the way for an automation.
type Gate string

// The gates.
const (
	Cooldown  Gate = "cooldown"  // a while after the last run
	Cron      Gate = "cron"      // at times of the calendar
	Condition Gate = "condition" // when a check succeeds
	Event     Gate = "event"     // when something happened
	Manual    Gate = "manual"    // only by hand
)

// a is the gate's name after its article.
func (g Gate) a() string {
	if g == Event {
		return "an event"
	}
	return "a " + string(g)
}

// Overlap says what becomes of an opening of the gate while a run still goes.
type Overlap string

// The ways of overlap.
const (
	Skip  Overlap = "skip"  // it passes
	Queue Overlap = "queue" // one run follows when the one that goes has ended
)

// What is not written.
const (
	ExecTimeout    = 60 * time.Second
	FormulaTimeout = 30 * time.Second
	CheckTimeout   = 10 * time.Second
	RetryBackoff   = 10 * time.Second
)

// Definition is one automation that was read and found valid. It does not change.
type Definition struct {
	Name        string // of its folder
	Rig         string // whose it is, "" = the city's
	Description string
	Source      string // absolute path of its file
	Layer       formula.Layer

	Formula string            // the action is this formula …
	Exec    string            // … or this shell line: exactly one is set
	Pool    string            // who works on what the formula makes; qualified by Target
	Vars    map[string]string // for the formula
	Timeout time.Duration
	Limit   string // who says so: "the default", "its timeout", "max_timeout in city.toml:3:1"

	Gate         Gate
	Interval     time.Duration  // Cooldown
	Schedule     Schedule       // Cron
	Zone         *time.Location // Cron
	CatchUp      bool           // Cron: times that passed unseen are made up for, by one run
	Check        string         // Condition
	CheckTimeout time.Duration  // Condition
	On           string         // Event: a type, or the beginning of types and "*"

	Overlap      Overlap
	Retry        int           // how often a run that failed is tried again
	RetryBackoff time.Duration // before the first time; doubles, to MaxBackoff at most
	// scoped name of the automation to run when this one has failed for good
	OnFailure string

	WhileSuspended bool // it fires by itself though its rig or the city is suspended

	// Off says why it does nothing although it is valid: "" = it does.
	Off string
	// Sum changes when anything above does.
	Sum string
	// Warnings are what is worth saying about the file although it is valid.
	Warnings toml.Problems
}

// Scoped is the name by which an automation is told from one of the same name elsewhere: "x", or "x:rig:demo".
func (d Definition) Scoped() string { return Scoped(d.Name, d.Rig) }

// Scoped joins an automation's name and its rig.
func Scoped(name, rig string) string {
	if rig == "" {
		return name
	}
	return name + ":rig:" + rig
}

// Target is the pool with its rig, "" = none.
func (d Definition) Target() string {
	if d.Pool == "" || d.Rig == "" || strings.Contains(d.Pool, "/") {
		return d.Pool
	}
	return d.Rig + "/" + d.Pool
}

// Rests returns why the automation does not fire by itself, given how its rig or the city is suspended.
func (d Definition) Rests(suspended string) string {
	if d.WhileSuspended {
		return ""
	}
	return suspended
}

// When says in a few words what the gate waits for: "cooldown 5m", "cron 0 3 * * *", "event bead.closed".
func (d Definition) When() string {
	return strings.TrimSpace(string(d.Gate) + " " + d.waits(words))
}

// TimedOut says of a run that it was ended at its timeout, and by whose word.
func (d Definition) TimedOut() string {
	return fmt.Sprintf("it had not ended after %s (%s)", exact(d.Timeout), d.Limit)
}

// Dir is the folder of the automation's file. An action finds it in AUTOMATION_DIR.
func (d Definition) Dir() string { return filepath.Dir(d.Source) }

// Command is the shell line to run in a folder. Where the line begins with a relative path to a script that is not
// below that folder, but in the automation's own or at the root of its topology, that one is named in its place.
// exists tells whether there is a file.
func (d Definition) Command(dir string, exists func(path string) bool) string {
	line := strings.TrimLeft(d.Exec, " \t")
	word := line
	if end := strings.IndexAny(line, " \t\n;|&<>()"); end >= 0 {
		word = line[:end]
	}
	if word == "" || filepath.IsAbs(word) || strings.ContainsAny(word, "'\"$`\\*?[]{}#~=!%") {
		return d.Exec
	}
	roots := []string{d.Dir()}
	if strings.Contains(word, "/") {
		roots = []string{dir, d.Dir(), d.Layer.Root}
	}
	for _, root := range roots {
		path := filepath.Join(root, word)
		if root == "" || !exists(path) {
			continue
		}
		if root == dir {
			break
		}
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" + line[len(word):]
	}
	return d.Exec
}

// matches reports whether an event type is one that the automation waits for.
func (d Definition) matches(kind string) bool {
	if begin, ok := strings.CutSuffix(d.On, "*"); ok {
		return strings.HasPrefix(kind, begin)
	}
	return d.On != "" && kind == d.On
}
