// Package events is the memory of a city: an append-only log of what happened, read by cursor.
//
// # On disk
//
// The log is events.jsonl in the city's .gc folder: one JSON object a line, at most 64 KiB, with a seq that rises by
// one whoever writes. A file that is full becomes events-<first seq>.jsonl and is never written again. Each line ends
// with crc, a checksum of the line up to it: a line without the right one was torn, damaged or written by hand, and is
// skipped and counted. So events are written with Log, or "gcity event emit", and with nothing else: only who takes
// the lock, events.lock, can give a seq. An intact line stays intact whatever is done to those around it.
//
// Writers heal what a dead writer left: a torn last line is cut off and its seq given to an events.repaired. The seq
// of a damaged complete line is not given again, because somebody may have read it.
//
// # Concurrency
//
// All methods of Log and Reader may be called from several goroutines. Reading takes no lock and never waits for a
// write. Each Log owns one goroutine, the keeper: it flushes to the disk, tries again what could not be written, and,
// while somebody waits for an event, looks for lines of other processes. Close ends it and waits for it. Followers
// are not registered anywhere: they read at their place, then wait for a channel that the next append closes.
package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is one line of the log. Seq and TS are given by the log when the event is written; everything else by the
// writer.
type Event struct {
	Seq uint64    `json:"seq"`
	TS  time.Time `json:"ts"`
	// "noun.verb", the constants below or an emitter's own
	Type string `json:"type"`
	// who caused it: "controller", "operator", an agent's name, …
	Actor string `json:"actor"`
	// what it is about: an agent, an automation, a pool, a bead
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"` // one line for a person
	// one JSON value, at most what fits a 64 KiB line
	Payload json.RawMessage `json:"payload,omitempty"`

	// EmittedBy says what emitted an event that gcity did not write by itself: "worker (pid 4242)".
	EmittedBy string `json:"emitted_by,omitempty"`
	// Peer says where the request came from that caused the event, if it came over TCP: "tcp 192.0.2.7:4711".
	Peer string `json:"peer,omitempty"`
}

// families are the words before the dot of the types that gcity itself writes.
const families = "agent automation bead city controller events mail pool provider rig " +
	"store watchdog"

// Reserved returns an error that says why only gcity may write events of a type, nil if anything may.
func Reserved(kind string) error {
	family, _, _ := strings.Cut(kind, ".")
	own := strings.Fields(families)
	if !slices.Contains(own, strings.ToLower(family)) {
		return nil
	}
	return fmt.Errorf("the event type %q is reserved: only gcity writes events of the families "+
		"%s; use a word of your own before the dot", kind, strings.Join(own, ", "))
}

