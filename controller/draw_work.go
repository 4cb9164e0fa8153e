package controller

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/city"
)

// drawAutomations shows all automations, broken ones too, in the order of their names.
func (m *machine) drawAutomations() []city.Automation {
	w := &m.work
	out := []city.Automation{}
	for _, s := range w.runs.Status() {
		v := Describe(m.conf.dir, s.Definition)
		v.State, v.Reason, v.Next, v.Failures = city.AutomationState(s.State), s.Reason, shown(s.Until), s.Memory.Failures
		if s.Run != nil {
			v.Since = shown(s.Since)
		}
		out = append(out, v)
	}
	for _, b := range w.catalog.Broken {
		out = append(out, DescribeBroken(m.conf.dir, b))
	}
	for i := range out {
		out[i].Last = w.last[out[i].Name]
	}
	slices.SortFunc(out, func(a, b city.Automation) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Describe shows an automation of the city in dir as it is written, as if its gate were closed.
func Describe(dir string, d automation.Definition) city.Automation {
	v := city.Automation{
		Name: d.Scoped(), Description: d.Description, Rig: d.Rig, Source: within(dir, d.Source), Layer: d.Layer.Title,
		Gate: string(d.Gate), When: gateWord(d), Exec: d.Exec, Formula: d.Formula, Pool: d.Target(), State: city.AutomationIdle,
	}
	for _, p := range d.Warnings {
		v.Warnings = append(v.Warnings, p.String())
	}
	return v
}

// DescribeBroken shows an automation whose file cannot be used.
func DescribeBroken(dir string, b automation.Broken) city.Automation {
	return city.Automation{
		Name: b.Scoped(), Rig: b.Rig, Source: within(dir, b.Source), Layer: b.Layer.Title, State: city.AutomationBroken,
		Reason: strings.ReplaceAll(b.Problems.Error(), dir+"/", ""),
	}
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
