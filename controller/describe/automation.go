// Package describe converts automation definitions to the automations of a snapshot.
package describe

import (
	"path/filepath"
	"strings"

	"gcity/automation"
	"gcity/city"
	"gcity/internal/redact"
	"gcity/internal/toml"
)

// Automation describes an automation of the city in dir, without its runs.
func Automation(dir string, d automation.Definition) city.Automation {
	v := city.Automation{
		Name: d.Scoped(), Description: d.Description, Rig: d.Rig, Source: within(dir, d.Source),
		Layer: d.Layer.Title,
		Gate:  string(d.Gate), When: redact.Text(d.GateSetting()), Exec: redact.Text(d.Exec),
		Formula: d.Formula, Pool: d.Target(), State: city.AutomationIdle,
		Timeout: d.Timeout, Retry: d.Retry, Overlap: string(d.Overlap),
		WhileSuspended: d.WhileSuspended, Disabled: d.Off != "",
	}
	for _, p := range d.Warnings {
		v.Warnings = append(v.Warnings, reasons(dir, toml.Problems{p}))
	}
	return v
}

// Broken describes an automation with an invalid file.
func Broken(dir string, b automation.Broken) city.Automation {
	return city.Automation{
		Name: b.Scoped(), Rig: b.Rig, Source: within(dir, b.Source), Layer: b.Layer.Title,
		State:  city.AutomationBroken,
		Reason: reasons(dir, b.Problems),
	}
}

func reasons(dir string, all toml.Problems) string {
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = strings.ReplaceAll(p.Reason(), dir+"/", "")
	}
	return strings.Join(lines, "\n")
}

func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
