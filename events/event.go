// Package events implements a city's event log. The log is append-only and read by cursor.
//
// # On disk
//
// The log is the file events.jsonl in the city's .gc folder. Each line is a JSON object of at most 64 KiB. The number
// seq increases by one per event, even if several processes write. A full file is renamed to events-<first seq>.jsonl
// and never changes again. Each line ends with crc, a checksum of the rest of the line. A line without a valid checksum
// is torn, damaged or written by another program. Readers count and skip such lines. Events must be written with Log or
// "gcity event emit", because only the process that holds the lock, events.lock, can assign a seq.
//
// If a writer has crashed, the next writer repairs the log: it cuts off an incomplete last line and gives that line's
// seq to an events.repaired event. It does not reuse the seq of a complete but damaged line, because a reader may have
// seen that line.
//
// # Concurrency
//
// All methods of Log and Reader are safe for concurrent use. Reads do not take a lock and never wait for a write. Each
// Log has one goroutine, the keeper. The keeper flushes to the disk, retries failed writes, and polls for lines from
// other processes while followers wait. Close stops the keeper. Followers are not registered: a follower reads from its
// position to the end, and then waits for a channel that the next append closes.
package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is a line of the log. The log sets Seq and TS, and the caller sets everything else.
type Event struct {
	Seq uint64    `json:"seq"`
	TS  time.Time `json:"ts"`
	// "noun.verb": one of the constants below or a user-defined type
	Type string `json:"type"`
	// what caused the event: "controller", "operator", an agent's name, …
	Actor string `json:"actor"`
	// what the event is about: an agent, an automation, a pool or a bead
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"` // one line for users
	// a JSON value; the event's whole line can have at most 64 KiB
	Payload json.RawMessage `json:"payload,omitempty"`

	// EmittedBy is the process that sent the event: "worker (pid 4242)". It is empty if gcity created the event itself.
	EmittedBy string `json:"emitted_by,omitempty"`
	// Peer is the TCP address that the request for the event came from: "tcp 192.0.2.7:4711".
	Peer string `json:"peer,omitempty"`
}

// families are the first words of event types that are reserved for gcity.
const families = "agent automation bead city controller events mail pool provider rig " +
	"store watchdog"

// Reserved returns an error if only gcity may write events of this type.
func Reserved(kind string) error {
	family, _, _ := strings.Cut(kind, ".")
	own := strings.Fields(families)
	if !slices.Contains(own, strings.ToLower(family)) {
		return nil
	}
	return fmt.Errorf("the event type %q is reserved: only gcity writes events that begin with "+
		"%s; use a different word before the dot", kind, strings.Join(own, ", "))
}

