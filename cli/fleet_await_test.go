package cli

import (
	"errors"
	"testing"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/fleet"
)

// A directory without a supervisor connects to the first supervisor that starts, and keeps that connection.
func TestDirectoryConnectsLater(t *testing.T) {
	var runs city.Directory
	opened, closed := 0, 0
	a := &env.Env{Cities: func() (city.Directory, func(), error) {
		opened++
		return runs, func() { closed++ }, nil
	}}
	d, closeIt := fleet.AwaitDirectory(a)
	watch := func() (all []city.Info, err error) {
		for all, err = range d.Watch(t.Context()) {
			break
		}
		return all, err
	}
	if _, err := watch(); !errors.Is(err, city.ErrNoSupervisor) {
		t.Fatalf("without a supervisor: got %v", err)
	}
	if _, err := d.(city.Registrar).Unregister(t.Context(), "alpha"); !errors.Is(err, city.ErrNoSupervisor) {
		t.Errorf("without a supervisor: got %v", err)
	}
	runs = citytest.NewDirectory(town("alpha", city.Running))
	if all, err := watch(); err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	before := opened
	if c, err := d.City("alpha"); err != nil || c == nil {
		t.Error(err)
	}
	if opened != before {
		t.Error("the directory was opened again")
	}
	closeIt()
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	a.ReadOnly = true
	if d, _ := fleet.AwaitDirectory(a); d == nil {
		t.Error("no list is available")
	} else if _, changes := d.(city.Registrar); changes {
		t.Error("a read-only list can be changed")
	}
}
