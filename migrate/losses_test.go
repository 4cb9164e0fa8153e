package migrate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// What a city loses in the conversion is noted, and the rest keeps its meaning.
func TestLosses(t *testing.T) {
	const city = "-- pack.toml --\n[pack]\nname = \"x\"\nschema = 2\n" +
		"-- agents/a/prompt.md --\nWork.\n"
	for _, tt := range []struct {
		name, files   string
		want, without []string // parts of the report and the written files
	}{
		{
			"a worktree script would run on the rig itself", city +
				"-- city.toml --\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"-- agents/a/agent.toml --\ndir = \"app\"\nwork_dir = \".gc/worktrees/a\"\n" +
				"pre_start = [\"tree.sh {{.WorkDir}}\", \"echo ready\"]\n",
			[]string{
				"agents/a/agent.toml:3:1: pre_start for a was omitted: it prepares {{.WorkDir}}",
				"which the members of a pool share",
				`pre_start = ["echo ready"]`,
			},
			[]string{"tree.sh"},
		},
		{
			"a patch adds a worktree script", city +
				"-- city.toml --\n[[rigs]]\nname = \"app\"\npath = \"/srv/app\"\n" +
				"[[patches.agent]]\nname = \"a\"\ndir = \"app\"\npre_start = [\"tree.sh {{ .WorkDir }}\"]\n" +
				"-- agents/a/agent.toml --\ndir = \"app\"\nwork_dir = \".gc/worktrees/a\"\n",
			[]string{"city.toml:7:1: pre_start for a was omitted"},
			[]string{"tree.sh"},
		},
		{
			"the working folder of a city's agent stays", city + "-- city.toml --\n" +
				"-- agents/a/agent.toml --\nwork_dir = \"trees/a\"\n" +
				"pre_start = [\"tree.sh {{.WorkDir}}\"]\n",
			[]string{`pre_start = ["tree.sh {{.WorkDir}}"]`, `dir = "trees/a"`},
			[]string{"was omitted"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Convert(unpack(t, txtar.Parse([]byte(tt.files)).Files), "")
			if err != nil {
				t.Fatal(err)
			}
			got := shown(t, r)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("the result lacks %q", want)
				}
			}
			for _, without := range tt.without {
				if strings.Contains(got, without) {
					t.Errorf("the result contains %q", without)
				}
			}
			if t.Failed() {
				fmt.Println(got)
			}
		})
	}
}
