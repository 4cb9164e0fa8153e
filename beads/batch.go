package beads

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Batch is a list of beads to create in one operation. A Batcher calls NewBatch, checks ExternalLinks and GivenIDs, and
// then calls AssignIDs.
type Batch struct {
	beads []Bead
	names map[string]int // index into beads, by "$name" or given ID
}

// NewBatch checks beads that will be created together.
func NewBatch(all []Bead) (*Batch, error) {
	x := &Batch{beads: make([]Bead, len(all)), names: map[string]int{}}
	for i, b := range all {
		var err error
		if x.beads[i], err = x.take(i, b); err != nil {
			return nil, named(err, x.label(i, len(all)))
		}
	}
	for i, b := range x.beads {
		for _, id := range links(b) {
			if j, ok := x.names[id]; !ok && strings.HasPrefix(id, "$") {
				return nil, &Invalid{x.label(i, len(all)), "link " + quote(id),
					"names a bead that is not in the batch"}
			} else if ok && i == j {
				return nil, &Invalid{x.label(i, len(all)), "link " + quote(id),
					"names the bead itself"}
			}
		}
	}
	for _, next := range []func(Bead) []string{func(b Bead) []string { return b.Needs }, parentOf} {
		circle := Cycle(slices.Sorted(maps.Keys(x.names)), func(id string) []string {
			if i, ok := x.names[id]; ok {
				return next(x.beads[i])
			}
			return nil
		})
		if circle != nil {
			return nil, &Invalid{"the batch", "links", "form a cycle: " + arrows(circle)}
		}
	}
	return x, nil
}

func (x *Batch) label(i, n int) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf("bead %d of %d", i+1, n)
}

func (x *Batch) take(i int, b Bead) (Bead, error) {
	plain := b.Clone()
	if name, ok := strings.CutPrefix(b.ID, "$"); ok {
		plain.ID = ""
		if err := checkID("id", name); err != nil {
			return Bead{}, err
		}
	}
	plain.ParentID = strings.TrimPrefix(b.ParentID, "$")
	for k, id := range plain.Needs {
		plain.Needs[k] = strings.TrimPrefix(id, "$")
	}
	ready, err := Prepare(plain, time.Unix(0, 0))
	if err != nil {
		return Bead{}, err
	}
	ready.ID, ready.ParentID, ready.Needs = b.ID, b.ParentID, words(b.Needs)
	if b.ID != "" {
		if _, twice := x.names[b.ID]; twice {
			return Bead{}, invalid("id", "%s is used by another bead in the batch", quote(b.ID))
		}
		x.names[b.ID] = i
	}
	return ready, nil
}

func parentOf(b Bead) []string {
	if b.ParentID == "" {
		return nil
	}
	return []string{b.ParentID}
}

func links(b Bead) []string { return append(parentOf(b), b.Needs...) }

// Cycle follows the links from each of the given IDs. It returns the first cycle that it finds, as a path that ends
// where it starts (a, b, a), or nil.
func Cycle(ids []string, next func(id string) []string) []string {
	const open, done = 1, 2
	state := map[string]int{}
	var path []string
	var walk func(id string) bool
	walk = func(id string) bool {
		path = append(path, id)
		if state[id] == open {
			return true
		}
		state[id] = open
		for _, n := range next(id) {
			if state[n] != done && walk(n) {
				return true
			}
		}
		state[id] = done
		path = path[:len(path)-1]
		return false
	}
	for _, id := range ids {
		if state[id] != done && walk(id) {
			return path[slices.Index(path, path[len(path)-1]):]
		}
	}
	return nil
}

func arrows(path []string) string { return strings.Join(path, " → ") }

// AddedLinks returns the IDs in the links that a change adds. The store must check that they exist.
func AddedLinks(old, changed Bead) []string {
	had := links(old)
	if old.ParentID != changed.ParentID {
		had = old.Needs
	}
	return slices.DeleteFunc(links(changed), func(id string) bool {
		return slices.Contains(had, id)
	})
}

// LinksChanged reports whether a change could have formed a cycle.
func LinksChanged(old, changed Bead) bool {
	return old.ParentID != changed.ParentID || !slices.Equal(old.Needs, changed.Needs)
}

// UnknownLink returns the error for a link to a bead that does not exist in the store.
func UnknownLink(id, link string) error {
	return &Invalid{"bead " + id, "link " + quote(link), "names a bead that does not exist"}
}

// CycleError returns the error for a cycle that Cycle has found. The error names the first changed bead in the cycle.
func CycleError(changed []string, field string, path []string) error {
	id := path[0]
	if i := slices.IndexFunc(changed, func(id string) bool {
		return slices.Contains(path, id)
	}); i >= 0 {
		id = changed[i]
	}
	return &Invalid{"bead " + id, field, "would form a cycle: " + arrows(path)}
}

// Len returns the number of beads in the batch.
func (x *Batch) Len() int { return len(x.beads) }

// ExternalLinks returns the linked IDs that are not in the batch. The store must check that they exist.
func (x *Batch) ExternalLinks() []string {
	var out []string
	seen := map[string]bool{}
	for _, b := range x.beads {
		for _, id := range links(b) {
			if _, own := x.names[id]; !own && !seen[id] {
				seen[id] = true
				out = append(out, id)
			}
		}
	}
	return out
}

// Unknown returns the error for a linked ID that does not exist in the store.
func (x *Batch) Unknown(id string) error {
	for i, b := range x.beads {
		if slices.Contains(links(b), id) {
			return &Invalid{x.label(i, len(x.beads)), "link " + quote(id),
				"names a bead that does not exist"}
		}
	}
	return nil
}

// GivenIDs returns the IDs that the caller chose. The store must check that they are not in use.
func (x *Batch) GivenIDs() []string {
	var out []string
	for _, b := range x.beads {
		if b.ID != "" && b.ID[0] != '$' {
			out = append(out, b.ID)
		}
	}
	return out
}

// AssignIDs assigns the missing IDs and the times, and replaces "$name" links. The caller owns the result.
func (x *Batch) AssignIDs(now time.Time, next func() string) []Bead {
	out := make([]Bead, len(x.beads))
	ids := map[string]string{}
	for i, b := range x.beads {
		at := normalTime(now.Add(time.Duration(i)))
		b.CreatedAt, b.UpdatedAt = at, at
		if b.Status == StatusClosed {
			b.ClosedAt = &at
		}
		out[i] = b.Clone()
		if b.ID == "" || b.ID[0] == '$' {
			out[i].ID = next()
		}
		if b.ID != "" {
			ids[b.ID] = out[i].ID
		}
	}
	real := func(id string) string {
		if r, ok := ids[id]; ok {
			return r
		}
		return id
	}
	for i := range out {
		out[i].ParentID = real(out[i].ParentID)
		for k, id := range out[i].Needs {
			out[i].Needs[k] = real(id)
		}
	}
	return out
}

// CreateOne implements Store.Create with CreateAll. It rejects an ID "$name", which is valid only within a batch.
func CreateOne(ctx context.Context, s Batcher, b Bead) (Bead, error) {
	if strings.HasPrefix(b.ID, "$") {
		return Bead{}, CheckID(b.ID)
	}
	made, err := s.CreateAll(ctx, []Bead{b})
	if err != nil {
		return Bead{}, err
	}
	return made[0], nil
}
