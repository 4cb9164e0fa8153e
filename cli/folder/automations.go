package folder

import (
	"context"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/config"
	"gcity/controller/describe"
	"gcity/formula"
	"gcity/internal/disk"
)

// ScanFor returns a configuration's automations and the problems with their folders.
func ScanFor(s *automation.Scanner, c *config.City, now time.Time) (automation.Catalog, []string) {
	o := c.AutomationOptions()
	o.BuiltIn = true                 // they might not be on disk
	o.Patience = ReadTimeout * 2 / 3 // leaves time to read the run records within ReadTimeout
	found := s.Scan(c.Layers(), o, now)
	var troubles []string
	for _, p := range found.Problems {
		troubles = append(troubles, p.String())
	}
	return found, troubles
}

// Warnings returns the warnings about a valid configuration, and the problems with its automations and formulas.
func Warnings(ctx context.Context, c *config.City, now time.Time) []string {
	return slices.Concat(ProblemLines(c.Warnings), AutomationProblems(c, now),
		FormulaProblems(ctx, c))
}

// AutomationProblems returns errors and warnings about a configuration's automations, errors first.
func AutomationProblems(c *config.City, now time.Time) []string {
	found, troubles := ScanFor(&automation.Scanner{}, c, now)
	for _, b := range found.Broken {
		for line := range strings.SplitSeq(describe.Broken(c.Path, b).Reason, "\n") {
			troubles = append(troubles, "automation "+b.Scoped()+" is broken: "+line)
		}
	}
	for _, d := range found.Automations {
		for _, w := range describe.Automation(c.Path, d).Warnings {
			troubles = append(troubles, "automation "+d.Scoped()+": "+w)
		}
	}
	for _, w := range found.Warnings {
		troubles = append(troubles, w.String())
	}
	for i := range troubles {
		troubles[i] = strings.ReplaceAll(troubles[i], c.Path+"/", "")
	}
	return troubles
}

// LayersOf returns the folders of a city's formulas and automations. It writes the built-in ones to the first folder.
func LayersOf(c *config.City) ([]formula.Layer, error) {
	if err := disk.MakePrivate(StateDir(c.Path)); err != nil {
		return nil, err
	}
	own, err := formula.System(StateDir(c.Path))
	if err != nil {
		return nil, err
	}
	return append([]formula.Layer{own}, c.Layers()...), nil
}
