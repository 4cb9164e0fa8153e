package city_test

import (
	"strings"
	"testing"

	"gcity/beads"
	"gcity/beads/fake"
	"gcity/city"
)

// The steps of a molecule are listed only for the agent that has it. If no agent has it, every agent finds the steps.
func TestSteps(t *testing.T) {
	s := fake.New("tw")
	put := func(b beads.Bead) string {
		t.Helper()
		made, err := s.Create(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	change := func(id string, p beads.Patch) {
		t.Helper()
		if _, err := s.Update(t.Context(), id, p); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(title, parent string) (root, first string) {
		root = put(beads.Bead{Title: title, Type: beads.TypeMolecule, ParentID: parent})
		first = put(beads.Bead{Title: title + "1", ParentID: root})
		put(beads.Bead{Title: title + "2", ParentID: root, Needs: []string{first}})
		return root, first
	}
	free, _ := whole("free", "")
	pooled, _ := whole("pooled", "")
	change(pooled, beads.Patch{AddLabels: []string{city.PoolLabel + "crew"}})
	anns, annFirst := whole("anns", "")
	change(anns, beads.Patch{Assignee: new("ann")})
	shoe := put(beads.Bead{Title: "shoe", Assignee: "ann", Status: beads.StatusInProgress})
	way, wayFirst := whole("way", shoe)
	change(shoe, beads.Patch{SetMetadata: map[string]string{city.MoleculeKey: way}})
	put(beads.Bead{Title: "part of shoe", ParentID: shoe})
	put(beads.Bead{Title: "bobs", ParentID: anns, Assignee: "bob"})

	titles := func(all []beads.Bead, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, b := range all {
			out = append(out, b.Title)
		}
		return strings.Join(out, ", ")
	}
	loose := func() string {
		ready, err := s.List(t.Context(), beads.Query{Ready: true, Limit: -1})
		if err != nil {
			t.Fatal(err)
		}
		return titles(city.WithoutAssigned(t.Context(), s.List, ready))
	}
	wants := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	wants("for all", loose(), "bobs, part of shoe, anns, pooled, free1, free")
	wants("ann's", titles(city.StepsOf(t.Context(), s.List, "ann")), "way1, anns1")
	wants("bob's", titles(city.StepsOf(t.Context(), s.List, "bob")), "")

	// each step is listed only once
	change(way, beads.Patch{Assignee: new("ann")})
	wants("ann's", titles(city.StepsOf(t.Context(), s.List, "ann")), "way1, anns1")
	change(way, beads.Patch{Assignee: new("")})

	change(free, beads.Patch{Assignee: new("bob")}) // the assignee of a molecule gets its steps
	change(annFirst, beads.Closing())
	wants("for all", loose(), "bobs, part of shoe, anns, pooled, free")
	wants("bob's", titles(city.StepsOf(t.Context(), s.List, "bob")), "free1")
	wants("ann's", titles(city.StepsOf(t.Context(), s.List, "ann")), "way1, anns2")

	change(wayFirst, beads.Closing())
	steps, err := s.List(t.Context(), beads.Query{Parent: way, Ready: true})
	if err != nil || len(steps) != 1 {
		t.Fatalf("%+v, %v", steps, err)
	}
	change(steps[0].ID, beads.Closing())
	wants("only closing the molecule is left", titles(city.StepsOf(t.Context(), s.List, "ann")), "way, anns2")

	change(pooled, beads.Closing())
	wants("for all", loose(), "bobs, part of shoe, anns, pooled1, free")
}
