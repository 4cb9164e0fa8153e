package gascity

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
)

func editOperations() []Operation {
	ops := []Operation{
		{openapi.Operation{
			Method: "PATCH", Path: "/v0/agent/{agent}", Body: cityChange{},
			Response: city.Receipt{},
			Summary:  "Suspend or resume an agent or a pool",
		}, patchAgent, true},
		{openapi.Operation{
			Method: "PATCH", Path: "/v0/rig/{rig}", Body: cityChange{}, Response: city.Receipt{},
			Summary: "Suspend or resume a rig",
		}, patchRig, true},
		{openapi.Operation{
			Method: "POST", Path: "/v0/rigs", Body: city.NewRig{}, Response: city.Receipt{},
			Summary: "Declare a rig in city.toml",
		}, addRig, true},
		{openapi.Operation{
			Method: "DELETE", Path: "/v0/rig/{rig}", Response: city.Receipt{},
			Summary: "Remove a rig without agents from city.toml; its folder stays",
		}, removeRig, true},
	}
	for _, o := range []struct{ method, path, instead string }{
		{"POST", "/v0/agents", "add an [[agents]] table to city.toml"},
		{"DELETE", "/v0/agent/{agent}", "remove the [[agents]] table from city.toml"},
		{"POST", "/v0/providers", "add a [providers.NAME] table to city.toml"},
		{"PATCH", "/v0/provider/{provider}", "edit the [providers.NAME] table in city.toml"},
		{"DELETE", "/v0/provider/{provider}", "remove the [providers.NAME] table from city.toml"},
	} {
		ops = append(ops, Operation{openapi.Operation{
			Method: o.method, Path: o.path, Response: city.Receipt{},
			Summary: "Not implemented (501): " + o.instead,
		}, func(context.Context, *Request) (any, error) {
			return nil, city.Errorf(city.Unsupported, "the API does not support this: %s",
				o.instead)
		}, !strings.HasPrefix(o.path, "/v0/provider")})
	}
	return ops
}

// suspended parses a body that contains only the field suspended.
func (r *Request) suspended(place string) (bool, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(r.Body, &fields) == nil {
		delete(fields, "suspended")
	}
	if len(fields) > 0 {
		names := slices.Sorted(maps.Keys(fields))
		return false, city.Errorf(city.Unsupported, "the API can change only the `suspended` "+
			"field, not %.60q: edit %s in city.toml", names[0], place)
	}
	var in cityChange
	if err := r.decode(&in); err != nil {
		return false, err
	}
	if in.Suspended == nil {
		return false, city.Errorf(city.Invalid,
			`nothing to change: send {"suspended": true} or {"suspended": false}`)
	}
	return *in.Suspended, nil
}

func patchAgent(ctx context.Context, r *Request) (any, error) {
	on, err := r.suspended("the [[agents]] table")
	switch {
	case err != nil:
		return nil, err
	case on:
		return r.Do(ctx, city.Suspend{Agent: r.Target})
	}
	return r.Do(ctx, city.Resume{Agent: r.Target})
}

func patchRig(ctx context.Context, r *Request) (any, error) {
	on, err := r.suspended("the [[rigs]] table")
	switch {
	case err != nil:
		return nil, err
	case on:
		return r.Do(ctx, city.SuspendRig{Rig: r.Target})
	}
	return r.Do(ctx, city.ResumeRig{Rig: r.Target})
}

func (r *Request) rigEditor(ctx context.Context) (city.RigEditor, error) {
	if city.PeerOf(ctx).Tenant {
		return nil, city.Errorf(city.Forbidden, "a tenant cannot add or remove rigs: a folder "+
			"could belong to another tenant; the owner of the machine can, with `gcity rig add "+
			"DIR`")
	}
	if c, ok := r.City.(city.RigEditor); ok {
		return c, nil
	}
	return nil, city.Errorf(city.Unsupported, "the API cannot add or remove rigs in this city: "+
		"run `gcity rig add DIR` or `gcity rig remove NAME`")
}

func addRig(ctx context.Context, r *Request) (any, error) {
	var in city.NewRig
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	c, err := r.rigEditor(ctx)
	if err != nil {
		return nil, err
	}
	return c.AddRig(ctx, in)
}

func removeRig(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	c, err := r.rigEditor(ctx)
	if err != nil {
		return nil, err
	}
	return c.RemoveRig(ctx, r.Target)
}
