package step

import (
	"gcity/controller/effect"
	"gcity/events"
)

// RecordFlags records the changes to the suspended flags of the city and its rigs.
func (o *Output) RecordFlags(before, after *effect.Configuration, edits []effect.Edit) {
	if on := after.Suspended; on != before.Suspended {
		e := events.Event{Type: events.CityResumed, Message: "the city's agents can start again"}
		if on {
			e.Type, e.Message = events.CitySuspended,
				"the city's agents stay stopped until it is resumed"
		}
		o.Record(effect.FlaggedBy(edits, "", "", on).AsActor(e))
	}
	was := make(map[string]bool, len(before.Rigs))
	for i := range before.Rigs {
		was[before.Rigs[i].Name] = before.Rigs[i].Suspended
	}
	for i := range after.Rigs {
		r := &after.Rigs[i]
		if old, known := was[r.Name]; !known || old == r.Suspended {
			continue
		}
		e := events.Event{Type: events.RigResumed, Subject: r.Name,
			Message: "the rig's agents can start again"}
		if r.Suspended {
			e.Type, e.Message = events.RigSuspended,
				"the rig's agents stay stopped until it is resumed"
		}
		o.Record(effect.FlaggedBy(edits, "", r.Name, r.Suspended).AsActor(e))
	}
}
