package runs

import (
	"cmp"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/describe"
)

// Snapshot returns all automations, including broken ones, sorted by name.
func (rs *Runs) Snapshot() []city.Automation {
	out := []city.Automation{}
	broken := func(name string) bool {
		return slices.ContainsFunc(rs.catalog.Broken, func(b automation.Broken) bool {
			return b.Scoped() == name
		})
	}
	leaving := slices.DeleteFunc(rs.Schedule.Leaving(), func(s automation.Status) bool {
		return broken(s.Definition.Scoped())
	})
	for _, s := range append(rs.Schedule.Status(), leaving...) {
		v := describe.Automation(rs.city.Configuration().Dir, s.Definition)
		v.State, v.Reason, v.Next, v.Failures = city.AutomationState(s.State), s.Reason,
			shown(s.Until), s.Memory.Failures
		switch {
		case rs.city.Observed():
			if s.Run != nil {
				v.Reason = s.Run.Reason
			}
			v.Reason += "; " + unattended
		case s.Run != nil:
			v.Since = shown(s.Since)
		}
		out = append(out, v)
	}
	if !rs.RecordsRead { // the automations have not been applied yet
		for _, d := range rs.catalog.Automations {
			v := describe.Automation(rs.city.Configuration().Dir, d)
			if v.Reason = cmp.Or(rs.city.StoreProblem(), rs.whyUnknown()); d.Off != "" {
				v.State, v.Reason = city.AutomationOff, d.Off
			}
			out = append(out, v)
		}
	}
	for _, b := range rs.catalog.Broken {
		out = append(out, describe.Broken(rs.city.Configuration().Dir, b))
	}
	for i := range out {
		out[i].Last = rs.Last[out[i].Name]
	}
	slices.SortFunc(out, func(a, b city.Automation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// whyUnknown returns the reason why the records of earlier runs have not been read yet.
func (rs *Runs) whyUnknown() string {
	if rs.RecordsNotRead != "" {
		return "the records of earlier runs are not available: " + rs.RecordsNotRead
	}
	return "the records of earlier runs are being read"
}

func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
