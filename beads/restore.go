package beads

import "time"

// Restored counts the restored beads by outcome.
type Restored struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	// beads that were not changed, because the store has a newer version
	Kept int `json:"kept"`
}

// Outcome is the result of restoring one bead.
type Outcome int

const (
	Unchanged Outcome = iota
	Created
	Updated
	Kept
)

// Count adds one outcome.
func (r *Restored) Count(o Outcome) {
	switch o {
	case Created:
		r.Created++
	case Updated:
		r.Updated++
	case Kept:
		r.Kept++
	case Unchanged:
		r.Unchanged++
	}
}

// Merge decides which version of a restored bead to store. The parameter have is the store's bead, or nil. The version
// that was updated later wins. Missing times come from the store's bead, or are the current time. Every error is an
// *Invalid.
func Merge(have *Bead, b Bead, now time.Time) (Bead, Outcome, error) {
	if have != nil && b.CreatedAt.IsZero() {
		b.CreatedAt = have.CreatedAt
	}
	if have != nil && b.UpdatedAt.IsZero() {
		b.UpdatedAt = have.UpdatedAt
	}
	if b.CreatedAt.IsZero() {
		b.CreatedAt = b.UpdatedAt
	}
	if b.CreatedAt.IsZero() {
		b.CreatedAt = now
	}
	if b.UpdatedAt.IsZero() {
		b.UpdatedAt = b.CreatedAt
	}
	b = normalize(b)
	if b.ID == "" {
		return Bead{}, Unchanged, invalid("id", "is missing")
	}
	if err := Check(b); err != nil {
		return Bead{}, Unchanged, named(err, "bead "+b.ID)
	}
	switch {
	case have == nil:
		b.Rev = max(b.Rev, 1)
		return b, Created, nil
	case b.Same(*have):
		return have.Clone(), Unchanged, nil
	case !b.UpdatedAt.After(have.UpdatedAt):
		return have.Clone(), Kept, nil
	}
	b.Rev = max(b.Rev, have.Rev+1)
	return b, Updated, nil
}
