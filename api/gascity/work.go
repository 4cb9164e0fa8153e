package gascity

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"gcity/api/openapi"
	"gcity/beads"
	"gcity/city"
)

// Filter lists the query parameters of requests that list work.
const Filter = "index wait limit cursor rig store" +
	" status label not_label type not_type assignee parent ref ready assigned closed_since" +
	" created_until"

func workOperations() []Operation {
	return []Operation{
		{openapi.List("/v0/beads/ready", "Ready work: open, with all needs met", Filter,
			beads.Bead{}), ready},
		{openapi.Post("/v0/bead/{bead}/reopen", "Reopen closed work", nil, city.Receipt{}), reopen},
		{openapi.Post("/v0/bead/{bead}/assign", "Assign work to an agent", assignment{},
			city.Receipt{}).Requires("assignee"), assign},
		{openapi.Get("/v0/bead/{bead}/deps", "The children and needs of a bead", "index wait",
			dependencies{}), deps},
	}
}

// CreatedBead is the response to a request to create a bead.
type CreatedBead struct {
	city.Receipt
	beads.Bead
}

func ready(ctx context.Context, r *Request) (any, error) {
	q, err := r.Select()
	if err != nil {
		return nil, err
	}
	q.Ready = true
	if q.Type == "" {
		q.NotType = append(q.NotType, city.NotWork()...)
	}
	return r.list(ctx, q)
}

func (r *Request) list(ctx context.Context, q beads.Query) (any, error) {
	return Beads(ctx, r.City, r.Snapshot, r.Query, q)
}

// CityStore is the value of the query parameter "store" that selects the city's store without those of its rigs.
const CityStore = "city"

// Beads lists the work that matches a query. The query parameters rig and store select one store.
func Beads(ctx context.Context, c city.Control, snap *city.Snapshot, v url.Values,
	q beads.Query) (List[beads.Bead], error) {
	found, err := foundBeads(ctx, c, snap, v, q)
	page := ListOf(found)
	if n := len(found); n > 0 && n == q.MaxResults() {
		page.Next = found[n-1].ID
	}
	return page, err
}

func foundBeads(ctx context.Context, c city.Control, snap *city.Snapshot, v url.Values,
	q beads.Query) ([]beads.Bead, error) {
	rig := v.Get("rig")
	switch store := v.Get("store"); {
	case store == "" && rig == "":
		found, err := c.Beads(ctx, q)
		return found, city.WorkError(err)
	case store == CityStore && rig == "":
		return city.BeadsIn(ctx, c, "", q)
	case store != "":
		return nil, city.Errorf(city.Invalid, "invalid store=%q: use store=%s, or rig=NAME "+
			"without store", store, CityStore)
	}
	if err := checkRig(snap, rig); err != nil {
		return nil, err
	}
	return city.BeadsIn(ctx, c, rig, q)
}

func reopen(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	b, err := city.GetBead(ctx, r.City, r.Target)
	if err != nil {
		return nil, err
	}
	if b.Status != beads.StatusClosed {
		return nil, city.Errorf(city.Conflict, "%s is not closed: its status is %s", b.ID, b.Status)
	}
	open := beads.StatusOpen
	return r.Do(ctx, city.UpdateBead{ID: b.ID, Patch: beads.Patch{Status: &open, IfRev: &b.Rev}})
}

type assignment struct {
	Assignee *string `json:"assignee"` // "" = no assignee
}

func assign(ctx context.Context, r *Request) (any, error) {
	var in assignment
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.Assignee == nil {
		return nil, city.Errorf(city.Invalid,
			`assign requires {"assignee": "NAME"}; "" unassigns the work`)
	}
	return r.Do(ctx, city.UpdateBead{ID: r.Target, Patch: beads.Patch{Assignee: in.Assignee}})
}

type dependencies struct {
	Children []beads.Bead `json:"children"`
	Needs    []beads.Bead `json:"needs"` // without beads that no longer exist
}

func deps(ctx context.Context, r *Request) (any, error) {
	b, err := city.GetBead(ctx, r.City, r.Target)
	if err != nil {
		return nil, err
	}
	a := dependencies{Needs: []beads.Bead{}}
	if a.Children, err = r.children(ctx, b.ID); err != nil {
		return nil, err
	}
	for _, id := range b.Needs {
		need, err := city.GetBead(ctx, r.City, id)
		if err == nil {
			a.Needs = append(a.Needs, need)
		} else if !city.HasCode(err, city.NotFound) {
			return nil, err
		}
	}
	return a, nil
}

// children returns the children of a bead, oldest first. The result is never nil.
func (r *Request) children(ctx context.Context, id string) ([]beads.Bead, error) {
	found, err := r.City.Beads(ctx, beads.Query{Parent: id, Limit: -1})
	if err != nil {
		return nil, city.WorkError(err)
	}
	slices.Reverse(found)
	return append([]beads.Bead{}, found...), nil
}

// NewBead is the body of a request to create a bead.
type NewBead struct {
	beads.Bead
	Rig string `json:"rig"` // "" = the city's store
}

// TakeRig removes the field rig from a body. It returns the rig from that field or, if it is missing, from the query.
func TakeRig(b []byte, queried string) (rig, rest []byte, err error) {
	var fields map[string]json.RawMessage
	// a rig that is not a string is rejected below
	if json.Unmarshal(b, &fields) != nil || fields["rig"] == nil {
		rig, err = json.Marshal(queried)
		return rig, b, err
	}
	var named string
	if err := json.Unmarshal(fields["rig"], &named); err != nil {
		return nil, nil, city.Errorf(city.Invalid, "rig must be a string: the name of a rig")
	}
	if queried != "" && named != queried {
		return nil, nil, city.Errorf(city.Invalid, "the request names two rigs: %.60q in the "+
			"body, %.60q in the query", named, queried)
	}
	rig = fields["rig"]
	delete(fields, "rig")
	rest, err = json.Marshal(fields)
	return rig, rest, err
}
