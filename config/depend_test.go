package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	c := load(t, `
[[rigs]]
name = "demo"
path = "/usr"
[[agents]]
name = "web"
dir = "demo"
depends_on = ["worker", "cache", "db", "db"]
[[agents]]
name = "db"
dir = "demo"
depends_on = ["db"]
[[agents]]
name = "db"
[[agents]]
name = "cache"
[[agents]]
name = "worker"
pool.max = 3
depends_on = ["demo/db"]
`)
	var got []string
	for _, a := range c.Agents {
		got = append(got, fmt.Sprintf("%s: %s", a.Qualified(), strings.Join(a.Needs, " ")))
	}
	// A name refers to another agent in the same rig or, if there is none, to the city's agent with that name.
	want := []string{"demo/web: cache demo/db worker", "demo/db: db", "db: ", "cache: ",
		"worker: demo/db"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

// A dependency cycle of thousands of agents is reported in one line, without a stack overflow.
func TestLongCycle(t *testing.T) {
	const n = 5000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[agents]]\nname = \"a%d\"\ndepends_on = [\"a%d\"]\n", i, (i+1)%n)
	}
	_, err := Parse("/srv/app", []byte(b.String()))
	if err == nil || strings.Count(err.Error(), "\n") != 0 ||
		!strings.Contains(err.Error(), "a19 (city.toml:60:14) → 4980 more → a0; remove") {
		t.Errorf("%v", err)
	}
}
