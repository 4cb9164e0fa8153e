package suggest

import (
	"errors"
	"testing"
)

func TestMissing(t *testing.T) {
	sentinel := errors.New("gone")
	for _, c := range []struct {
		err  *Missing
		want string
	}{
		{NotFound(Agent, "biulder", []string{"builder", "shop/till"}),
			"agent \"biulder\" not found; did you mean \"builder\"? Run `gcity agent list` to see all"},
		{NotFound(Agent, "tlil", []string{"builder", "shop/till"}),
			"agent \"tlil\" not found; did you mean \"till\"? Run `gcity agent list` to see all"},
		{NotFound(Rig, "x", []string{"shop"}), "rig \"x\" not found; run `gcity rig list` to see all"},
		{NotFound(Watchdog, "x", nil), "watchdog \"x\" not found; none exist yet; add a [[watchdogs]] table to city.toml"},
		{NotFound(AnyOf(Agent, Pool, Rig), "x", []string{"shop"}),
			"agent, pool or rig \"x\" not found; run `gcity status` to see all"},
		{NoSuch(Bead, "to-9").As(sentinel), "bead \"to-9\" not found; run `gcity bead list` to see all"},
		{NoSuch(Run, "to-9").Then("that bead has type task"), "run \"to-9\" not found; that bead has type task"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	if !errors.Is(NoSuch(Bead, "x").As(sentinel), sentinel) || errors.Is(NoSuch(Bead, "x"), sentinel) {
		t.Error("want a sentinel in the error only after As")
	}
}