// Types of events that gcity writes.
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
	AgentNudged      = "agent.nudged"
	// AgentNudgeDropped: a nudge was dropped or canceled.
	AgentNudgeDropped = "agent.nudge_dropped"
	// AgentUnequipped: an agent runs without a part of its configuration.
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
	// BeadImported is written once per import, not once per bead.
	BeadImported = "bead.imported"
	// StoreRestored: a backup or a new store replaced all work of the city or of a rig.
	StoreRestored = "store.restored"

	// MailSent and MailRead report that a message was sent or marked as read, instead of bead.created and bead.updated.
	// Their subject is the message's ID.
	MailSent = "mail.sent"
	MailRead = "mail.read"

	// StoreFailing: a bead store has failed repeatedly, and will not be called for a while. The subject is the store's
	// rig, or "" for the city.
	StoreFailing = "store.failing"
	StoreHealed  = "store.healed"

	PoolScaled      = "pool.scaled"
	PoolCheckFailed = "pool.check_failed"
	// PoolWorkReturned: a member has left its pool, and the other members can claim its work.
	PoolWorkReturned = "pool.work_returned"

	CitySuspended = "city.suspended"
	CityResumed   = "city.resumed"
	// CityCrashed: a city's controller has crashed, but its agents keep running.
	CityCrashed  = "city.crashed"
	RigAdded     = "rig.added"
	RigRemoved   = "rig.removed"
	RigSuspended = "rig.suspended"
	RigResumed   = "rig.resumed"

	// AgentAsking: an agent asks its user a question.
	AgentAsking = "agent.asking"
	// AgentStuck: an agent has work but has printed nothing for longer than its stuck_after.
	AgentStuck = "agent.stuck"

	// The subject of the events below is a watchdog.
	WatchdogTriaged      = "watchdog.triaged"
	WatchdogActed        = "watchdog.acted"
	WatchdogDegraded     = "watchdog.degraded" // the thresholds decide in place of the triage agent
	WatchdogRestored     = "watchdog.restored" // the triage agent takes over again
	WatchdogEscalated    = "watchdog.escalated"
	WatchdogCommand      = "watchdog.command" // result of a watchdog's escalate_command
	WatchdogAcknowledged = "watchdog.acknowledged"
	// the watched agent sends heartbeats again after actions have failed
	WatchdogRecovered = "watchdog.recovered"

	// ProviderSwapped: an agent's new session runs in a different provider than its previous session.
	ProviderSwapped = "provider.swapped"

	// Gap stands for events that could not be written. The payload contains their number.
	Gap = "events.gap"
	// Repaired: a torn or damaged part of the log has been repaired, or is skipped.
	Repaired = "events.repaired"
)

// Types returns the types of events that gcity writes.
func Types() []string {
	return []string{
		AgentStarted, AgentStartFailed, AgentStopped, AgentCrashed, AgentDraining,
		AgentUndrained, AgentIdleKilled, AgentQuarantined, AgentReleased, AgentSuspended,
		AgentResumed, AgentNudged, AgentNudgeDropped, AgentUnequipped, ControllerStarted,
		ControllerStopped, ConfigReloaded, ConfigRejected, ConfigHeld, AutomationFired,
		AutomationCompleted, AutomationFailed, AutomationSkipped, BeadCreated, BeadUpdated,
		BeadClosed, BeadImported, StoreRestored, MailSent, MailRead, StoreFailing, StoreHealed,
		PoolScaled, PoolCheckFailed, PoolWorkReturned, CitySuspended, CityResumed, CityCrashed,
		RigAdded, RigRemoved, RigSuspended, RigResumed, AgentAsking, AgentStuck,
		WatchdogTriaged, WatchdogActed, WatchdogDegraded, WatchdogRestored, WatchdogEscalated,
		WatchdogCommand, WatchdogAcknowledged, WatchdogRecovered, ProviderSwapped, Gap, Repaired,
	}
}

// Query selects events. The zero value selects the newest ones, up to DefaultLimit.
type Query struct {
	Types   []string // a trailing "*" matches any suffix ("agent.*")
	Actor   string
	Subject string
	Since   time.Time // events at this time or later
	After   uint64    // events with a higher seq; if set, the oldest event comes first
	// events with a lower seq; 0 = all
	Before  uint64
	Forward bool // the oldest event comes first even if After is 0
	Limit   int  // 0 = DefaultLimit, at most MaxLimit
}

const (
	// DefaultLimit is the limit of a query that sets none.
	DefaultLimit = 200
	// MaxLimit is the maximum value of Query.Limit.
	MaxLimit = 10_000

	maxType = 128
)

// Check returns an error if the event's type is invalid.
func (e *Event) Check() error {
	if e.Type == "" {
		return errors.New(`an event needs a type, such as "deploy.done"`)
	}
	if len(e.Type) > maxType {
		return fmt.Errorf("the event type %.40q… is too long (%d bytes; the maximum is %d)", e.Type,
			len(e.Type), maxType)
	}
	for _, c := range []byte(e.Type) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("._-:/", rune(c)) {
			return fmt.Errorf("invalid event type %q: use letters, digits and . _ - : /",
				e.Type)
		}
	}
	return nil
}
