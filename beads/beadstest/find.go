package beadstest

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"gcity/beads"
)

func newestFirst(t *testing.T, h Harness) {
	s := h.New(t)
	a := titled(t, s, "a")
	for _, title := range []string{"b", "c", "d"} {
		titled(t, s, title)
	}
	update(t, s, a.ID, beads.Patch{AddLabels: []string{"touched"}})
	titles(t, s, beads.Query{}, "d c b a")
}

func pages(t *testing.T, h Harness) {
	s := h.New(t)
	n := h.many(beads.DefaultLimit+20, 16)
	for i := range n {
		create(t, s, beads.Bead{Title: fmt.Sprint(i),
			Labels: []string{"all", fmt.Sprint("mod:", i%3)}, Assignee: fmt.Sprint("a", i%2)})
	}
	if got := len(list(t, s, beads.Query{})); got != min(n, beads.DefaultLimit) {
		t.Errorf("List without a limit: got %d beads", got)
	}
	if got := len(list(t, s, beads.Query{Limit: -1})); got != n {
		t.Errorf("all: %d", got)
	}
	titles(t, s, beads.Query{Limit: 3}, fmt.Sprint(n-1, " ", n-2, " ", n-3))
	for _, q := range []beads.Query{{}, {Labels: []string{"mod:1"}},
		{Labels: []string{"all", "mod:2"}}, {Assignee: "a1"},
		{Status: []beads.Status{beads.StatusOpen}}, {Type: "task"}} {
		q.Limit = -1
		want := list(t, s, q)
		var got []beads.Bead
		for q.Limit = 7; ; {
			page := list(t, s, q)
			got = append(got, page...)
			if len(page) < q.Limit {
				break
			}
			q.Before = page[len(page)-1].ID
		}
		same(t, fmt.Sprintf("pages of %+v", q), got, want)
	}
}

func createSamples(t *testing.T, s beads.Store) map[string]beads.Bead {
	t.Helper()
	made := map[string]beads.Bead{}
	put := func(b beads.Bead) { made[b.Title] = create(t, s, b) }
	put(beads.Bead{Title: "r", Type: beads.TypeMolecule, Ref: "paint",
		Labels: []string{"pool:yard"}})
	put(beads.Bead{Title: "a", ParentID: made["r"].ID, Ref: "sand", Assignee: "x",
		Labels: []string{"pool:yard", "dirty"}})
	put(beads.Bead{Title: "b", ParentID: made["r"].ID, Ref: "brush", Needs: []string{made["a"].ID},
		Assignee: "y", Status: beads.StatusInProgress})
	put(beads.Bead{Title: "c", ParentID: made["r"].ID, Ref: "dry",
		Needs: []string{made["a"].ID, made["b"].ID}, Assignee: "x", Status: beads.StatusClosed})
	put(beads.Bead{Title: "d", Type: "message", Assignee: "x", Labels: []string{"dirty"}})
	put(beads.Bead{Title: "e", Ref: "sand", Labels: []string{"dirty", "pool:yard"},
		Status: beads.StatusClosed})
	return made
}

func filters(t *testing.T, h Harness) {
	s := h.New(t)
	made := createSamples(t, s)
	open, working, closed := beads.StatusOpen, beads.StatusInProgress, beads.StatusClosed
	root := made["r"].ID
	for _, c := range []struct {
		q    beads.Query
		want string
	}{
		{beads.Query{}, "e d c b a r"},
		{beads.Query{Status: []beads.Status{open}}, "d a r"},
		{beads.Query{Status: []beads.Status{open, working}}, "d b a r"},
		{beads.Query{Status: []beads.Status{closed}}, "e c"},
		{beads.Query{Status: []beads.Status{closed, working}}, "e c b"},
		{beads.Query{Status: []beads.Status{open, working, closed}}, "e d c b a r"},
		{beads.Query{Labels: []string{"pool:yard"}}, "e a r"},
		{beads.Query{Labels: []string{"pool:yard", "dirty"}}, "e a"},
		{beads.Query{Labels: []string{"dirty", "pool:yard", "dirty"}}, "e a"},
		{beads.Query{Labels: []string{"dirty", "nothing"}}, ""},
		{beads.Query{Labels: []string{"pool"}}, ""},
		{beads.Query{NotLabel: "dirty"}, "c b r"},
		{beads.Query{NotLabel: "dirty", Labels: []string{"pool:yard"}}, "r"},
		{beads.Query{Type: "message"}, "d"},
		{beads.Query{Type: "message", NotType: []string{"message"}}, ""},
		{beads.Query{NotType: []string{"message", beads.TypeMolecule}}, "e c b a"},
		{beads.Query{Assignee: "x"}, "d c a"},
		{beads.Query{Assignee: "x", Status: []beads.Status{open}, Type: "task"}, "a"},
		{beads.Query{Assignee: "nobody"}, ""},
		{beads.Query{Assigned: true}, "d c b a"},
		{beads.Query{Assigned: true, Assignee: "y"}, "b"},
		{beads.Query{Assigned: true, Status: []beads.Status{open, working},
			NotType: []string{"message"}}, "b a"},
		{beads.Query{Assigned: true, Parent: root, Limit: 1}, "c"},
		{beads.Query{Assigned: true, Ref: "nothing"}, ""},
		{beads.Query{ClosedSince: *made["c"].ClosedAt}, "e c"},
		{beads.Query{ClosedSince: *made["c"].ClosedAt, Parent: root}, "c"},
		{beads.Query{ClosedSince: made["e"].ClosedAt.Add(time.Hour)}, ""},
		{beads.Query{CreatedUntil: made["c"].CreatedAt}, "c b a r"},
		{beads.Query{CreatedUntil: made["d"].CreatedAt, Labels: []string{"dirty"}, Limit: 1}, "d"},
		{beads.Query{Parent: root}, "c b a"},
		{beads.Query{Parent: root, Status: []beads.Status{open, working}, Assignee: "y"}, "b"},
		{beads.Query{Parent: root, Ref: "sand"}, "a"},
		{beads.Query{Ref: "sand"}, "e a"},
		{beads.Query{Ref: "sand", Labels: []string{"dirty"}, Status: []beads.Status{closed}}, "e"},
		{beads.Query{Parent: root, Labels: []string{"dirty"}, Ref: "sand", Assignee: "x",
			Type: "task", Status: []beads.Status{open}, Ready: true}, "a"},
		{beads.Query{Type: "task", Limit: 2}, "e c"},
		{beads.Query{Labels: []string{"dirty"}, Limit: 1, Before: made["e"].ID}, "d"},
		{beads.Query{Parent: root, Before: made["e"].ID, Limit: 2}, "c b"},
	} {
		titles(t, s, c.q, c.want)
	}
}

