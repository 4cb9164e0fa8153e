package outbox

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// Unsend cancels queued nudges. For a nudge that is being typed, the result is known when the typing ends.
func (tx *Messages) Unsend(now time.Time, id uint64, b *Outbox, c city.Unsend) {
	var back []*Delivery
	var going *Delivery
	for _, d := range b.All() {
		switch {
		case c.ID != 0 && d.ID != c.ID:
		case slices.Contains(b.Waiting, d):
			back = append(back, d)
		case d == b.Current:
			going = d
		case c.ID != 0:
			tx.out.Reject(id, city.Conflict,
				fmt.Sprintf("nudge %d for agent %s cannot be canceled: the nudge is %s", c.ID,
					b.Agent, d.Stage))
			return
		}
	}
	t := Canceler{ID: id, N: len(back)}
	for i, d := range back {
		var replies []effect.Reply
		if i == len(back)-1 && going == nil {
			replies = []effect.Reply{t.Receipt(b.Agent, 0)}
		}
		tx.giveUp(now, b, d, canceledByUser(), replies...)
	}
	switch {
	case going != nil:
		going.Cancelers = append(going.Cancelers, t)
	case len(back) > 0:
	case c.ID != 0:
		tx.out.Reject(id, city.Conflict, fmt.Sprintf("nudge %d is not queued for agent %s",
			c.ID, b.Agent))
	default:
		tx.out.Reject(id, city.Conflict, "there are no queued nudges for agent "+b.Agent)
	}
}

// TakeBack cancels a nudge that its watchdog no longer needs. A nudge that is being typed is canceled only if the
// terminal does not accept it.
func (tx *Messages) TakeBack(now time.Time, b *Outbox, d *Delivery, why string) {
	if d.Obsolete = why; b.Current != d {
		tx.giveUp(now, b, d, dropped{city.Conflict, why, effect.ActorController})
	}
}

func canceledByUser() dropped {
	return dropped{city.Conflict, "canceled by operator", effect.ActorOperator}
}

// tooLate replies to the commands that tried to cancel a nudge that has been typed in the meantime.
func (tx *Messages) tooLate(b *Outbox, d *Delivery) {
	for _, t := range d.Cancelers {
		if t.N > 0 {
			tx.out.Do(effect.SendReply{Reply: t.Receipt(b.Agent, 0)})
			continue
		}
		tx.out.Reject(t.ID, city.Conflict, fmt.Sprintf("nudge %d for agent %s cannot be "+
			"canceled: the nudge has just been typed", d.ID, b.Agent))
	}
	d.Cancelers = nil
}
