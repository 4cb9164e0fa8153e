package runs

import (
	"slices"
	"time"

	"gcity/automation"
	"gcity/controller/effect"
)

// subscribe requests a subscription to the events that automations wait for.
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
	if slices.Equal(on, rs.fedTypes) && from >= rs.fedTo {
		return
	}
	rs.fedTypes, rs.fedTo = on, from
	rs.FeedID++
	rs.out.Do(effect.Subscribe{ID: rs.FeedID, After: from, Types: on})
}

// FeedEnded handles the end of the subscription. The next patrol subscribes again, starting after the last handled
// event.
func (rs *Runs) FeedEnded(in effect.SubscriptionEnded) {
	if in.Subscription != rs.FeedID {
		return
	}
	rs.feedLost = true
	rs.out.Note(&rs.Unfed, "events for automations cannot be read: "+in.Err.Error())
}

// resubscribe subscribes again if the subscription has ended. It clears the problem when a subscription has lasted
// from one patrol to the next.
func (rs *Runs) resubscribe() {
	if !rs.feedLost {
		rs.out.Note(&rs.Unfed, "")
		return
	}
	rs.feedLost, rs.fedTypes = false, nil
	rs.subscribe()
}

// EventsReceived handles events that automations wait for.
func (rs *Runs) EventsReceived(now time.Time, in effect.EventsReceived) {
	// events of an earlier subscription would be out of order
	if in.Subscription != rs.FeedID {
		return
	}
	for _, e := range in.Events {
		rs.Schedule.See(e)
		rs.fedTo = max(rs.fedTo, e.Seq)
	}
	rs.Advance(now)
}
