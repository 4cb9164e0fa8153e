package edit

import (
	"gcity/config"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kennel is a city whose two rigs have one topology with a watchdog, and which has its own from another.
func kennel() map[string]string {
	return map[string]string{
		"city.toml": `[workspace]
name = "kennel"
topology = "packs/house"

[[rigs]]
name = "north"
path = "north"
topology = "packs/lane"

[[rigs]]
name = "south"
path = "south"
topology = "packs/lane"

[[patches.watchdogs]]
rig = "south"
name = "care"
every = "9m"
heartbeat = "beat"

[[watchdogs]]
name = "top"
watches = "boot"
`,
		"packs/house/topology.toml": `[topology]
name = "house"
schema = 1
includes = ["../base"]

[[agents]]
name = "boot"
start_command = "sh"

[[watchdogs]]
name = "daemon"
watches = "deacon"
triage = "deputy"
heartbeat = "beats/deacon"

[[agents]]
name = "deputy"
start_command = "sh"
`,
		"packs/base/topology.toml": "[topology]\nname = \"base\"\nschema = 1\n[[agents]]\nname = \"deacon\"\nstart_command = \"sh\"\n",
		"packs/lane/topology.toml": `[topology]
name = "lane"
schema = 1
city_agents = ["mayor"]

[[agents]]
name = "mayor"
start_command = "sh"

[[agents]]
name = "witness"
start_command = "sh"

[[agents]]
name = "judge"
start_command = "sh"

[[watchdogs]]
name = "care"
watches = "witness"
triage = "judge"
every = "7m"
heartbeat = "beats/witness"
escalate_to = "pool:witness"

[[watchdogs]]
name = "lord"
watches = "mayor"
`,
		"north/.keep": "", "south/.keep": "",
	}
}

// A watchdog that is an agent's of the rig goes with the rig when it is taken out, and so does what changes one.
func TestWatchdogsGoWithTheirRig(t *testing.T) {
	files := kennel()
	files["city.toml"] += "\n[[watchdogs]]\nname = \"more\"\nrig = \"south\"\nwatches = \"judge\"\n"
	files["packs/lane/topology.toml"] = strings.Replace(files["packs/lane/topology.toml"], `triage = "judge"`, "", 1)
	dir := folderOf(t, files)
	if _, err := config.Load(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := RemoveRig(config.Source{Dir: dir}, "south", false); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Watchdogs {
		if c.Watchdogs[i].Rig == "south" {
			t.Errorf("%+v", c.Watchdogs[i])
		}
	}
	if data, _ := os.ReadFile(filepath.Join(dir, config.FileName)); strings.Contains(string(data), "south") {
		t.Errorf("%s", data)
	}
}
