// Package events is the event log of a city: an append-only log that is read by cursor.
//
// # On disk
//
// The log is events.jsonl in the city's .gc folder: one JSON object per line, at most 64 KiB, with a seq that rises
// by one, also across processes. A full file is renamed to events-<first seq>.jsonl and never written again. Each
// line ends with crc, a checksum of the line up to it. A line without a valid checksum is torn, damaged or written
// by another program; readers skip and count it. So events must be written with Log or "gcity event emit": only the
// holder of the lock, events.lock, can assign a seq. Damage to a line does not affect other lines.
//
// Writers repair what a crashed writer left: they cut off a torn last line and assign its seq to an
// events.repaired. They do not reuse the seq of a damaged complete line, because a reader may have seen it.
//
// # Concurrency
//
// All methods of Log and Reader may be called concurrently. Reading takes no lock and never waits for a write. Each
// Log has one goroutine, the keeper: it flushes to the disk, retries failed writes, and, while followers wait,
// polls for lines of other processes. Close stops it and waits for it. Followers are not registered: they read from
// their position, then wait for a channel that the next append closes.
package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Event is one line of the log. The log sets Seq and TS when the event is written; the writer sets everything else.
type Event struct {
	Seq uint64    `json:"seq"`
	TS  time.Time `json:"ts"`
	// "noun.verb", one of the constants below or a user-defined type
	Type string `json:"type"`
	// the component that caused it: "controller", "operator", an agent's name, …
	Actor string `json:"actor"`
	// its object: an agent, an automation, a pool, a bead
	Subject string `json:"subject,omitempty"`
	Message string `json:"message,omitempty"` // one line for users
	// one JSON value that fits into a line of 64 KiB
	Payload json.RawMessage `json:"payload,omitempty"`

	// EmittedBy is the sender of an event that gcity did not write by itself: "worker (pid 4242)".
	EmittedBy string `json:"emitted_by,omitempty"`
	// Peer is the origin of the request that caused the event, if it came over TCP: "tcp 192.0.2.7:4711".
	Peer string `json:"peer,omitempty"`
}

// families are the first parts of the types that only gcity writes.
const families = "agent automation bead city controller events mail pool provider rig " +
	"store watchdog"

// Reserved returns an error if only gcity may write events of a type, else nil.
func Reserved(kind string) error {
	family, _, _ := strings.Cut(kind, ".")
	own := strings.Fields(families)
	if !slices.Contains(own, strings.ToLower(family)) {
		return nil
	}
	return fmt.Errorf("the event type %q is reserved: only gcity writes events of the families "+
		"%s; use another word before the dot", kind, strings.Join(own, ", "))
}

// The types that gcity itself writes. Agents and scripts define their own.
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
	// AgentNudgeDropped means that a text for an agent was discarded or cancelled, with the reason.
	AgentNudgeDropped = "agent.nudge_dropped"
	// AgentUnequipped means that an agent runs without a part of its configuration, with the reason.
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
	// BeadImported stands for all beads of one import.
	BeadImported = "bead.imported"
	// StoreRestored means that a backup or a new store has replaced all work of the city or a rig.
	StoreRestored = "store.restored"

	// MailSent and MailRead are events about messages; their subject is the message's ID. They replace
	// bead.created, and bead.updated for marking as read.
	MailSent = "mail.sent"
	MailRead = "mail.read"

	// StoreFailing means that a store of work failed repeatedly and is not called for a while; its subject is the
	// rig of the store, "" = the city. StoreHealed means that it works again.
	StoreFailing = "store.failing"
	StoreHealed  = "store.healed"

	PoolScaled      = "pool.scaled"
	PoolCheckFailed = "pool.check_failed"
	// PoolWorkReturned means that a member has left its pool, and that its work is open for the pool again.
	PoolWorkReturned = "pool.work_returned"

	CitySuspended = "city.suspended"
	CityResumed   = "city.resumed"
	// CityCrashed means that the loop of a city crashed, with the time of the next try. Its agents continue.
	CityCrashed  = "city.crashed"
	RigAdded     = "rig.added"
	RigRemoved   = "rig.removed"
	RigSuspended = "rig.suspended"
	RigResumed   = "rig.resumed"

	// AgentStuck means that an agent has work and has printed nothing for longer than its stuck_after.
	AgentStuck = "agent.stuck"

	// The subject of these is a watchdog. WatchdogTriaged is a triage's decision unless it is to do nothing.
	// WatchdogActed is an action, no matter what decided it, with its result.
	WatchdogTriaged      = "watchdog.triaged"
	WatchdogActed        = "watchdog.acted"
	WatchdogDegraded     = "watchdog.degraded" // the thresholds decide instead of the triage
	WatchdogRestored     = "watchdog.restored" // the triage decides again
	WatchdogEscalated    = "watchdog.escalated"
	WatchdogCommand      = "watchdog.command" // result of its escalate_command
	WatchdogAcknowledged = "watchdog.acknowledged"
	// the agent has a heartbeat again after starts and wakes had failed
	WatchdogRecovered = "watchdog.recovered"

	// ProviderSwapped means that an agent's session uses a different provider than the session before.
	ProviderSwapped = "provider.swapped"

	// Gap stands for events that could not be written; its payload has their number.
	Gap = "events.gap"
	// Repaired means that a torn or damaged part of the log was repaired or is skipped.
	Repaired = "events.repaired"
)

// Query selects events. The zero value selects the newest DefaultLimit.
type Query struct {
	Types   []string  // any of these; a trailing "*" matches any rest ("agent.*")
	Actor   string    // exact match
	Subject string    // exact match
	Since   time.Time // not earlier
	After   uint64    // only seq > After; if set, the oldest come first
	// only seq < Before, 0 = no limit; with the oldest seq of a page it selects the page before
	Before  uint64
	Forward bool // oldest first, even if After is 0
	Limit   int  // 0 = DefaultLimit, at most MaxLimit
}

const (
	// DefaultLimit is the limit of a page if the query has none.
	DefaultLimit = 200
	// MaxLimit is the greatest limit of a page.
	MaxLimit = 10_000

	maxType = 128
)

// Check returns an error if an event cannot be written. Only its type can be invalid: everything else is escaped or
// shortened when it is written.
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
