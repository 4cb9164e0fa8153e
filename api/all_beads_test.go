package api_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gcity/api"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city/citytest"
)

// manyBeads is a city with n beads.
type manyBeads struct {
	*citytest.Fake
	n int
}

func (m manyBeads) Beads(_ context.Context, q beads.Query) (all []beads.Bead, err error) {
	first := m.n
	if q.Before != "" {
		_, err = fmt.Sscanf(q.Before, "tw-%d", &first)
		first--
	}
	for i := first; i > 0 && len(all) != q.Limit; i-- {
		all = append(all, beads.Bead{ID: fmt.Sprint("tw-", i)})
	}
	return all, err
}

// A list of all beads is complete, although the city sends it in parts.
func TestAllBeadsArriveInParts(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 7, wire.MaxLines, wire.MaxLines + 1} {
		path, _ := serve(t, manyBeads{town(), n}, api.Options{})
		all, err := dial(t, path).Beads(t.Context(), beads.Query{Limit: -1})
		if err != nil || len(all) != n || n > 0 && (all[0].ID != fmt.Sprint("tw-", n) || all[n-1].ID != "tw-1") {
			t.Errorf("%d of %d beads, %v", len(all), n, err)
		}
		_, h, body := get(t, curl(t, path), "/v0/beads?limit=all")
		if h.Get("X-GC-Index") == "" || !strings.HasSuffix(body, fmt.Sprintf(`"total":%d}`+"\n", n)) {
			t.Errorf("%v …%s", h, body[max(0, len(body)-40):])
		}
	}
}
