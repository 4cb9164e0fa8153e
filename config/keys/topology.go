package keys

import (
	"slices"
	"strings"
)

// composeKeys say which topologies a city and its rigs are made of.
func composeKeys() []Key {
	const entry = "a folder with a `topology.toml` (or `pack.toml`), relative to the file that " +
		"says it, or the name of a `[topologies.NAME]` table"
	keys := []Key{
		{Path: "workspace.topology", Kind: String, Alias: "pack", Spent: true, Check: checkPath,
			Doc: "Topology of the city, which gets its agents of " +
				"scope `city`: " + entry + ". See [topologies.md](topologies.md)."},
		{Path: "workspace.topologies", Kind: Strings, Alias: "packs", Spent: true,
			Check: checkLines,
			Doc:   "More of them, in this order."},
		{Path: "workspace.includes", Kind: Strings, Spent: true, Check: checkLines,
			Doc: "The same, after `topologies`. Files with parts of the configuration are a " +
				"matter of `include`, at the top."},
		{Path: "topologies", Kind: Named, Alias: "packs", Spent: true,
			Doc: "Topologies that are kept in git repositories."},
		{Path: "topologies.*", Kind: Table,
			Doc: "One of them: NAME is what `topology` and its like may say instead of a folder. " +
				"`gcity topology fetch` puts a copy into " +
				"`.gc/topologies/NAME` and the commit into `topologies.lock`, beside city.toml; " +
				"what is not fetched is a mistake, and nothing is fetched by itself."},
		{Path: "topologies.*.source", Kind: String, Require: true, Check: checkSource,
			Doc: "What git clones: a URL, or a repository's folder."},
		{Path: "topologies.*.ref", Kind: String, Check: checkRef,
			Doc: "Branch, tag or commit. Without it, the branch that the repository " +
				"itself shows."},
		{Path: "topologies.*.path", Kind: String, Check: checkInside,
			Doc: "Folder of the topology within the repository. Without it, its top."},
		{Path: "agents.scope", Kind: String, Enum: []string{"city", "rig"},
			Doc: "For an agent of a topology: `city`, and a city's topology gives it to the " +
				"city; `rig`, and a rig's gives it to the rig. " +
				"Elsewhere it says nothing."},
	}
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.Path, "workspace."); ok {
			k.Path = "rigs." + name
			if name == "topology" {
				k.Doc = "Topology of the rig, which gets its other agents: " + entry + "."
			}
			keys = append(keys, k)
		}
	}
	return keys
}

// topologyKeys are those of topology.toml besides [[agents]], [[watchdogs]] and [providers.X].
func topologyKeys() []Key {
	return []Key{
		{Path: "topology", Kind: Table, Alias: "pack", Doc: "What the topology is. `[pack]` " +
			"is the same."},
		{Path: "topology.name", Kind: String, Require: true, Check: CheckName,
			Doc: "Its name, shown where what comes from it is."},
		{Path: "topology.schema", Kind: Int, Require: true, Check: checkSchema,
			Doc: "Version of this format: 1."},
		{Path: "topology.version", Kind: String,
			Doc: "Its own version, for people."},
		{Path: "topology.requires_gc", Kind: String, Check: checkRequires,
			Doc: "Which versions of Gas City it was written for: comparisons like `>=0.13` or " +
				"`0.13.2`, several with commas between. " +
				"This program counts as " + speaks + "; it is a mistake if that is not " +
				"among them."},
		{Path: "topology.includes", Kind: Strings, Check: checkLines,
			Doc: "Folders of other topologies, relative to this one, whose agents, providers " +
				"and formulas belong to it, below its own."},
		{Path: "topology.city_agents", Kind: Strings, Check: checkLines,
			Doc: "Names of the agents of scope `city`; the others are of scope `rig`. Where " +
				"neither this nor any `scope` is written, all agents are of both."},
		{Path: "formulas", Kind: Table, Doc: "Recipes for work, and automations, that come " +
			"with the topology."},
		{Path: "formulas.dir", Kind: String, Def: `"formulas"`, Check: checkPath,
			Doc: "Their folder, relative to the topology's."},
	}
}

// derived makes the keys that repeat others: those of patches.rigs are a rig's, those of a rig's overrides a patch's.
func derivedKeys(all []Key) []Key {
	var out []Key
	for _, k := range all {
		if name, ok := strings.CutPrefix(k.Path, "rigs."); ok && name != "overrides" {
			k.Path, k.Def, k.Spent = "patches.rigs."+name, "", false
			switch {
			case name == "name":
				k.Doc = "The rig's `name`. That there is no such rig is a mistake."
			case k.Status == Supported:
				k.Require, k.Doc = false, "What counts instead of the rig's own `"+name+"`."
			}
			out = append(out, k)
		}
		if name, ok := strings.CutPrefix(k.Path, "patches.agents."); ok && name != "dir" {
			k.Path = "rigs.overrides." + name
			if name == "name" {
				k.Alias, k.Doc = "agent", "The agent's `name`, as its topology has it; `agent` "+
					"is the same. That the rig's topologies have no such agent is a mistake."
			}
			out = append(out, k)
		}
	}
	return append(out,
		Key{Path: "patches.rigs", Kind: Tables, Doc: "Changes one rig, wherever it " +
			"is declared."},
		Key{Path: "rigs.overrides", Kind: Tables, Doc: "Changes one agent or pool that a " +
			"topology of this rig has, as `[[patches.agents]]` " +
			"would, and after these: `[[rigs.overrides]]` below the rig."})
}

// Topology is the table of topology.toml.
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
