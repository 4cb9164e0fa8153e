package folder

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/config"
	"gcity/formula"
	"gcity/internal/deadline"
)

// FindFormula reads the named formula. all must contain the formulas that apply in the rig.
func FindFormula(c *config.City, name, rig string, all []formula.Source) (*formula.Formula, error) {
	f, err := formula.Find(name, all)
	if err == nil || slices.ContainsFunc(all,
		func(s formula.Source) bool { return s.Name == name }) {
		return f, err
	}
	var has []string
	for i := range c.Rigs {
		theirs := slices.DeleteFunc(c.Layers(),
			func(l formula.Layer) bool { return l.Rig != c.Rigs[i].Name })
		found, lookErr := formula.Resolve(theirs)
		if lookErr == nil && c.Rigs[i].Name != rig &&
			slices.ContainsFunc(found, func(s formula.Source) bool { return s.Name == name }) {
			has = append(has, c.Rigs[i].Name)
		}
	}
	if len(has) == 0 {
		return nil, err
	}
	where := "the city"
	if rig != "" {
		where = "rig " + rig
	}
	return nil, fmt.Errorf("%s has no formula %q, but the formula exists in %s: add --rig %s",
		where, name, "rig "+
			strings.Join(has, ", rig "), has[0])
}

// FormulaProblems returns a line for each default_sling_formula that is missing or invalid.
func FormulaProblems(ctx context.Context, c *config.City) []string {
	troubles, ok := deadline.Within(ctx, ReadTimeout,
		func() []string { return formulaProblems(c) })
	if !ok {
		return []string{"cannot check whether each default_sling_formula exists: a formula " +
			"folder does not respond"}
	}
	return troubles
}

func formulaProblems(c *config.City) []string {
	type trouble struct {
		text string
		of   []string
	}
	var all []trouble
	found, failed := map[string][]formula.Source{}, map[string]error{}
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.DefaultSlingFormula == "" {
			continue
		}
		if _, looked := found[a.Rig]; !looked {
			found[a.Rig], failed[a.Rig] = formulasFor(c, a.Rig)
		}
		err := failed[a.Rig]
		if err == nil {
			_, err = formula.Find(a.DefaultSlingFormula, found[a.Rig])
		}
		if err == nil {
			continue
		}
		text := config.Problem{Place: a.Origins["default_sling_formula"],
			Key: "agents.default_sling_formula",
			Message: strings.ReplaceAll(strings.ReplaceAll(err.Error(), c.Path+"/", ""), "\n",
				" · ")}.String()
		at := slices.IndexFunc(all, func(t trouble) bool { return t.text == text })
		if at < 0 {
			at, all = len(all), append(all, trouble{text: text})
		}
		all[at].of = append(all[at].of, a.Qualified())
	}
	out := make([]string, len(all))
	for i, t := range all {
		out[i] = t.text
		if len(t.of) > 1 {
			out[i] += fmt.Sprintf(" (set for %s)", strings.Join(t.of, ", "))
		}
	}
	return out
}

// formulasFor returns a rig's formulas, including the built-in ones, which are not on disk before their first use. rig
// is "" for the city.
func formulasFor(c *config.City, rig string) ([]formula.Source, error) {
	layers := slices.DeleteFunc(c.Layers(),
		func(l formula.Layer) bool { return l.Rig != "" && l.Rig != rig })
	all, err := formula.Resolve(layers)
	return formula.WithBuiltIn(all), err
}
