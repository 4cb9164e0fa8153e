package machine

import (
	"cmp"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/describe"
)

// drawAutomations shows all automations, broken ones too, in the order of their names.
func (m *Machine) drawAutomations() []city.Automation {
	w := &m.work
	out := []city.Automation{}
	broken := func(name string) bool {
		return slices.ContainsFunc(w.catalog.Broken, func(b automation.Broken) bool {
			return b.Scoped() == name
		})
	}
	leaving := slices.DeleteFunc(w.runs.Leaving(), func(s automation.Status) bool {
		return broken(s.Definition.Scoped())
	})
	for _, s := range append(w.runs.Status(), leaving...) {
		v := describe.Automation(m.conf.Dir, s.Definition)
		v.State, v.Reason, v.Next, v.Failures = city.AutomationState(s.State), s.Reason,
			shown(s.Until), s.Memory.Failures
		if s.Run != nil {
			v.Since = shown(s.Since)
		}
		out = append(out, v)
	}
	if !w.swept { // none is in force yet
		for _, d := range w.catalog.Automations {
			v := describe.Automation(m.conf.Dir, d)
			if v.Reason = cmp.Or(m.storeProblem(""), w.unknown()); d.Off != "" {
				v.State, v.Reason = city.AutomationOff, d.Off
			}
			out = append(out, v)
		}
	}
	for _, b := range w.catalog.Broken {
		out = append(out, describe.Broken(m.conf.Dir, b))
	}
	for i := range out {
		out[i].Last = w.last[out[i].Name]
	}
	slices.SortFunc(out, func(a, b city.Automation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// unknown says why it is not known yet what automations did before.
func (w *work) unknown() string {
	if w.unswept != "" {
		return "the records of earlier runs are not known: " + w.unswept
	}
	return "the records of earlier runs are being read"
}

func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
