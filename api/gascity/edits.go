package gascity

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"gcity/api/openapi"
	"gcity/city"
)

func editOperations() []Operation {
	return []Operation{
		{suspension("/v0/agent/{agent}", "Suspend or resume an agent or a pool"), patchAgent},
		{suspension("/v0/rig/{rig}", "Suspend or resume a rig"), patchRig},
		{openapi.Post("/v0/rigs", "Declare a rig in city.toml", city.NewRig{},
			city.Receipt{}).Requires("name path"), addRig},
		{openapi.Operation{
			Method: "DELETE", Path: "/v0/rig/{rig}", Response: city.Receipt{},
			Summary: "Remove a rig without agents from city.toml; its folder stays",
		}, removeRig},
		unsupported("POST", "/v0/agents", "add an [[agents]] table to city.toml"),
		unsupported("DELETE", "/v0/agent/{agent}", "remove the [[agents]] table from city.toml"),
	}
}

func providerOperations() []Operation {
	return []Operation{
		unsupported("POST", "/v0/providers", "add a [providers.NAME] table to city.toml"),
		unsupported("PATCH", "/v0/provider/{provider}",
			"edit the [providers.NAME] table in city.toml"),
		unsupported("DELETE", "/v0/provider/{provider}",
			"remove the [providers.NAME] table from city.toml"),
	}
}

func unsupported(method, path, instead string) Operation {
	return Operation{openapi.Operation{Method: method, Path: path, Unsupported: true,
		Summary: "Not implemented (501): " + instead},
		func(context.Context, *Request) (any, error) {
			return nil, city.Errorf(city.Unsupported, "the API does not support this request; "+
				"instead, %s", instead)
		}}
}

// onlySuspended returns an error if the body contains any field other than suspended.
func (r *Request) onlySuspended(place string) error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(r.Body, &fields) == nil {
		delete(fields, "suspended")
	}
	if len(fields) > 0 {
		names := slices.Sorted(maps.Keys(fields))
		return city.Errorf(city.Unsupported, "the API can change only the `suspended` field, not "+
			"%.60q: edit %s in city.toml", names[0], place)
	}
	return nil
}

func patchAgent(ctx context.Context, r *Request) (any, error) {
	if err := r.onlySuspended("the [[agents]] table"); err != nil {
		return nil, err
	}
	return r.change(ctx, city.Suspend{Agent: r.Target}, city.Resume{Agent: r.Target})
}

func patchRig(ctx context.Context, r *Request) (any, error) {
	if err := r.onlySuspended("the [[rigs]] table"); err != nil {
		return nil, err
	}
	return r.change(ctx, city.SuspendRig{Rig: r.Target}, city.ResumeRig{Rig: r.Target})
}

func (r *Request) rigEditor(ctx context.Context) (city.RigEditor, error) {
	if city.PeerOf(ctx).Tenant {
		return nil, city.Errorf(city.Forbidden, "a tenant cannot add or remove rigs, because "+
			"a folder could belong to another tenant; ask the owner of the machine to run `gcity "+
			"rig add DIR`")
	}
	if c, ok := r.City.(city.RigEditor); ok {
		return c, nil
	}
	return nil, city.Errorf(city.Unsupported, "the API cannot add or remove rigs in this city; "+
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
