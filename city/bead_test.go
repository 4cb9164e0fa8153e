package city_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
)

// beadCity is a city that only has beads.
type beadCity struct {
	city.Control
	store *fake.Store
	lists int
}

func (s *beadCity) Beads(ctx context.Context, q beads.Query) ([]beads.Bead, error) {
	s.lists++
	return s.store.List(ctx, q)
}

func (s *beadCity) Bead(ctx context.Context, id string) (beads.Bead, error) {
	b, err := s.store.Get(ctx, id)
	return b, city.WorkError(err)
}

func TestGetBead(t *testing.T) {
	s := &beadCity{store: fake.New("tw")}
	all := make([]beads.Bead, 250)
	for i := range all {
		all[i].Title = fmt.Sprint("bead ", i)
	}
	made, err := s.store.CreateAll(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	// commands and the control room wrap the city that they are connected to
	wrapped := struct{ city.Control }{s}
	if b, err := city.GetBead(t.Context(), wrapped, made[0].ID); err != nil || !b.Same(made[0]) {
		t.Errorf("%+v, %v", b, err)
	}
	if s.lists != 0 {
		t.Errorf("GetBead listed the store %d times", s.lists)
	}
	for _, id := range []string{"tw-0", "tw-251", "", "../tw-1", "tw 1"} {
		if b, err := city.GetBead(t.Context(), wrapped, id); b.ID != "" || codeOf(err) != city.NotFound {
			t.Errorf("%q: got %+v, %v", id, b, err)
		}
	}
	s.store.Break(errors.New("the disk is gone"))
	if b, err := city.GetBead(t.Context(), wrapped, "tw-1"); b.ID != "" || codeOf(err) != city.Unavailable {
		t.Errorf("want an error other than NotFound: %+v, %v", b, err)
	}
}

func codeOf(err error) city.Code {
	if e, ok := errors.AsType[*city.Error](err); ok && e.Message != "" {
		return e.Code
	}
	return ""
}

func TestWorkError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want city.Code
	}{
		{fmt.Errorf("bead x: %w", beads.ErrNotFound), city.NotFound},
		{fmt.Errorf("bead x: %w", beads.ErrConflict), city.Conflict},
		{fmt.Errorf("no: %w", &beads.Invalid{Field: "title", Reason: "is empty"}), city.Invalid},
		{beads.ErrUnreadable, city.Unavailable},
		{context.DeadlineExceeded, city.Unavailable},
		{&city.Error{Code: city.Forbidden, Message: "read-only"}, city.Forbidden},
	} {
		if err := city.WorkError(c.err); codeOf(err) != c.want || err.Error() != c.err.Error() {
			t.Errorf("%v became %#v", c.err, err)
		}
	}
	if err := city.WorkError(nil); err != nil {
		t.Error(err)
	}
}
