// Package catalogue handles requests about a city's files. It shows and checks the configuration, lists formulas, and
// adds and removes rigs. If a folder does not respond, only the requests that need it fail, at their deadline.
package catalogue

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/formula"
	"gcity/internal/deadline"
	"gcity/internal/redact"
	"gcity/internal/suggest"
)

const limit = 10 * time.Second

// readsAtOnce limits concurrent reads, because each can occupy a thread until a folder responds.
const readsAtOnce = 8

// Catalogue handles requests about one city's files. It is safe for concurrent use.
type Catalogue struct {
	source   config.Source
	force    func() *config.City
	checks   *deadline.Calls[city.Validation]
	formulas *deadline.Calls[formulaList] // by rig
}

type formulaList struct {
	all []city.Formula
	err error
}

// New returns the catalogue of the city that source configures. force returns the configuration in force.
func New(source config.Source, force func() *config.City) *Catalogue {
	return &Catalogue{source, force, deadline.New[city.Validation](1),
		deadline.New[formulaList](readsAtOnce)}
}

// Config implements city.Configured.
func (c *Catalogue) Config(context.Context) (string, error) { return c.force().TOML(), nil }

// Explain implements city.Configured.
func (c *Catalogue) Explain(_ context.Context, name string) (string, error) {
	text, err := c.force().Explain(name)
	if err != nil {
		return "", city.Errorf(city.NotFound, "%v", err)
	}
	return text, nil
}

// Validate implements city.Catalogued.
func (c *Catalogue) Validate(ctx context.Context) (city.Validation, error) {
	look := func() city.Validation { return validate(c.source) }
	v, ok := c.checks.Do(ctx, "", time.Now(), limit, look)
	if !ok {
		return v, unread(ctx, "the configuration")
	}
	return v, nil
}

func validate(s config.Source) city.Validation {
	v := city.Validation{Errors: []string{}, Warnings: []string{}}
	cfg, err := s.Load()
	refused, known := errors.AsType[*config.Error](err)
	var warnings []config.Problem
	switch {
	case known:
		for _, p := range refused.Problems {
			v.Errors = append(v.Errors, redact.Text(p.String()))
		}
		warnings = refused.Warnings
	case err != nil:
		v.Errors = append(v.Errors, redact.Text(err.Error()))
	default:
		warnings = cfg.Warnings
	}
	for _, p := range warnings {
		v.Warnings = append(v.Warnings, redact.Text(p.String()))
	}
	v.Valid = len(v.Errors) == 0
	return v
}

// Formulas implements city.Catalogued.
func (c *Catalogue) Formulas(ctx context.Context, rig string) ([]city.Formula, error) {
	force := c.force()
	if rig != "" && force.Rig(rig) == nil {
		return nil, city.Missing(suggest.NoSuch(suggest.Rig, rig))
	}
	found, ok := c.formulas.Do(ctx, rig, time.Now(), limit, func() formulaList {
		all, err := formulasOf(filepath.Join(c.source.Dir, ".gc"), rig, force.Layers())
		return formulaList{all, err}
	})
	if !ok {
		return nil, unread(ctx, "a formula folder")
	}
	return found.all, found.err
}

func formulasOf(runtime, rig string, layers []formula.Layer) ([]city.Formula, error) {
	system, err := formula.System(runtime)
	if err != nil {
		return nil, err
	}
	sources, err := formula.Resolve(slices.DeleteFunc(
		append([]formula.Layer{system}, layers...),
		func(l formula.Layer) bool { return l.Rig != "" && l.Rig != rig },
	))
	if err != nil {
		return nil, err
	}
	all := make([]city.Formula, 0, len(sources))
	for _, s := range sources {
		all = append(all, formulaOf(s))
	}
	return all, nil
}

func formulaOf(s formula.Source) city.Formula {
	out := city.Formula{Name: s.Name, Rig: s.Layer.Rig, Layer: s.Layer.Title, Source: s.Path,
		Vars: []city.FormulaVar{}}
	f, err := formula.Load(s.Path)
	if err != nil {
		out.Problem = err.Error()
		return out
	}
	unmet := f.RequiredVars()
	for _, v := range f.Vars {
		out.Vars = append(out.Vars, city.FormulaVar{Name: v.Name, Description: v.Description,
			Required: slices.Contains(unmet, v.Name), Default: v.Default})
	}
	for _, w := range f.Warnings {
		out.Warnings = append(out.Warnings, w.String())
	}
	out.Description, out.Version, out.Steps = f.Description, f.Version, len(f.Steps)
	return out
}

func unread(ctx context.Context, what string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return city.Errorf(city.Unavailable, "%s could not be read within %s, because a folder does "+
		"not respond; try again", what, limit)
}
