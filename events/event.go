// Package events implements the event log of a city. The log is append-only and is read by cursor.
//
// # On disk
//
// The log is events.jsonl in the city's .gc folder. Each line is a JSON object of at most 64 KiB with a seq, which
// increases by one per event, even if several processes write. A full file is renamed to events-<first seq>.jsonl and
// does not change any more. Each line ends with crc, a checksum of the rest of the line. A line without a valid
// checksum is torn, damaged or written by another program. Readers count it and skip it. A damaged line does not affect
// other lines. Events must be written with Log or "gcity event emit": only the process that holds the lock,
// events.lock, can assign a seq.
//
// Writers repair the log after a writer has crashed: they cut off an incomplete last line and assign its seq to an
// events.repaired event. They do not reuse the seq of a damaged complete line, because a reader may have seen it.
//
// # Concurrency
//
// All methods of Log and Reader are safe for concurrent use. Reading takes no lock and never waits for a write. Each
// Log has one goroutine, the keeper. It flushes to the disk, retries failed writes, and polls for lines from other
// processes while followers wait. Close stops it. Followers are not registered: a follower reads from its position,
// then waits on a channel that the next append closes.
package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is one line of the log. The log sets Seq and TS when it writes the event. All other fields are set by the
// caller.
type Event struct {
	Seq uint64    `json:"seq"`
	TS  time.Time `json:"ts"`
	// "noun.verb", one of the constants below or a user-defined type
	Type string `json:"type"`
	// component that caused the event: "controller", "operator", an agent's name, …
	Actor string `json:"actor"`
	// object of the event: an agent, an automation, a pool or a bead
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"` // one line of text for users
	// one JSON value; the whole event, as a line, has at most 64 KiB
	Payload json.RawMessage `json:"payload,omitempty"`

	// EmittedBy is the process that sent an event that gcity did not create itself: "worker (pid 4242)".
	EmittedBy string `json:"emitted_by,omitempty"`
	// Peer is the address from which the request for the event came over TCP: "tcp 192.0.2.7:4711".
	Peer string `json:"peer,omitempty"`
}

// families are the first words of the event types that only gcity may write.
const families = "agent automation bead city controller events mail pool provider rig " +
	"store watchdog"

// Reserved returns an error if only gcity may write events of this type.
func Reserved(kind string) error {
	family, _, _ := strings.Cut(kind, ".")
	own := strings.Fields(families)
	if !slices.Contains(own, strings.ToLower(family)) {
		return nil
	}
	return fmt.Errorf("the event type %q is reserved: only gcity writes events of the families "+
		"%s; use a different word before the dot", kind, strings.Join(own, ", "))
}

// Types of events that gcity writes. Agents and scripts define their own types.
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
	AgentNudged      = "agent.nudged" // input was typed and submitted
	// AgentNudgeDropped: a nudge was dropped or canceled; the message contains the reason.
	AgentNudgeDropped = "agent.nudge_dropped"
	// AgentUnequipped: an agent runs without a part of its configuration; the message contains the reason.
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
	// BeadImported is written once per import instead of once per bead.
	BeadImported = "bead.imported"
	// StoreRestored: all work of the city or of a rig was replaced by a backup or a new store.
	StoreRestored = "store.restored"

	// MailSent and MailRead are about messages. Their subject is the message's ID. They replace bead.created, and
	// bead.updated when a message is marked as read.
	MailSent = "mail.sent"
	MailRead = "mail.read"

	// StoreFailing: a bead store has failed repeatedly and is not called for a while. The subject is the store's rig;
	// "" = the city. StoreHealed: the store works again.
	StoreFailing = "store.failing"
	StoreHealed  = "store.healed"

	PoolScaled      = "pool.scaled"
	PoolCheckFailed = "pool.check_failed"
	// PoolWorkReturned: a member has left its pool, and its work is open for the pool again.
	PoolWorkReturned = "pool.work_returned"

	CitySuspended = "city.suspended"
	CityResumed   = "city.resumed"
	// CityCrashed: a city's loop has crashed; its agents keep running. The message contains the time of the next
	// attempt.
	CityCrashed  = "city.crashed"
	RigAdded     = "rig.added"
	RigRemoved   = "rig.removed"
	RigSuspended = "rig.suspended"
	RigResumed   = "rig.resumed"

	// AgentStuck: an agent has work and has printed nothing for longer than its stuck_after.
	AgentStuck = "agent.stuck"

	// The subject of the following events is a watchdog. WatchdogTriaged is the decision of a triage agent, unless
	// it decided to do nothing. WatchdogActed is an action with its result.
	WatchdogTriaged      = "watchdog.triaged"
	WatchdogActed        = "watchdog.acted"
	WatchdogDegraded     = "watchdog.degraded" // the thresholds decide instead of the triage agent
	WatchdogRestored     = "watchdog.restored" // the triage agent decides again
	WatchdogEscalated    = "watchdog.escalated"
	WatchdogCommand      = "watchdog.command" // result of a watchdog's escalate_command
	WatchdogAcknowledged = "watchdog.acknowledged"
	// the watched agent sends heartbeats again after actions have failed
	WatchdogRecovered = "watchdog.recovered"

	// ProviderSwapped: an agent's new session has a different provider than its previous session.
	ProviderSwapped = "provider.swapped"

	// Gap replaces events that could not be written. The payload contains their number.
	Gap = "events.gap"
	// Repaired: a torn or damaged part of the log was repaired or is skipped.
	Repaired = "events.repaired"
)

// Query selects events. The zero value selects the newest events, at most DefaultLimit.
type Query struct {
	Types   []string  // any of these types; a trailing "*" matches any suffix ("agent.*")
	Actor   string    // only events with this actor; "" = any
	Subject string    // only events with this subject; "" = any
	Since   time.Time // events at or after this time
	After   uint64    // only events with a greater seq; if set, the oldest event is first
	// only events with a smaller seq; 0 = all. To get the previous page, set it to the smallest seq of a page
	Before  uint64
	Forward bool // the oldest event is first, even if After is 0
	Limit   int  // 0 = DefaultLimit, at most MaxLimit
}

const (
	// DefaultLimit is the maximum size of a page if the query sets no limit.
	DefaultLimit = 200
	// MaxLimit is the maximum value of Query.Limit.
	MaxLimit = 10_000

	maxType = 128
)

// Check returns an error if the event cannot be written because of its type. All other fields are escaped or
// shortened if necessary.
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
			return fmt.Errorf("invalid event type %q: use letters, digits and . _ - : /",
				e.Type)
		}
	}
	return nil
}
