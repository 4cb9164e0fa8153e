package city_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
)

// wisped returns three wisps of the agent ann: a finished one, an unfinished one, and one that describes a bead.
func wisped(t *testing.T) (c *citytest.Fake, over, goes, behind string) {
	c = citytest.NewFake("town")
	create := func(b beads.Bead) string {
		r, err := c.Do(t.Context(), city.CreateBead{Bead: b})
		if err != nil {
			t.Fatal(err)
		}
		return r.Bead.ID
	}
	molecule := func(title, of, parent string, labels []string, done ...bool) string {
		root := create(beads.Bead{Title: title, Type: beads.TypeMolecule, Ref: "patrol", Assignee: of, Labels: labels, ParentID: parent, Status: beads.StatusInProgress})
		for i, is := range done {
			status := beads.StatusOpen
			if is {
				status = beads.StatusClosed
			}
			create(beads.Bead{Title: title + " step " + string(rune('1'+i)), ParentID: root, Status: status, Metadata: map[string]string{beads.CloseReason: "well"}})
		}
		return root
	}
	wisp := []string{city.WispLabel}
	over = molecule("look", "ann", "", wisp, true, true)
	goes = molecule("fix", "ann", "", wisp, true, false, false)
	work := create(beads.Bead{Title: "door", Assignee: "ann"})
	behind = molecule("paint", "", work, wisp, true)
	if _, err := c.Do(t.Context(), city.UpdateBead{ID: work, Patch: beads.Patch{SetMetadata: map[string]string{city.MoleculeKey: behind}}}); err != nil {
		t.Fatal(err)
	}
	molecule("kept", "ann", "", nil, true)
	molecule("other", "bob", "", wisp, true)
	molecule("empty", "ann", "", wisp)
	return c, over, goes, behind
}

// A finished wisp leaves exactly one digest, wherever squashing was interrupted. Open work stays open.
func TestSquash(t *testing.T) {
	for cut := range 5 { // number of writes that succeed before the first attempt fails
		c, over, goes, behind := wisped(t)
		left := cut
		squash := func() {
			wisps, err := city.Wisps(t.Context(), limited{c, &left}, "ann")
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range wisps {
				if w.Over() {
					if _, err := city.Squash(t.Context(), limited{c, &left}, w, "ann", "next: errors"); err != nil && !errors.Is(err, errCut) {
						t.Fatal(err)
					}
				}
			}
		}
		squash()
		left = 100
		squash()
		digests, err := c.Beads(t.Context(), beads.Query{Type: city.DigestType})
		if err != nil || len(digests) != 2 {
			t.Fatalf("stopped after %d: got %d digests, %v", cut, len(digests), err)
		}
		for _, d := range digests {
			if d.Status != beads.StatusClosed || d.Assignee != "ann" || d.Ref != "patrol" || !strings.Contains(d.Description, "step 1") || !strings.Contains(d.Description, ": well") ||
				!strings.HasSuffix(d.Description, "next: errors") || !strings.HasSuffix(d.Title, " done") {
				t.Errorf("%+v", d)
			}
		}
		for id, want := range map[string]beads.Status{over: beads.StatusClosed, behind: beads.StatusClosed, goes: beads.StatusInProgress} {
			b, err := city.GetBead(t.Context(), c, id)
			if err != nil || b.Status != want || want == beads.StatusClosed && b.Metadata[city.DigestKey] == "" {
				t.Errorf("stopped after %d: %s: got %s, %v", cut, b.Title, b.Status, err)
			}
		}
		wisps, err := city.Wisps(t.Context(), c, "ann")
		if err != nil || len(wisps) != 2 || wisps[0].Root.ID != goes || wisps[0].Over() || wisps[1].Over() {
			t.Fatalf("%+v, %v", wisps, err)
		}
		if line := wisps[0].Line(); !strings.Contains(line, "fix: 1 of 3 steps done, next ") || !strings.HasSuffix(line, "fix step 2") {
			t.Error(line)
		}
		others, err := city.Wisps(t.Context(), c, "bob")
		if err != nil || len(others) != 1 || !others[0].Over() {
			t.Errorf("%+v, %v", others, err)
		}
	}
}

var errCut = errors.New("cut off")

type limited struct {
	city.Control
	left *int
}

func (l limited) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	if *l.left--; *l.left < 0 {
		return city.Receipt{}, errCut
	}
	return l.Control.Do(ctx, c)
}
