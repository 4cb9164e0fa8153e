package controller

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"gcity/automation"
	"gcity/city"
)

// drawAutomations shows all automations, broken ones too, in the order of their names.
func (m *machine) drawAutomations() []city.Automation {
	w := &m.work
	out := []city.Automation{}
	for _, s := range w.runs.Status() {
		d := s.Definition
		v := city.Automation{
			Name: d.Scoped(), Description: d.Description, Rig: d.Rig, Source: within(m.conf.dir, d.Source), Layer: d.Layer.Title, Gate: string(d.Gate),
			When: gateWord(d), Exec: d.Exec, Formula: d.Formula, Pool: d.Target(), State: city.AutomationState(s.State), Reason: s.Reason,
			Next: shown(s.Until), Failures: s.Memory.Failures, Last: w.last[d.Scoped()],
		}
		if s.Run != nil {
			v.Since = shown(s.Since)
		}
		for _, p := range d.Warnings {
			v.Warnings = append(v.Warnings, p.String())
		}
		out = append(out, v)
	}
	for _, b := range w.catalog.Broken {
		out = append(out, city.Automation{Name: b.Scoped(), Rig: b.Rig, Source: within(m.conf.dir, b.Source), Layer: b.Layer.Title, State: city.AutomationBroken,
			Reason: b.Problems.Error(), Last: w.last[b.Scoped()]})
	}
	slices.SortFunc(out, func(a, b city.Automation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func gateWord(d automation.Definition) string {
	switch d.Gate {
	case automation.Cooldown:
		return d.Interval.String()
	case automation.Cron:
		return d.Schedule.String()
	case automation.Condition:
		return d.Check
	case automation.Event:
		return d.On
	}
	return ""
}

// within is a path relative to a folder that it is below.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
