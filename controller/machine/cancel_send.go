package machine

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/outbox"
)

// unsend takes back queued texts. For a text that is being typed, the outcome is known when the typing ends.
func (tx *texts) unsend(now time.Time, id uint64, a *record, c city.Unsend) {
	var back []*outbox.Delivery
	var going *outbox.Delivery
	if a.out != nil {
		for _, d := range a.out.All() {
			switch {
			case c.ID != 0 && d.ID != c.ID:
			case slices.Contains(a.out.Waiting, d):
				back = append(back, d)
			case d == a.out.Current:
				going = d
			case c.ID != 0:
				tx.m.step.Refuse(id, city.Conflict,
					fmt.Sprintf("text %d for agent %s cannot be taken back: it is %s", c.ID, a.name,
						d.Stage))
				return
			}
		}
	}
	t := outbox.Taker{ID: id, N: len(back)}
	for i, d := range back {
		var answers []effect.Answer
		if i == len(back)-1 && going == nil {
			answers = []effect.Answer{t.Receipt(a.name, 0)}
		}
		tx.giveUp(now, a, d, byHand(), answers...)
	}
	switch {
	case going != nil:
		going.Takers = append(going.Takers, t)
	case len(back) > 0:
	case c.ID != 0:
		tx.m.step.Refuse(id, city.Conflict, fmt.Sprintf("text %d is not queued for agent %s",
			c.ID, a.name))
	default:
		tx.m.step.Refuse(id, city.Conflict, "there are no queued texts for agent "+a.name)
	}
}

// takeBack takes back a text that its watchdog no longer needs. A text that is being typed is taken back only if
// the terminal does not accept it.
func (tx *texts) takeBack(now time.Time, a *record, d *outbox.Delivery, why string) {
	if d.Obsolete = why; a.out.Current != d {
		tx.giveUp(now, a, d, dropped{city.Conflict, why, effect.ActorController})
	}
}

func byHand() dropped {
	return dropped{city.Conflict, "taken back by operator", effect.ActorOperator}
}

// tooLate answers the commands that tried to take back a text that was typed in the meantime.
func (tx *texts) tooLate(a *record, d *outbox.Delivery) {
	for _, t := range d.Takers {
		if t.N > 0 {
			tx.m.step.Do(effect.Reply{Answer: t.Receipt(a.name, 0)})
			continue
		}
		tx.m.step.Refuse(t.ID, city.Conflict, fmt.Sprintf("text %d for agent %s cannot be "+
			"taken back: it has just been typed", d.ID, a.name))
	}
	d.Takers = nil
}
