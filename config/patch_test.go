package config

import "testing"

// A patch takes precedence, and is the value's origin.
func TestPatch(t *testing.T) {
	c := load(t, `
[[rigs]]
name = "demo"
path = "/usr"
[[agents]]
name = "a"
dir = "demo"
[[agents]]
name = "a"
dir = "work"
suspended = true
[[agents]]
name = "b"
suspended = true
[[patches.agents]]
dir = "demo"
name = "a"
suspended = true
[[patches.agents]]
name = "a"
suspended = false
`)
	for i, want := range []struct {
		suspended bool
		origin    string
	}{{true, "city.toml:18:13"}, {false, "city.toml:21:13"}, {true, "city.toml:14:13"}} {
		a := c.Agents[i]
		if a.Suspended != want.suspended || a.Origins["suspended"].String() != want.origin {
			t.Errorf("%s: got suspended %t from %s",
				a.Qualified(), a.Suspended, a.Origins["suspended"])
		}
	}
	again, err := Parse(c.Path, []byte(c.TOML()))
	if err != nil {
		t.Fatal(err)
	}
	if values(c) != values(again) {
		t.Errorf("the output of TOML has the values\n%s\nwant\n%s", values(again), values(c))
	}
}
