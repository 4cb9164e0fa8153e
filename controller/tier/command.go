package tier

import (
	"cmp"
	"fmt"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// findTier returns a watchdog by name. If it does not exist, findTier rejects the command and returns nil.
func (wd *Watchdogs) findTier(id uint64, name string) *tier {
	if t := wd.tier(name); t != nil {
		return t
	}
	var names []string
	for _, t := range wd.tiers {
		names = append(names, t.want.Name)
	}
	wd.out.Reject(id, city.NotFound, suggest.NotFound(suggest.Watchdog, name, names).Error())
	return nil
}

// BeatNow starts a beat early. The reply is sent when the result is known, or when a triage agent is started for the
// beat.
func (wd *Watchdogs) BeatNow(id uint64, c city.Beat) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.paused != "":
		wd.out.Reject(id, city.Conflict, fmt.Sprintf("watchdog %s is paused: %s",
			t.want.Name,
			t.paused))
	case t.beat != nil:
		wd.out.Reply(id, fmt.Sprintf("triage agent %s is already deciding check %s of watchdog %s",
			t.want.Triage, t.beat.id, t.want.Name))
	case !wd.city.Listed():
		wd.out.Reject(id, city.Unavailable, "the sessions have not been listed yet; try again "+
			"in a moment")
	default:
		t.waiters = append(t.waiters, id)
		wd.beginBeat(t)
	}
}

// replyToBeat replies to the commands that wait for a beat.
func (wd *Watchdogs) replyToBeat(t *tier, msg string) {
	for _, id := range t.waiters {
		wd.out.Reply(id, msg)
	}
	t.waiters = nil
}

func (wd *Watchdogs) Acknowledge(id uint64, c city.Acknowledge) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.escalation == nil:
		wd.out.Reject(id, city.Conflict, fmt.Sprintf("watchdog %s has no open escalation, so "+
			"there is nothing to acknowledge", t.want.Name))
	case t.escalation.Seen:
		wd.out.Reply(id, fmt.Sprintf("the escalation from watchdog %s was already acknowledged "+
			"by %s",
			t.want.Name, t.escalation.By))
	default:
		seen := *t.escalation
		seen.Seen, seen.By = true, cmp.Or(c.By, effect.ActorOperator)
		t.escalation, wd.out.Changed = &seen, true
		wd.record(t, events.Event{Type: events.WatchdogAcknowledged, Actor: seen.By,
			Message: seen.Message}, map[string]any{"watches": t.want.Watches},
			effect.Reply{ID: id, Receipt: city.Receipt{
				Message: fmt.Sprintf("the escalation from watchdog %s was acknowledged",
					t.want.Name)}})
	}
}
