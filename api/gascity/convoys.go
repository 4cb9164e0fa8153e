package gascity

import (
	"context"
	"fmt"

	"gcity/api/openapi"
	"gcity/beads"
	"gcity/city"
	"gcity/describe"
	"gcity/internal/suggest"
)

func convoyOperations() []Operation {
	return []Operation{
		{openapi.List("/v0/convoys", "The convoys, newest first", Filter, beads.Bead{}), convoys},
		{openapi.Post("/v0/convoys", "Create a convoy of beads", newConvoy{},
			CreatedBead{}).Requires("title"), createConvoy},
		{openapi.Get("/v0/convoy/{bead}", "A convoy, its beads, and how many of them are closed",
			"index wait", convoy{}), showConvoy},
		{openapi.Post("/v0/convoy/{bead}/add", "Add beads to a convoy", convoyItems{},
			convoy{}).Requires("items"), addToConvoy},
		{openapi.Post("/v0/convoy/{bead}/close", "Close a convoy; its beads stay as they are", nil,
			city.Receipt{}), closeConvoy},
	}
}

type convoy struct {
	Convoy   beads.Bead    `json:"convoy"`
	Children []beads.Bead  `json:"children"`
	Progress city.Progress `json:"progress"`
}

type newConvoy struct {
	Title string `json:"title"`
	// the convoy is created in the store of this rig; "" = the store of the first item or, without items, of the city
	Rig   string   `json:"rig"`
	Items []string `json:"items"` // IDs of beads
}

type convoyItems struct {
	Items []string `json:"items"`
}

func convoys(ctx context.Context, r *Request) (any, error) {
	q, err := r.Select()
	if err != nil {
		return nil, err
	}
	q.Type = city.ConvoyType
	return r.list(ctx, q)
}

func showConvoy(ctx context.Context, r *Request) (any, error) {
	b, err := r.convoy(ctx)
	if err != nil {
		return nil, err
	}
	all, err := r.children(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	return convoy{Convoy: b.Bead, Children: all, Progress: city.ProgressOf(all)}, nil
}

func (r *Request) convoy(ctx context.Context) (city.Located, error) {
	b, err := city.Locate(ctx, r.City, r.Target)
	if err == nil && b.Type != city.ConvoyType {
		err = city.Missing(suggest.NoSuch(suggest.Convoy, b.ID).Then("that bead has type " +
			b.Type))
	}
	return b, err
}

func createConvoy(ctx context.Context, r *Request) (any, error) {
	var in newConvoy
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.Title == "" {
		return nil, city.Errorf(city.Invalid,
			`a convoy requires a title: {"title": "…", "items": ["ID", …]}`)
	}
	items, err := r.joinable(ctx, nil, in.Items)
	if err != nil {
		return nil, err
	}
	rig, err := r.storeRig(in.Rig, items)
	if err != nil {
		return nil, err
	}
	made, err := r.Do(ctx, city.CreateBead{Rig: rig, Bead: beads.Bead{Title: in.Title,
		Type: city.ConvoyType}})
	if err != nil {
		return nil, err
	}
	if made.Bead == nil {
		return nil, city.Errorf(city.Unavailable, "the convoy was created, but its ID is "+
			"unknown; GET /v0/convoys lists it")
	}
	if err := r.join(ctx, made.Bead.ID, items); err != nil {
		return nil, err
	}
	return CreatedBead{Receipt: made, Bead: *made.Bead}, nil
}

// storeRig determines the store for a new convoy. It returns the store's rig, or "" for the city's store.
func (r *Request) storeRig(named string, items []city.Located) (string, error) {
	rig := named
	if len(items) > 0 {
		rig = items[0].Rig
	}
	if named == "" {
		return rig, nil
	}
	if err := checkRig(r.Snapshot, named); err != nil {
		return "", err
	}
	if rig != named {
		return "", city.Errorf(city.Invalid, "%s is not in the store of rig %s: a convoy and its "+
			"beads must be in the same store", items[0].ID, named)
	}
	return rig, nil
}

func addToConvoy(ctx context.Context, r *Request) (any, error) {
	var in convoyItems
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if len(in.Items) == 0 {
		return nil, city.Errorf(city.Invalid, `add requires {"items": ["ID", …]}`)
	}
	b, err := r.convoy(ctx)
	if err != nil {
		return nil, err
	}
	if b.Status == beads.StatusClosed {
		return nil, city.Errorf(city.Conflict, "the convoy %s is closed; use POST "+
			"/v0/bead/%[1]s/reopen to reopen it", b.ID)
	}
	items, err := r.joinable(ctx, &b, in.Items)
	if err != nil {
		return nil, err
	}
	if err := r.join(ctx, b.ID, items); err != nil {
		return nil, err
	}
	return showConvoy(ctx, r)
}

// joinable returns the beads with these IDs. It fails if one of them cannot be added to the convoy. convoy is nil for a
// new convoy.
func (r *Request) joinable(ctx context.Context, convoy *city.Located, ids []string) (
	[]city.Located, error) {
	var out []city.Located
	for _, id := range ids {
		b, err := city.Locate(ctx, r.City, id)
		if err != nil {
			return nil, err
		}
		sibling := convoy
		if len(out) > 0 {
			sibling = &out[0]
		}
		switch {
		case b.Type == city.ConvoyType:
			return nil, city.Errorf(city.Invalid, "%s", describe.ConvoyItself(id))
		case b.ParentID != "" && (convoy == nil || b.ParentID != convoy.ID):
			return nil, city.Errorf(city.Conflict, "%s is already a step of %s: add the parent "+
				"to the convoy, or set the step's parent_id to \"\" first", id, b.ParentID)
		case sibling != nil && b.Rig != sibling.Rig:
			return nil, city.Errorf(city.Invalid, "%s is in a different store than %s: the beads "+
				"of a convoy must be in the same store", id, sibling.ID)
		}
		out = append(out, b)
	}
	return out, nil
}

// join adds closed beads last, because a convoy without open beads closes.
func (r *Request) join(ctx context.Context, convoy string, items []city.Located) error {
	for _, closed := range []bool{false, true} {
		for _, b := range items {
			if (b.Status == beads.StatusClosed) != closed {
				continue
			}
			_, err := r.Do(ctx, city.UpdateBead{ID: b.ID, Patch: beads.Patch{ParentID: &convoy}})
			if err != nil {
				return fmt.Errorf("the convoy %s exists, but %s could not be added to it: %w",
					convoy, b.ID, err)
			}
		}
	}
	return nil
}

// closeConvoy does not close the convoy's beads.
func closeConvoy(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	b, err := r.convoy(ctx)
	if err != nil {
		return nil, err
	}
	return r.Do(ctx, city.UpdateBead{ID: b.ID, Patch: beads.Closing(), Force: true})
}
