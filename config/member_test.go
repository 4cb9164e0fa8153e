package config

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const poolCity = `
[workspace]
name = "app"
[[rigs]]
name = "demo"
path = "/usr"
[[agents]]
name = "worker"
dir = "rooms/{{.Name}}"
session_setup_script = "{{.Name}}.sh"
idle_timeout = "5m"
pool = { min = 1, max = 3 }
[[agents]]
name = "single"
pool = { max = 1 }
[[agents]]
name = "worker"
dir = "demo"
pool.max = 2
[[agents]]
name = "off"
pool.max = 0
[[agents]]
name = "plain"
`

// A pool member has its own name, session, folder and script.
func TestMember(t *testing.T) {
	dir := folderOf(t, map[string]string{FileName: poolCity, "worker-1.sh": "true\n",
		"worker-2.sh": "false\n"})
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	hashes := map[string]bool{}
	for i := range c.Agents {
		for m := range c.Agents[i].Spec().Max {
			a := c.Member(&c.Agents[i], m+1)
			e, problems := c.Expand(&a)
			if len(problems) > 0 || a.IdleTimeout != c.Agents[i].IdleTimeout ||
				a.Origin != c.Agents[i].Origin {
				t.Errorf("%s: %v %+v", a.Name, problems, a)
			}
			got = append(got, fmt.Sprintf("%s %s %s", a.Qualified(), a.SessionName,
				strings.Replace(e.Dir, dir, "CITY", 1)))
			if e.Script != "" {
				hashes[a.ScriptHash] = true
				if e.Script != filepath.Join(dir, a.Name+".sh") ||
					(a.ScriptProblem != "") != (a.Name == "worker-3") {
					t.Errorf("%s: got script %s, %s", a.Name, e.Script, a.ScriptProblem)
				}
			}
		}
	}
	want := `worker-1 gc-app-worker-1 CITY/rooms/worker-1
worker-2 gc-app-worker-2 CITY/rooms/worker-2
worker-3 gc-app-worker-3 CITY/rooms/worker-3
single gc-app-single CITY
demo/worker-1 gc-app-demo_sworker-1 /usr
demo/worker-2 gc-app-demo_sworker-2 /usr
plain gc-app-plain CITY`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if len(hashes) != 3 {
		t.Errorf("got %d hashes of two scripts and a missing one, want 3", len(hashes))
	}
	if len(c.Sources) != 4 {
		t.Errorf("sources: got %q, want the script of each member", c.Sources)
	}
	if c.Agents[0].SessionName != "" || c.Agents[0].Pool.CheckTimeout != 30*time.Second ||
		c.Agents[0].Pool.DrainTimeout != 5*time.Minute {
		t.Errorf("%+v", c.Agents[0])
	}
}

func BenchmarkLoadPool10000(b *testing.B) {
	dir := folder(b, "[[agents]]\nname = \"worker\"\nstart_command = \"sh\"\ndir = "+
		"\"work/{{.Agent}}\"\npre_start = [\"mkdir -p {{.WorkDir}}\"]\npool.max = 10000\n")
	for b.Loop() {
		if _, err := Load(dir); err != nil {
			b.Fatal(err)
		}
	}
}
