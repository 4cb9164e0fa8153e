package config

import (
	"slices"
	"strings"
)

// composeKeys say which topologies a city and its rigs are made of.
func composeKeys() []key {
	const entry = "a folder with a `topology.toml` (or `pack.toml`), relative to the file that " +
		"says it, or the name of a `[topologies.NAME]` table"
	keys := []key{
		{path: "workspace.topology", kind: kindString, alias: "pack", spent: true, check: checkPath,
			doc: "Topology of the city, which gets its agents of " +
				"scope `city`: " + entry + ". See [topologies.md](topologies.md)."},
		{path: "workspace.topologies", kind: kindStrings, alias: "packs", spent: true,
			check: checkLines,
			doc:   "More of them, in this order."},
		{path: "workspace.includes", kind: kindStrings, spent: true, check: checkLines,
			doc: "The same, after `topologies`. Files with parts of the configuration are a " +
				"matter of `include`, at the top."},
		{path: "topologies", kind: kindNamed, alias: "packs", spent: true,
			doc: "Topologies that are kept in git repositories."},
		{path: "topologies.*", kind: kindTable,
			doc: "One of them: NAME is what `topology` and its like may say instead of a folder. " +
				"`gcity topology fetch` puts a copy into " +
				"`.gc/topologies/NAME` and the commit into `topologies.lock`, beside city.toml; " +
				"what is not fetched is a mistake, and nothing is fetched by itself."},
		{path: "topologies.*.source", kind: kindString, require: true, check: checkSource,
			doc: "What git clones: a URL, or a repository's folder."},
		{path: "topologies.*.ref", kind: kindString, check: checkRef,
			doc: "Branch, tag or commit. Without it, the branch that the repository " +
				"itself shows."},
		{path: "topologies.*.path", kind: kindString, check: checkInside,
			doc: "Folder of the topology within the repository. Without it, its top."},
		{path: "agents.scope", kind: kindString, enum: []string{"city", "rig"},
			doc: "For an agent of a topology: `city`, and a city's topology gives it to the " +
				"city; `rig`, and a rig's gives it to the rig. " +
				"Elsewhere it says nothing."},
	}
	for _, k := range keys {
		if name, ok := strings.CutPrefix(k.path, "workspace."); ok {
			k.path = "rigs." + name
			if name == "topology" {
				k.doc = "Topology of the rig, which gets its other agents: " + entry + "."
			}
			keys = append(keys, k)
		}
	}
	return keys
}

// topologyKeys are those of topology.toml besides [[agents]], [[watchdogs]] and [providers.X].
func topologyKeys() []key {
	return []key{
		{path: "topology", kind: kindTable, alias: "pack", doc: "What the topology is. `[pack]` " +
			"is the same."},
		{path: "topology.name", kind: kindString, require: true, check: checkName,
			doc: "Its name, shown where what comes from it is."},
		{path: "topology.schema", kind: kindInt, require: true, check: checkSchema,
			doc: "Version of this format: 1."},
		{path: "topology.version", kind: kindString,
			doc: "Its own version, for people."},
		{path: "topology.requires_gc", kind: kindString, check: checkRequires,
			doc: "Which versions of Gas City it was written for: comparisons like `>=0.13` or " +
				"`0.13.2`, several with commas between. " +
				"This program counts as " + speaks + "; it is a mistake if that is not among them."},
		{path: "topology.includes", kind: kindStrings, check: checkLines,
			doc: "Folders of other topologies, relative to this one, whose agents, providers " +
				"and formulas belong to it, below its own."},
		{path: "topology.city_agents", kind: kindStrings, check: checkLines,
			doc: "Names of the agents of scope `city`; the others are of scope `rig`. Where " +
				"neither this nor any `scope` is written, all agents are of both."},
		{path: "formulas", kind: kindTable, doc: "Recipes for work, and automations, that come " +
			"with the topology."},
		{path: "formulas.dir", kind: kindString, def: `"formulas"`, check: checkPath,
			doc: "Their folder, relative to the topology's."},
	}
}

// derived makes the keys that repeat others: those of patches.rigs are a rig's, those of a rig's overrides a patch's.
func derivedKeys(all []key) []key {
	var out []key
	for _, k := range all {
		if name, ok := strings.CutPrefix(k.path, "rigs."); ok && name != "overrides" {
			k.path, k.def, k.spent = "patches.rigs."+name, "", false
			switch {
			case name == "name":
				k.doc = "The rig's `name`. That there is no such rig is a mistake."
			case k.status == supported:
				k.require, k.doc = false, "What counts instead of the rig's own `"+name+"`."
			}
			out = append(out, k)
		}
		if name, ok := strings.CutPrefix(k.path, "patches.agents."); ok && name != "dir" {
			k.path = "rigs.overrides." + name
			if name == "name" {
				k.alias, k.doc = "agent", "The agent's `name`, as its topology has it; `agent` "+
					"is the same. That the rig's topologies have no such agent is a mistake."
			}
			out = append(out, k)
		}
	}
	return append(out,
		key{path: "patches.rigs", kind: kindTables, doc: "Changes one rig, wherever it " +
			"is declared."},
		key{path: "rigs.overrides", kind: kindTables, doc: "Changes one agent or pool that a " +
			"topology of this rig has, as `[[patches.agents]]` " +
			"would, and after these: `[[rigs.overrides]]` below the rig."})
}

// topologySchema is the table of topology.toml.
func topologySchema(city schema) schema {
	s := schema{map[string]*key{}, map[string][]*key{}}
	add := func(k *key) {
		s.byPath[k.path] = k
		s.tables[k.table()] = append(s.tables[k.table()], k)
	}
	own := topologyKeys()
	for i := range own {
		add(&own[i])
	}
	var walk func(table string)
	walk = func(table string) {
		for _, k := range city.tables[table] {
			top, _, _ := strings.Cut(k.path, ".")
			if slices.Contains([]string{"agents", "providers", "watchdogs"}, top) &&
				k.path != "watchdogs.rig" {
				add(k)
				walk(k.path)
			}
		}
	}
	walk("")
	return s
}
