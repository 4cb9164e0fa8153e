package keys

import "strings"

// ChangeKeys are the keys of a table that changes agents: those of an agent, all of them but what it is known by.
func ChangeKeys(table string, all []Key) []Key {
	var out []Key
	for i := range all {
		k := all[i]
		rest, ok := strings.CutPrefix(k.Path, "agents.")
		if !ok || !k.Changeable() || k.Status == Dropped {
			continue
		}
		k.Path, k.Def, k.Require = Join(table, rest), "", false
		switch {
		case k.Status == Later:
		case k.Kind == Table:
			k.Doc = "Changes its pool, key by key; an agent that is none becomes one."
		case k.Kind == Env:
			k.Doc = "Variables that are added to the agent's own `" + rest + "`, or counted " +
				"instead of those of the same name."
		default:
			k.Doc = "What counts instead of the agent's own `" + rest + "`."
		}
		out = append(out, k)
		if k.Kind == Env {
			out = append(out, Key{Path: Join(table, rest+"_remove"), Kind: Strings,
				Check: checkLines,
				Doc: "Names of variables that are taken out of the " +
					"agent's own `" + rest + "`, after that."})
		}
	}
	return out
}

// Changeable says whether a key of an agent can be changed from outside.
func (k *Key) Changeable() bool { return k.Path != "agents.name" && k.Path != "agents.dir" }

func PatchKeys() []Key {
	return append([]Key{
		{Path: "patches", Kind: Table, Doc: "Changes to what is declared elsewhere."},
		{Path: "patches.agents", Kind: Tables,
			Doc: "Changes one agent or pool, wherever it is declared. Commands write one for an " +
				"agent of an included file, which they leave alone."},
		{Path: "patches.agents.dir", Kind: String, Check: checkPath,
			Doc: "The agent's `dir`, as it is declared. It may be left out, but not where " +
				"it is a rig."},
		{Path: "patches.agents.name", Kind: String, Require: true, Check: CheckName,
			Doc: "The agent's `name`. That there is no such agent is a mistake."},
		{Path: "patches.providers", Kind: Tables, Doc: "Changes one provider, key by key and " +
			"variable by variable."},
		{Path: "patches.providers.name", Kind: String, Require: true, Check: CheckName,
			Doc: "The provider's name, of a `[providers]` table or of a program that gcity " +
				"knows. That there is none is a mistake."},
		{Path: "patches.providers._replace", Kind: Bool,
			Doc: "What is written here is all that counts of the provider: neither its table " +
				"nor what gcity knows of it does."},
	}, providerKeys("patches.providers")...)
}
