package tier

import (
	"cmp"
	"fmt"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/suggest"
)

// findTier answers a command about a watchdog that nobody declares.
func (wd *Watchdogs) findTier(id uint64, name string) *tier {
	if t := wd.tier(name); t != nil {
		return t
	}
	var names []string
	for _, t := range wd.tiers {
		names = append(names, t.want.Name)
	}
	wd.out.Refuse(id, city.NotFound, suggest.NotFound("watchdog", name, names))
	return nil
}

// BeatNow has a watchdog look past its interval. It is answered when it is known what the beat comes to, or who
// judges it.
func (wd *Watchdogs) BeatNow(id uint64, c city.Beat) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.rests != "":
		wd.out.Refuse(id, city.Conflict, fmt.Sprintf("watchdog %s does not beat: %s",
			t.want.Name,
			t.rests))
	case t.beat != nil:
		wd.out.Reply(id, fmt.Sprintf("triage %s judges the beat %s of watchdog %s already",
			t.want.Triage, t.beat.id, t.want.Name))
	case !wd.city.Listed():
		wd.out.Refuse(id, city.Unavailable, "nobody has looked yet at what runs; try again "+
			"in a moment")
	default:
		t.asked = append(t.asked, id)
		wd.beginBeat(t)
	}
}

// answerBeat answers those who wanted a beat.
func (wd *Watchdogs) answerBeat(t *tier, msg string) {
	for _, id := range t.asked {
		wd.out.Reply(id, msg)
	}
	t.asked = nil
}

func (wd *Watchdogs) Acknowledge(id uint64, c city.Acknowledge) {
	t := wd.findTier(id, c.Watchdog)
	switch {
	case t == nil:
	case t.esc == nil:
		wd.out.Refuse(id, city.Conflict, fmt.Sprintf("watchdog %s calls nobody just "+
			"now: there is "+
			"nothing to acknowledge", t.want.Name))
	case t.esc.Seen:
		wd.out.Reply(id, fmt.Sprintf("the call of watchdog %s is acknowledged already, by %s",
			t.want.Name, t.esc.By))
	default:
		seen := *t.esc
		seen.Seen, seen.By = true, cmp.Or(c.By, effect.ActorOperator)
		t.esc, wd.out.Changed = &seen, true
		wd.tellTier(t, events.Event{Type: events.WatchdogAcknowledged, Actor: seen.By,
			Message: seen.Message}, map[string]any{"watches": t.want.Watches},
			effect.Answer{ID: id, Receipt: city.Receipt{
				Message: fmt.Sprintf("the call of watchdog %s is acknowledged", t.want.Name)}})
	}
}
