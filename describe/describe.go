// Package describe turns snapshot values into phrases that the control room, the command line and the API share.
// Callers must sanitize the phrases before printing them on a terminal.
package describe

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/internal/span"
)

// Reason returns the reason for an agent's state.
func Reason(a *city.Agent) string {
	if a.State == city.Suspended {
		return "suspended " + a.Reason
	}
	return a.Reason
}

// CauseFirst returns the reason for a quarantine with the last crash first: "exit 3, crashed 4× in 4s". It returns ""
// if a is not in quarantine.
func CauseFirst(a *city.Agent) string {
	q := a.Quarantine
	if q == nil || a.State != city.Quarantined {
		return ""
	}
	return fmt.Sprintf("%s, crashed %d× in %s", q.LastCrash, a.Crashes, span.Text(q.Span))
}

// Next says what happens next: "restarts in 44s unless it prints something". The second result omits the condition.
func Next(n *city.Next, left func(at time.Time) string) (full, brief string) {
	if n == nil {
		return "", ""
	}
	condition := n.Condition()
	brief = strings.TrimSuffix(n.What, condition)
	if n.At != nil {
		brief += " in " + left(*n.At)
	}
	return brief + condition, brief
}

// Count returns a number with its noun: "1 agent", "3 agents".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Processes returns text such as "1 process" or "3 processes".
func Processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// Runner says which process runs a city, given the controller's mode and process ID; 0 = unknown.
func Runner(mode string, pid int) string {
	switch mode {
	case "supervised":
		if pid == 0 {
			return "supervisor"
		}
		return fmt.Sprintf("supervisor (pid %d)", pid)
	case "console":
		return fmt.Sprintf("control room (pid %d)", pid)
	case "headless":
		return fmt.Sprintf("background (gcity --headless, pid %d)", pid)
	case "settle":
		return fmt.Sprintf("gcity start --standalone (pid %d)", pid)
	}
	return mode
}

// Work describes the open beads and those in progress: "4 open, 2 in progress".
func Work(open, inProgress int) string {
	return fmt.Sprintf("%d open, %d in progress", open, inProgress)
}

// HowToStart describes the two commands that start a city.
const HowToStart = "`gcity start` starts the city with the supervisor, " +
	"`gcity daemon start` without it"

// StartCommand returns the command that starts a city, given the mode of its latest controller. For a background city,
// it is `gcity`, because most background cities were started from the control room.
func StartCommand(mode string) string {
	switch mode {
	case "settle":
		return "gcity start --standalone"
	case "supervised":
		return "gcity start"
	}
	return "gcity"
}

// StartsAgain says that a command starts a stopped city.
func StartsAgain(command string) string { return "`" + command + "` starts it again" }

// Fixed is the message for an attempt to change a fixed list of cities.
const Fixed = "the list of cities cannot be changed through this connection"

// Declared says where something is declared and changed.
func Declared(source string, patched []string) string {
	if len(patched) == 0 {
		return source
	}
	return source + ", changed at " + strings.Join(patched, " and ")
}

// Ended is the message that an agent's session has ended.
func Ended(agent string) string { return agent + "'s session has ended" }

// HeldBack is the message for a delayed restart. It lists the changed fields.
func HeldBack(drift []string) string {
	return "a restart is held back: " + strings.Join(drift, ", ")
}

// ToldToFinish is the reason for a requested drain. when is the time of the request, for example "at 14:03:00".
func ToldToFinish(by, when string) string { return "asked by " + by + " " + when + " to finish" }

// ConvoyItself is the message for a bead that cannot be in a convoy, because it is one.
func ConvoyItself(id string) string { return id + " is a convoy itself" }

// NoDeadline describes a drain without a deadline.
const NoDeadline = "no deadline"

// Idle describes what an idle timeout does.
func Idle(timeout time.Duration) string {
	return "restarts after " + span.Text(timeout) + " without activity"
}

// NotWhileAttached can follow the result of Idle.
const NotWhileAttached = ", except while a user is attached"

// SessionsStop says how many sessions will stop: "1 session will stop", "3 sessions will stop".
func SessionsStop(n int) string {
	if n == 1 {
		return "1 session will stop"
	}
	return Count(n, "session") + " will stop"
}