// The types that gcity itself writes. Agents and scripts emit their own.
const (
	AgentStarted     = "agent.started"
	AgentStartFailed = "agent.start_failed"
	AgentStopped     = "agent.stopped"
	AgentCrashed     = "agent.crashed"
	AgentDraining    = "agent.draining"
	AgentUndrained   = "agent.undrained"
	AgentIdleKilled  = "agent.idle_killed"
	AgentQuarantined = "agent.quarantined"
	AgentReleased    = "agent.released"
	AgentSuspended   = "agent.suspended"
	AgentResumed     = "agent.resumed"
	AgentNudged      = "agent.nudged" // a text was typed and submitted
	// AgentNudgeDropped says that a text that was sent to an agent was given up, or taken back, and why.
	AgentNudgeDropped = "agent.nudge_dropped"
	// AgentUnequipped says what an agent runs without, though its configuration gives it that, and why.
	AgentUnequipped = "agent.unequipped"

	ControllerStarted = "controller.started"
	ControllerStopped = "controller.stopped"
	ConfigReloaded    = "controller.config_reloaded"
	ConfigRejected    = "controller.config_rejected"
	ConfigHeld        = "controller.config_held"

	AutomationFired     = "automation.fired"
	AutomationCompleted = "automation.completed"
	AutomationFailed    = "automation.failed"
	AutomationSkipped   = "automation.skipped"

	BeadCreated = "bead.created"
	BeadUpdated = "bead.updated"
	BeadClosed  = "bead.closed"
	// BeadImported stands for all beads that one import brought.
	BeadImported = "bead.imported"
	// StoreRestored reports that the whole work of the city or of a rig was replaced by a backup, or by a new store.
	StoreRestored = "store.restored"

	// MailSent and MailRead are about messages; their subject is the message's id. Of a message these stand for
	// bead.created, and for the bead.updated that marks it as read.
	MailSent = "mail.sent"
	MailRead = "mail.read"

	// StoreFailing says that a store of work fails again and again and is left alone for a while; its subject is
	// the rig whose it is, "" = the city's. StoreHealed says that it is well again.
	StoreFailing = "store.failing"
	StoreHealed  = "store.healed"

	PoolScaled      = "pool.scaled"
	PoolCheckFailed = "pool.check_failed"
	// PoolWorkReturned says that a member has left for good, and what was assigned to it is open for its pool again.
	PoolWorkReturned = "pool.work_returned"

	CitySuspended = "city.suspended"
	CityResumed   = "city.resumed"
	// CityCrashed says that the loop of a city broke, and when it is tried again; its agents run on.
	CityCrashed  = "city.crashed"
	RigAdded     = "rig.added"
	RigRemoved   = "rig.removed"
	RigSuspended = "rig.suspended"
	RigResumed   = "rig.resumed"

	// AgentStuck says that an agent has work and has printed nothing for longer than its stuck_after.
	AgentStuck = "agent.stuck"

	// The subject of these is a watchdog. Triaged is a triage's decision, unless that is nothing; acted is what was
	// done, by whomever it was decided, and what became of it.
	WatchdogTriaged      = "watchdog.triaged"
	WatchdogActed        = "watchdog.acted"
	WatchdogDegraded     = "watchdog.degraded" // the thresholds judge, though a triage should
	WatchdogRestored     = "watchdog.restored" // and does again
	WatchdogEscalated    = "watchdog.escalated"
	WatchdogCommand      = "watchdog.command" // how its escalate_command went
	WatchdogAcknowledged = "watchdog.acknowledged"
	// starts and wakes had failed, and it is heard of again
	WatchdogRecovered = "watchdog.recovered"

	// ProviderSwapped says that an agent's session runs by another provider than the one before.
	ProviderSwapped = "provider.swapped"

	// Gap stands for events that could not be written; its payload counts them.
	Gap = "events.gap"
	// Repaired says that a torn or damaged stretch of the log was healed or is being skipped.
	Repaired = "events.repaired"
)

// Query selects events. The zero value selects the newest DefaultLimit.
type Query struct {
	Types   []string  // any of these; a trailing "*" matches the rest ("agent.*")
	Actor   string    // exact
	Subject string    // exact
	Since   time.Time // not before
	After   uint64    // only seq > After; when set the oldest come first
	// only seq < Before, 0 = no bound: with the newest seen so far, the page that is older
	Before  uint64
	Forward bool // oldest first from After, also when After is 0
	Limit   int  // at most so many; 0 = DefaultLimit, never more than MaxLimit
}

const (
	// DefaultLimit bounds a page when the query names no limit.
	DefaultLimit = 200
	// MaxLimit bounds every page.
	MaxLimit = 10_000

	maxType = 128
)

// Check says what is wrong with an event that somebody wants to write. Only the type can be: everything else is
// escaped or shortened when it is written.
func (e *Event) Check() error {
	if e.Type == "" {
		return errors.New(`an event needs a type, such as "deploy.done"`)
	}
	if len(e.Type) > maxType {
		return fmt.Errorf("the event type %.40q… has %d bytes; at most %d are allowed", e.Type,
			len(e.Type), maxType)
	}
	for _, c := range []byte(e.Type) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("._-:/", rune(c)) {
			return fmt.Errorf("the event type %q may only have letters, digits and . _ - : /",
				e.Type)
		}
	}
	return nil
}
