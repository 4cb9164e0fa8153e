package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func watchdogCity(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	tree := os.DirFS(filepath.Join("testdata", "watchdogs"))
	err := fs.WalkDir(tree, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A watchdog of a topology is created with each agent that it watches.
func TestWatchdogsOfTopologies(t *testing.T) {
	dir := folderOf(t, watchdogCity(t))
	c, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		name, watches, triage, heartbeat, to string
		every                                time.Duration
	}
	var got []short
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		got = append(got, short{w.Qualified(), w.Watches, w.Triage,
			strings.TrimPrefix(w.Heartbeat, dir+"/"), w.EscalateTo, w.Every})
	}
	want := []short{
		{"daemon", "deacon", "deputy", "beats/deacon", "human", 3 * time.Minute},
		{"top", "boot", "", ".gc/heartbeats/boot.json", "human", 3 * time.Minute},
		{"north/care", "north/witness", "north/judge", "north/beats/witness", "pool:north/witness",
			7 * time.Minute},
		{"south/care", "south/witness", "south/judge", "beat", "pool:south/witness",
			9 * time.Minute},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(short{})); diff != "" {
		t.Fatal(diff)
	}
	for name, w := range map[string]string{"north/judge": "north/care", "south/judge": "south/care",
		"deputy": "daemon"} {
		if of := c.TriageOf(name); of == nil || of.Qualified() != w {
			t.Errorf("triage %s: %v", name, of)
		}
	}
	south := c.Watchdogs[3]
	if south.Origins["every"].String() != "city.toml:18:9" ||
		south.Origins["watches"].String() != "packs/lane/topology.toml:20:11" ||
		south.Origin.File != "packs/lane/topology.toml" {
		t.Errorf("%v %v", south.Origins, south.Origin)
	}
	if c.Watchdogs[2].Origins["every"].File != "packs/lane/topology.toml" {
		t.Errorf("a patch for one rig's watchdog changed the other rig's: %v",
			c.Watchdogs[2].Origins)
	}
	text, err := c.Explain("south/witness")
	if err != nil || !strings.Contains(text, "watched by the watchdog south/care, "+
		"packs/lane/topology.toml:18:1") || !strings.Contains(text, `every = "9m"`) {
		t.Errorf("%v\n%s", err, text)
	}
	if text, _ = c.Explain("south/judge"); !strings.Contains(text,
		"triage agent of the watchdog south/care, packs/lane/topology.toml:18:1") {
		t.Error(text)
	}
	again, err := Load(folderOf(t, map[string]string{"city.toml": c.TOML(), "north/.keep": "",
		"south/.keep": ""}))
	if err != nil {
		t.Fatalf("%v\n%s", err, c.TOML())
	}
	byName := func(all []Watchdog) []Watchdog {
		return slices.SortedFunc(slices.Values(all), func(a, b Watchdog) int {
			return strings.Compare(a.Qualified(), b.Qualified())
		})
	}
	boot := slices.IndexFunc(again.Watchdogs, func(w Watchdog) bool { return w.Name == "top" })
	// The printed configuration was loaded in another folder, so the path of the heartbeat file differs.
	again.Watchdogs[boot].Heartbeat = filepath.Join(dir, HeartbeatFile("boot"))
	if diff := cmp.Diff(byName(c.Watchdogs), byName(again.Watchdogs),
		cmpopts.IgnoreFields(Watchdog{}, "Origin", "Origins", "Topology")); diff != "" {
		t.Errorf("%s\n%s", diff, c.TOML())
	}
}

// A problem with a topology's watchdog is reported once for all rigs.
func TestTopologyWatchdogProblems(t *testing.T) {
	const lane = "packs/lane/topology.toml"
	for name, c := range map[string]struct{ file, from, to, want string }{
		"nobody there": {lane, `watches = "witness"`, `watches = "witnes"`,
			lane + `:20:11: watchdogs.watches: this topology has no agent "witnes"; did you ` +
				`mean "witness"?`},
		"of another rig": {lane, `watches = "witness"`, `watches = "north/witness"`,
			lane + `:20:11: watchdogs.watches: this topology has no agent "north/witness"`},
		"triage": {lane, `triage = "judge"`, `triage = "jugde"`,
			lane + `:21:10: watchdogs.triage: "jugde" is not an agent; did you mean "judge"? ` +
				`(for the rigs north and south)`},
		"itself": {lane, `triage = "judge"`, `triage = "witness"`,
			"watchdogs.triage: \"north/witness\" is the agent that the watchdog watches"},
		"rig": {lane, `every = "7m"`, `rig = "north"`, lane +
			":22:1: watchdogs.rig: unknown key"},
		"leaves": {lane, `"beats/witness"`, `"../../x"`, lane +
			`:23:13: watchdogs.heartbeat: "../../x" is outside the folder of the rig "north"`},
		"no such watchdog": {"city.toml", "name = \"care\"", "name = \"cere\"",
			`city.toml:17:8: patches.watchdogs.name: watchdog "south/cere" not found; did you ` +
				`mean "south/care"?`},
		"no such rig": {"city.toml", "rig = \"south\"\nname = \"care\"",
			"rig = \"west\"\nname = \"care\"",
			`city.toml:17:8: patches.watchdogs.name: watchdog "west/care" not found`},
		"twice": {"city.toml", "[[watchdogs]]", "[[patches.watchdogs]]\nrig = \"south\"\nname = " +
			"\"care\"\nevery = \"1m\"\n[[watchdogs]]",
			`city.toml:21:1: patches.watchdogs: the watchdog "south/care" is already patched ` +
				`at city.toml:15:1`},
		"own": {"city.toml", "name = \"top\"", "name = \"top\"\nrig = \"west\"",
			`city.toml:23:7: watchdogs.rig: rig "west" not found`},
		"called": {"city.toml", "name = \"top\"", "name = \"care\"\nrig = \"north\"",
			`"north/care" is already the name of the watchdog at`},
	} {
		files := watchdogCity(t)
		before := files[c.file]
		if files[c.file] = strings.Replace(before, c.from, c.to, 1); files[c.file] == before {
			t.Fatal(name)
		}
		dir := folderOf(t, files)
		_, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if err != nil && c.file == lane && strings.Contains(err.Error(), "there is no watchdog") {
			t.Errorf("%s: the patch caused a different error: %v", name, err)
		}
	}
}
