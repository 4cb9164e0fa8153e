package machine

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// taker is a command that takes back a text that is being typed, and n queued ones.
type taker struct {
	id uint64
	n  int
}

func (t taker) receipt(a *record, n int) effect.Answer {
	return effect.Answer{ID: t.id, Receipt: city.Receipt{
		Message: fmt.Sprintf("taken back: %d of the texts for agent %s", t.n+n, a.name)}}
}

// unsend takes back queued texts. A text that is being typed is decided when that is done.
func (tx *texts) unsend(now time.Time, id uint64, a *record, c city.Unsend) {
	var back []*delivery
	var going *delivery
	if a.out != nil {
		for _, d := range a.out.all() {
			switch {
			case c.ID != 0 && d.id != c.ID:
			case slices.Contains(a.out.waiting, d):
				back = append(back, d)
			case d == a.out.current:
				going = d
			case c.ID != 0:
				tx.m.step.Refuse(id, city.Conflict,
					fmt.Sprintf("text %d for agent %s cannot be taken back: it is %s", c.ID, a.name,
						d.stage))
				return
			}
		}
	}
	t := taker{id: id, n: len(back)}
	for i, d := range back {
		var answers []effect.Answer
		if i == len(back)-1 && going == nil {
			answers = []effect.Answer{t.receipt(a, 0)}
		}
		tx.giveUp(now, a, d, byHand(), answers...)
	}
	switch {
	case going != nil:
		going.takers = append(going.takers, t)
	case len(back) > 0:
	case c.ID != 0:
		tx.m.step.Refuse(id, city.Conflict, fmt.Sprintf("text %d is not queued for agent %s",
			c.ID,
			a.name))
	default:
		tx.m.step.Refuse(id, city.Conflict, "there are no queued texts for agent "+a.name)
	}
}

// meantFor returns why a watchdog's text is not for the current session, "" if it is.
func (d *delivery) meantFor(a *record) string {
	if d.meant != "" && d.meant != a.sess.life.ID {
		return "the session that it was for has ended"
	}
	return ""
}

// takeBack gives up a watchdog's obsolete text. A text that is being typed is decided when that is
// done.
func (tx *texts) takeBack(now time.Time, a *record, d *delivery, why string) {
	if d.obsolete = why; a.out.current != d {
		tx.giveUp(now, a, d, dropped{city.Conflict, why, effect.ActorController})
	}
}

func byHand() dropped {
	return dropped{city.Conflict, "taken back by operator", effect.ActorOperator}
}

// tooLate answers the commands that tried to take back a text that is typed.
func (tx *texts) tooLate(a *record, d *delivery) {
	for _, t := range d.takers {
		if t.n > 0 {
			tx.m.step.Do(effect.Reply{Answer: t.receipt(a, 0)})
			continue
		}
		tx.m.step.Refuse(t.id, city.Conflict, fmt.Sprintf("text %d for agent %s cannot be "+
			"taken back: "+
			"it has just been typed", d.id, a.name))
	}
	d.takers = nil
}
