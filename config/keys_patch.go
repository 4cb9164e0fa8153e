package config

import "strings"

// changeKeys are the keys of a table that changes agents: those of an agent, all of them but what it is known by.
func changeKeys(table string, all []key) []key {
	var out []key
	for i := range all {
		k := all[i]
		rest, ok := strings.CutPrefix(k.path, "agents.")
		if !ok || !changeable(&k) || k.status == dropped {
			continue
		}
		k.path, k.def, k.require = join(table, rest), "", false
		switch {
		case k.status == later:
		case k.kind == kindTable:
			k.doc = "Changes its pool, key by key; an agent that is none becomes one."
		case k.kind == kindEnv:
			k.doc = "Variables that are added to the agent's own `" + rest + "`, or counted " +
				"instead of those of the same name."
		default:
			k.doc = "What counts instead of the agent's own `" + rest + "`."
		}
		out = append(out, k)
		if k.kind == kindEnv {
			out = append(out, key{path: join(table, rest+"_remove"), kind: kindStrings,
				check: checkLines,
				doc: "Names of variables that are taken out of the " +
					"agent's own `" + rest + "`, after that."})
		}
	}
	return out
}

// changeable says whether a key of an agent can be changed from outside.
func changeable(k *key) bool { return k.path != "agents.name" && k.path != "agents.dir" }

func patchKeys() []key {
	return append([]key{
		{path: "patches", kind: kindTable, doc: "Changes to what is declared elsewhere."},
		{path: "patches.agents", kind: kindTables,
			doc: "Changes one agent or pool, wherever it is declared. Commands write one for an " +
				"agent of an included file, which they leave alone."},
		{path: "patches.agents.dir", kind: kindString, check: checkPath,
			doc: "The agent's `dir`, as it is declared. It may be left out, but not where " +
				"it is a rig."},
		{path: "patches.agents.name", kind: kindString, require: true, check: checkName,
			doc: "The agent's `name`. That there is no such agent is a mistake."},
		{path: "patches.providers", kind: kindTables, doc: "Changes one provider, key by key and " +
			"variable by variable."},
		{path: "patches.providers.name", kind: kindString, require: true, check: checkName,
			doc: "The provider's name, of a `[providers]` table or of a program that gcity " +
				"knows. That there is none is a mistake."},
		{path: "patches.providers._replace", kind: kindBool,
			doc: "What is written here is all that counts of the provider: neither its table " +
				"nor what gcity knows of it does."},
	}, providerKeys("patches.providers")...)
}
