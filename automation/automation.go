// Package automation decides when work starts automatically. An automation is a file with a gate and an action. The
// gate decides when the action runs: after an interval, at a scheduled time, when a check succeeds, when an event
// occurs, or only by hand. The action is a shell command or a formula.
//
// Only Scanner reads files. The rest of the package has no side effects. Judge decides whether an automation is due,
// why, and when it will be due next. Runs keeps the state of all automations: their latest verdicts, and the runs that
// are due, queued, active or waiting for a retry. The caller passes in times, records, events and check results, and
// performs the actions that the package returns.
package automation

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gcity/formula"
	"gcity/internal/span"
	"gcity/internal/toml"
)

// FileName is the name of an automation's file. Its path in a layer's folder is automations/NAME/automation.toml.
const FileName = "automation.toml"

// Gate is the kind of condition that starts an automation's runs.
type Gate string

const (
	Cooldown  Gate = "cooldown"  // when an interval has passed since the start of the latest run
	Cron      Gate = "cron"      // at scheduled times
	Condition Gate = "condition" // when a check succeeds
	Event     Gate = "event"     // when an event occurs
	Manual    Gate = "manual"    // only by hand
)

func (g Gate) withArticle() string {
	if g == Event {
		return "an event"
	}
	return "a " + string(g)
}

// Overlap says what happens when the gate opens during a run.
type Overlap string

const (
	Skip  Overlap = "skip"  // no further run starts
	Queue Overlap = "queue" // one more run starts after the active one
)

// Default values of keys.
const (
	ExecTimeout    = 60 * time.Second
	FormulaTimeout = 30 * time.Second
	CheckTimeout   = 10 * time.Second
	RetryBackoff   = 10 * time.Second
)

// Definition is a valid automation from a file. It is immutable.
type Definition struct {
	Name        string // name of the automation's folder
	Rig         string // "" = a city automation
	Description string
	Source      string // absolute path of the file
	Layer       formula.Layer

	Formula string            // name of the formula; "" if Exec is set
	Exec    string            // shell command; "" if Formula is set
	Pool    string            // as written in the file; see Target
	Vars    map[string]string // values for the formula's variables
	Timeout time.Duration
	// where Timeout was set: "the default", "its timeout", "max_timeout in city.toml:3:1"
	Limit string

	Gate         Gate
	Interval     time.Duration  // of a Cooldown gate
	Schedule     Schedule       // when a Cron gate opens
	Zone         *time.Location // of Schedule
	CatchUp      bool           // for a Cron gate: run once if scheduled times were missed
	Check        string         // shell command of a Condition gate's check
	CheckTimeout time.Duration
	On           string // for an Event gate: an event type, or a prefix followed by "*"

	Overlap Overlap
	Retry   int
	// wait before the first retry; doubles with each retry, up to MaxBackoff
	RetryBackoff time.Duration
	// scoped name of the automation to run after this one has failed and will not be retried
	OnFailure string

	WhileSuspended bool // runs even if its rig or the city is suspended

	// why a valid automation is disabled; "" = it is enabled
	Off string
	// hash of all fields above
	Hash     string
	Warnings toml.Problems
}

// Scoped returns a name that is unique in the city: "x", or "x:rig:demo" for a rig's automation.
func (d Definition) Scoped() string { return Scoped(d.Name, d.Rig) }

// Scoped returns the scoped name of an automation: NAME, or NAME:rig:RIG if rig is not "".
func Scoped(name, rig string) string {
	if rig == "" {
		return name
	}
	return name + ":rig:" + rig
}

// Target returns the qualified name of the pool, or "" if no pool is set.
func (d Definition) Target() string {
	if d.Pool == "" || d.Rig == "" || strings.Contains(d.Pool, "/") {
		return d.Pool
	}
	return d.Rig + "/" + d.Pool
}

// BlockedWhile returns the given reason for a suspension, or "" if the automation runs while suspended.
func (d Definition) BlockedWhile(suspended string) string {
	if d.WhileSuspended {
		return ""
	}
	return suspended
}

// When describes the gate briefly: "cooldown 5m", "cron 0 3 * * *", "event bead.closed".
func (d Definition) When() string {
	return strings.TrimSpace(string(d.Gate) + " " + d.gateSetting(words))
}

// TimedOut returns the error for a run that was killed at its timeout.
func (d Definition) TimedOut() string {
	return fmt.Sprintf("the run did not finish within %s (%s)", span.Text(d.Timeout), d.Limit)
}

// Dir returns the folder of the automation's file.
func (d Definition) Dir() string { return filepath.Dir(d.Source) }

// PackDir returns the folder that contains the layer's folder. Gas City calls it the pack.
func (d Definition) PackDir() string { return filepath.Dir(d.Layer.Dir) }

// Environment returns the variables that actions and checks receive. Gas City's scripts use some of the names.
func (d Definition) Environment() []string {
	return []string{"GC_AUTOMATION=" + d.Scoped(), "AUTOMATION_DIR=" + d.Dir(),
		"ORDER_DIR=" + d.Dir(), "PACK_DIR=" + d.PackDir(), "GC_PACK_DIR=" + d.PackDir()}
}

// Command returns the shell command to run in the folder dir. If the command begins with the name of a script in the
// automation's own folder, the script's path replaces the name. A name with a slash is looked up in dir, in the
// automation's folder, and at the root of its topology.
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

func (d Definition) matches(eventType string) bool {
	if begin, ok := strings.CutSuffix(d.On, "*"); ok {
		return strings.HasPrefix(eventType, begin)
	}
	return d.On != "" && eventType == d.On
}