func ready(t *testing.T, h Harness) {
	s := h.New(t)
	made := createSamples(t, s)
	titles(t, s, beads.Query{Ready: true}, "d a r")
	update(t, s, made["c"].ID, beads.Patch{Status: new(beads.StatusOpen)})
	titles(t, s, beads.Query{Ready: true}, "d a r")
	update(t, s, made["a"].ID, beads.Closing())
	titles(t, s, beads.Query{Ready: true}, "d r")
	update(t, s, made["b"].ID, beads.Closing())
	titles(t, s, beads.Query{Ready: true}, "d c r")
	titles(t, s, beads.Query{Ready: true, Parent: made["r"].ID}, "c")
	titles(t, s, beads.Query{Ready: true, Labels: []string{"dirty"}}, "d")
	titles(t, s, beads.Query{Ready: true, Assignee: "x", NotType: []string{"message"}}, "c")
	titles(t, s, beads.Query{Ready: true, Status: []beads.Status{beads.StatusClosed}}, "")
	got := list(t, s, beads.Query{Ready: true})
	same(t, "against Ready", got, beads.Ready(everything(t, s)))
	update(t, s, made["b"].ID, beads.Patch{Status: new(beads.StatusInProgress)})
	titles(t, s, beads.Query{Ready: true}, "d r")
}

func tally(t *testing.T, h Harness) {
	s := h.New(t)
	c := optional[beads.ShareCounter](t, s)
	made := createSamples(t, s)
	create(t, s, beads.Bead{Title: "f", Assignee: "x", Labels: []string{"pool:yard", "dirty"}})
	for _, q := range []beads.Query{
		{}, {Limit: 2}, {Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}},
		{Labels: []string{"dirty"}}, {Type: "message"},
		{Assignee: "x"}, {Assignee: "nobody"}, {Parent: made["r"].ID}, {Before: made["b"].ID},
	} {
		all := q
		all.Limit, all.Before = -1, ""
		want, got := map[string]int{}, map[string]int{}
		for _, b := range list(t, s, all) {
			want[fmt.Sprintf("%s %q", b.Assignee, b.Labels)]++
		}
		shares, err := c.Tally(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range shares {
			got[fmt.Sprintf("%s %q", p.Assignee, p.Labels)] += p.N
		}
		if !maps.Equal(got, want) || len(shares) != len(want) {
			t.Errorf("%+v: %v, want %v", q, shares, want)
		}
	}
}

func count(t *testing.T, h Harness) {
	s := h.New(t)
	c := optional[beads.Counter](t, s)
	made := createSamples(t, s)
	for _, q := range []beads.Query{
		{}, {Limit: 2}, {Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress}},
		{Labels: []string{"dirty"}}, {Labels: []string{"dirty", "pool:yard"}},
		{Ready: true}, {Parent: made["r"].ID}, {Type: "task", Limit: 1}, {Assignee: "nobody"},
		{Before: made["b"].ID}, {Assigned: true, Status: []beads.Status{beads.StatusOpen}},
	} {
		n, err := c.Count(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		all := q
		all.Limit, all.Before = -1, ""
		if want := len(list(t, s, all)); n != want {
			t.Errorf("%+v: %d, want %d", q, n, want)
		}
	}
}
