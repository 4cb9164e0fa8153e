package keys

import (
	"slices"
	"strings"
)

func composeKeys() []Key {
	const entry = "a folder with a `topology.toml` (or `pack.toml`), relative to the file that " +
		"contains the key, or the name of a `[topologies.NAME]` table"
	keys := []Key{
		{Path: "workspace.topology", Kind: String, Alias: "pack", Redundant: true, Check: checkPath,
			Doc: "Topology of the city: " + entry + ". The city receives the topology's agents " +
				"with scope `city`. See [topologies.md](topologies.md)."},
		{Path: "workspace.topologies", Kind: Strings, Alias: "packs", Redundant: true,
			Check: checkLines,
			Doc:   "Additional topologies, which gcity adds in this order."},
		{Path: "workspace.includes", Kind: Strings, Redundant: true, Check: checkLines,
			Doc: "Additional topologies, which gcity adds after those in `topologies`. To " +
				"include configuration files, use `include` at the top level."},
		{Path: "topologies", Kind: Named, Alias: "packs", Redundant: true,
			Doc: "Topologies from git repositories."},
		{Path: "topologies.*", Kind: Table,
			Doc: "A topology in a git repository. You can use NAME in every key that accepts the " +
				"folder of a topology. `gcity topology fetch` copies the topology to " +
				"`.gc/topologies/NAME` and records the commit in `topologies.lock` next to " +
				"city.toml. Only this command fetches topologies; using a topology that has not " +
				"been fetched is an error."},
		{Path: "topologies.*.source", Kind: String, Require: true, Check: checkSource,
			Doc: "The repository that git clones: a URL or a folder."},
		{Path: "topologies.*.ref", Kind: String, Check: checkRef,
			Doc: "Branch, tag or commit. Default: the repository's default branch."},
		{Path: "topologies.*.path", Kind: String, Check: checkInside,
			Doc: "Folder of the topology in the repository. Default: its root."},
		{Path: "agents.scope", Kind: String, Enum: []string{"city", "rig"},
			Doc: "For an agent in a topology: `city` adds the agent to each city that uses the " +
				"topology, and `rig` adds the agent to each rig that uses the topology. For all " +
				"other agents, the key has no effect."},
	}
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.Path, "workspace."); ok {
			k.Path = "rigs." + name
			if name == "topology" {
				k.Doc = "Topology of the rig: " + entry + ". The rig receives the topology's " +
					"agents with scope `rig`."
			}
			keys = append(keys, k)
		}
	}
	return keys
}

func topologyKeys() []Key {
	return []Key{
		{Path: "topology", Kind: Table, Alias: "pack", Doc: "About the topology. `[pack]` " +
			"means the same."},
		{Path: "topology.name", Kind: String, Require: true, Check: CheckName,
			Doc: "Name of the topology, shown with everything that comes from it."},
		{Path: "topology.schema", Kind: Int, Require: true, Check: checkSchema,
			Doc: "Version of the format; must be 1."},
		{Path: "topology.version", Kind: String,
			Doc: "Version of the topology, for your own use."},
		{Path: "topology.requires_gc", Kind: String, Check: checkRequires,
			Doc: "Versions of Gas City that the topology works with: one or more comparisons " +
				"such as `>=0.13` or `0.13.2`, separated by commas. gcity is compatible " +
				"with " + compatibleWith + "; an unmet requirement is an error."},
		{Path: "topology.includes", Kind: Strings, Check: checkLines,
			Doc: "Folders of other topologies, relative to this topology's folder. Their agents, " +
				"providers and formulas are included, but the topology's own take precedence. " +
				"An agent replaces an included agent with the same name completely."},
		{Path: "topology.city_agents", Kind: Strings, Check: checkLines,
			Doc: "Names of the agents with scope `city`; all others have scope `rig`. If the " +
				"topology uses neither this key nor `scope`, all agents have both scopes."},
		{Path: "formulas", Kind: Table, Doc: "Formulas and automations of the topology."},
		{Path: "formulas.dir", Kind: String, Def: `"formulas"`, Check: checkPath,
			Doc: "Folder with the formulas, relative to the topology's folder."},
		{Path: "doctor", Kind: Any, Status: Dropped},
		{Path: "commands", Kind: Any, Status: Dropped},
	}
}

func derivedKeys(all []Key) []Key {
	var out []Key
	for _, k := range all {
		if name, ok := strings.CutPrefix(k.Path, "rigs."); ok && name != "overrides" {
			k.Path, k.Def, k.Redundant = "patches.rigs."+name, "", false
			switch {
			case name == "name":
				k.Doc = "The rig's `name`. An unknown rig is an error."
			case k.Status == Supported:
				k.Require, k.Doc = false, "Replaces the rig's own `"+name+"`."
			}
			out = append(out, k)
		}
		if name, ok := strings.CutPrefix(k.Path, "patches.agents."); ok && name != "dir" {
			k.Path = "rigs.overrides." + name
			if name == "name" {
				k.Alias, k.Doc = "agent", "The agent's `name` in its topology; `agent` means "+
					"the same. An agent that the rig's topologies do not contain is an error."
			}
			out = append(out, k)
		}
	}
	return append(out,
		Key{Path: "patches.rigs", Kind: Tables, Doc: "Changes one rig, no matter where it " +
			"is declared."},
		Key{Path: "rigs.overrides", Kind: Tables, Doc: "Like " +
			"`[[patches.agents]]`, but changes one agent or pool from one of this rig's " +
			"topologies. gcity applies overrides after all patches. Put " +
			"`[[rigs.overrides]]` below its `[[rigs]]` table."})
}

// Topology returns the schema of topology.toml.
func Topology(city Schema) Schema {
	s := Schema{map[string]*Key{}, map[string][]*Key{}}
	add := func(k *Key) {
		s.ByPath[k.Path] = k
		s.Tables[k.Table()] = append(s.Tables[k.Table()], k)
	}
	own := topologyKeys()
	for i := range own {
		add(&own[i])
	}
	var walk func(table string)
	walk = func(table string) {
		for _, k := range city.Tables[table] {
			top, _, _ := strings.Cut(k.Path, ".")
			if slices.Contains([]string{"agents", "providers", "watchdogs"}, top) &&
				k.Path != "watchdogs.rig" {
				add(k)
				walk(k.Path)
			}
		}
	}
	walk("")
	return s
}
