// Package describe turns values of a snapshot into sentences. The control room, the command line and the API get their
// common texts from here. Where they phrase the same fact differently, each form has its own function.
//
// The texts are not sanitized: a caller must make them safe before it prints them on a terminal.
package describe

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
)

// Reason returns why an agent is in its state. The text is complete without the name of the state.
func Reason(a *city.Agent) string {
	if a.State == city.Suspended {
		return "suspended " + a.Reason
	}
	return a.Reason
}

// Count returns a number with its noun: "1 agent", "3 agents".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Processes is like Count, for processes.
func Processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

// Mode describes the mode of a controller: "hosted by a control room", "headless", "supervised".
func Mode(mode string) string {
	if mode == "console" {
		return "hosted by a control room"
	}
	return mode
}

// Setting returns a duration in the form of a configuration: "5m", "1h30m".
func Setting(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Work returns the numbers of open beads and of beads in progress in a store.
func Work(open, inProgress int) string {
	return fmt.Sprintf("%d open, %d in progress", open, inProgress)
}

// Fixed is the message for an attempt to change a list of cities that cannot be changed through this connection.
const Fixed = "the list of cities cannot be changed through this connection"

// Declared returns where something is declared, and which files change it.
func Declared(source string, patched []string) string {
	if len(patched) == 0 {
		return source
	}
	return source + ", changed at " + strings.Join(patched, " and ")
}

// Ended is the message for the end of an agent's session.
func Ended(agent string) string { return "the session of " + agent + " has ended" }

// HeldBack is the message for a delayed restart. It lists the changed fields.
func HeldBack(drift []string) string {
	return "a restart is held back: " + strings.Join(drift, ", ")
}

// ToldToFinish returns why an agent is draining.
func ToldToFinish(by string) string { return "asked to finish by " + by }

// ConvoyItself returns why a bead cannot be part of a convoy.
func ConvoyItself(id string) string { return id + " is a convoy itself" }

// WaitedFor describes a drain without a deadline.
const WaitedFor = "no deadline"

// Idle describes the effect of an idle timeout.
func Idle(timeout time.Duration) string {
	return "restarts after " + Setting(timeout) + " without activity"
}

// NotWhileAttached is the exception that follows the text of Idle.
const NotWhileAttached = ", except while a user is attached"

// SessionsStop returns how many sessions stop: "1 session stops", "3 sessions stop".
func SessionsStop(n int) string {
	if n == 1 {
		return "1 session stops"
	}
	return Count(n, "session") + " stop"
}
