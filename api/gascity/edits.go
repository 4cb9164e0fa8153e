package gascity

import (
	"context"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
)

// editOperations are the changes of the configuration that Gas City's clients ask for. gcity changes whether an
// agent or a rig is suspended. It answers all others with the way that there is.
func editOperations() []Operation {
	ops := []Operation{
		{openapi.Operation{
			Method: "PATCH", Path: "/v0/agent/{agent}", Body: cityChange{}, Answer: city.Receipt{},
			Summary: "Suspend or resume an agent or a pool",
		}, patchAgent, true},
		{openapi.Operation{
			Method: "PATCH", Path: "/v0/rig/{rig}", Body: cityChange{}, Answer: city.Receipt{},
			Summary: "Suspend or resume a rig",
		}, patchRig, true},
	}
	for _, o := range []struct{ method, path, instead string }{
		{"POST", "/v0/agents", "add an [[agents]] table to city.toml"},
		{"DELETE", "/v0/agent/{agent}", "remove the [[agents]] table from city.toml"},
		{"POST", "/v0/rigs", "run `gcity rig add DIR`"},
		{"DELETE", "/v0/rig/{rig}", "run `gcity rig remove NAME`"},
		{"POST", "/v0/providers", "add a [providers.NAME] table to city.toml"},
		{"PATCH", "/v0/provider/{provider}", "edit the [providers.NAME] table in city.toml"},
		{"DELETE", "/v0/provider/{provider}", "remove the [providers.NAME] table from city.toml"},
	} {
		ops = append(ops, Operation{openapi.Operation{
			Method: o.method, Path: o.path, Answer: city.Receipt{},
			Summary: "Not implemented (501): " + o.instead,
		}, func(context.Context, *Request) (any, error) {
			return nil, refused(city.Unsupported, "the API does not do this: %s", o.instead)
		}, !strings.HasPrefix(o.path, "/v0/provider")})
	}
	return ops
}

// suspended reads whether a client suspends or resumes.
func (r *Request) suspended() (bool, error) {
	var in cityChange
	if err := r.decode(&in); err != nil {
		return false, err
	}
	if in.Suspended == nil {
		return false, refused(city.Invalid,
			`nothing to change: send {"suspended": true} or {"suspended": false}`)
	}
	return *in.Suspended, nil
}

// patchAgent suspends or resumes an agent or a pool.
func patchAgent(ctx context.Context, r *Request) (any, error) {
	on, err := r.suspended()
	switch {
	case err != nil:
		return nil, err
	case on:
		return r.Do(ctx, city.Suspend{Agent: r.Target})
	}
	return r.Do(ctx, city.Resume{Agent: r.Target})
}

// patchRig suspends or resumes a rig.
func patchRig(ctx context.Context, r *Request) (any, error) {
	on, err := r.suspended()
	switch {
	case err != nil:
		return nil, err
	case on:
		return r.Do(ctx, city.SuspendRig{Rig: r.Target})
	}
	return r.Do(ctx, city.ResumeRig{Rig: r.Target})
}
