package machine

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/internal/redact"
	"gcity/internal/toml"
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
		v := Describe(m.conf.Dir, s.Definition)
		v.State, v.Reason, v.Next, v.Failures = city.AutomationState(s.State), s.Reason,
			shown(s.Until), s.Memory.Failures
		if s.Run != nil {
			v.Since = shown(s.Since)
		}
		out = append(out, v)
	}
	if !w.swept { // none is in force yet
		for _, d := range w.catalog.Automations {
			v := Describe(m.conf.Dir, d)
			if v.Reason = cmp.Or(m.storeProblem(""), w.unknown()); d.Off != "" {
				v.State, v.Reason = city.AutomationOff, d.Off
			}
			out = append(out, v)
		}
	}
	for _, b := range w.catalog.Broken {
		out = append(out, DescribeBroken(m.conf.Dir, b))
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

// Describe shows an automation of the city in dir as it is written, as if its gate were closed.
func Describe(dir string, d automation.Definition) city.Automation {
	v := city.Automation{
		Name: d.Scoped(), Description: d.Description, Rig: d.Rig, Source: within(dir, d.Source),
		Layer: d.Layer.Title,
		Gate:  string(d.Gate), When: redact.Text(d.Waits()), Exec: redact.Text(d.Exec),
		Formula: d.Formula, Pool: d.Target(), State: city.AutomationIdle,
		Timeout: d.Timeout, Retry: d.Retry, Overlap: string(d.Overlap),
		WhileSuspended: d.WhileSuspended,
	}
	for _, p := range d.Warnings {
		v.Warnings = append(v.Warnings, reasons(dir, toml.Problems{p}))
	}
	return v
}

// DescribeBroken shows an automation whose file cannot be used: each reason with its place behind it.
func DescribeBroken(dir string, b automation.Broken) city.Automation {
	return city.Automation{
		Name: b.Scoped(), Rig: b.Rig, Source: within(dir, b.Source), Layer: b.Layer.Title,
		State:  city.AutomationBroken,
		Reason: reasons(dir, b.Problems),
	}
}

// reasons puts what is wrong before where that is, one a line.
func reasons(dir string, all toml.Problems) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = strings.ReplaceAll(p.Reason(), dir+"/", "")
	}
	return strings.Join(lines, "\n")
}

func shown(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// within is a path relative to a folder that it is below.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
