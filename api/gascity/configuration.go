package gascity

import (
	"context"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
)

func configurationOperations() []Operation {
	return []Operation{
		{openapi.Get("/v0/config/validate", "Check the configuration on disk; this changes nothing",
			"index wait", city.Validation{}), validateConfig},
		{openapi.Get("/v0/config/explain", "The effective values of all agents, pools and rigs, "+
			"and their sources", "index wait", explanations{}), explainConfig},
		{openapi.List("/v0/formulas", "The formulas of the city or a rig, and the errors in "+
			"invalid formulas", "index wait limit cursor rig", city.Formula{}), formulas},
	}
}

func (r *Request) catalogue() (city.Catalogued, error) {
	if c, ok := r.City.(city.Catalogued); ok {
		return c, nil
	}
	return nil, city.Errorf(city.Unavailable, "this city does not show its files over the API; "+
		"run `gcity config check` or `gcity formula list` in its folder")
}

func validateConfig(ctx context.Context, r *Request) (any, error) {
	c, err := r.catalogue()
	if err != nil {
		return nil, err
	}
	return c.Validate(ctx)
}

type explanations struct {
	Revision string        `json:"revision"`
	Agents   []explanation `json:"agents"` // agents and pools
	Rigs     []explanation `json:"rigs"`
}

// explanation contains effective values as text, with *** in place of secrets.
type explanation struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func explainConfig(ctx context.Context, r *Request) (any, error) {
	c, ok := r.City.(city.Configured)
	if !ok {
		return nil, city.Errorf(city.Unavailable, "this city does not show its configuration "+
			"over the API; run `gcity config show`")
	}
	var agents, rigs []string
	for i := range r.Snapshot.Agents {
		if r.Snapshot.Agents[i].Pool == "" {
			agents = append(agents, r.Snapshot.Agents[i].Name)
		}
	}
	for i := range r.Snapshot.Pools {
		agents = append(agents, r.Snapshot.Pools[i].Name)
	}
	for i := range r.Snapshot.Rigs {
		rigs = append(rigs, r.Snapshot.Rigs[i].Name)
	}
	a := explanations{Revision: r.Snapshot.Config.Revision}
	var err error
	if a.Agents, err = explain(ctx, c, agents); err == nil {
		a.Rigs, err = explain(ctx, c, rigs)
	}
	return a, err
}

func explain(ctx context.Context, c city.Configured, names []string) ([]explanation, error) {
	out := []explanation{}
	slices.Sort(names)
	for _, name := range names {
		text, err := c.Explain(ctx, name)
		if city.HasCode(err, city.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, explanation{Name: name, Text: strings.TrimSpace(text)})
	}
	return out, nil
}

func formulas(ctx context.Context, r *Request) (any, error) {
	c, err := r.catalogue()
	if err != nil {
		return nil, err
	}
	all, err := c.Formulas(ctx, r.Query.Get("rig"))
	if err != nil {
		return nil, err
	}
	return paged(r, all, func(f *city.Formula) string { return f.Name })
}
