package beads

import "time"

// Restored counts what became of beads that were restored.
type Restored struct {
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Kept      int `json:"kept"` // beads that stay, because the store has a newer version
}

// Outcome is what becomes of one.
type Outcome int

// See Restored.
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

// Merge decides what becomes of a bead that is restored, given the one of its id that the store has, if any: the one
// that was updated later wins. Times that are missing (zero) are taken from the store's bead, else they are now. An
// error is an *Invalid.
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
	b = tidy(b)
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
