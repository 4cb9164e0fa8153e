package runs

import (
	"slices"
	"time"

	"gcity/automation"
	"gcity/controller/effect"
)

// subscribe subscribes to the events that automations wait for.
func (rs *Runs) subscribe() {
	from, ok := rs.Schedule.From()
	if !ok {
		return
	}
	var on []string
	for _, d := range rs.catalog.Automations {
		if d.Gate == automation.Event && !slices.Contains(on, d.On) {
			on = append(on, d.On)
		}
	}
	slices.Sort(on)
	if slices.Equal(on, rs.subscribedTypes) && from >= rs.handledSeq {
		return
	}
	rs.subscribedTypes, rs.handledSeq = on, from
	rs.SubscriptionID++
	rs.out.Do(effect.Subscribe{ID: rs.SubscriptionID, After: from, Types: on})
}

// SubscriptionEnded handles the end of the subscription. The next patrol subscribes again, starting after the last
// handled event.
func (rs *Runs) SubscriptionEnded(in effect.SubscriptionEnded) {
	if in.Subscription != rs.SubscriptionID {
		return
	}
	rs.subscriptionLost = true
	rs.out.Note(&rs.NoEvents, "the events that trigger automations cannot be read: "+in.Err.Error())
}

// resubscribe subscribes again if the subscription has ended. It clears the problem when a subscription has lasted
// from one patrol to the next.
func (rs *Runs) resubscribe() {
	if !rs.subscriptionLost {
		rs.out.Note(&rs.NoEvents, "")
		return
	}
	rs.subscriptionLost, rs.subscribedTypes = false, nil
	rs.subscribe()
}

// EventsReceived handles events that automations wait for.
func (rs *Runs) EventsReceived(now time.Time, in effect.EventsReceived) {
	// events from an earlier subscription would be out of order
	if in.Subscription != rs.SubscriptionID {
		return
	}
	for _, e := range in.Events {
		rs.Schedule.See(e)
		rs.handledSeq = max(rs.handledSeq, e.Seq)
	}
	rs.Advance(now)
}
