package keys

import "strings"

// ChangeKeys returns the keys of a table that patches agents.
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
			k.Doc = "Changes individual keys of the agent's pool. An ordinary agent becomes a pool."
		case k.Kind == Env:
			k.Doc = "Variables that are added to the agent's own `" + rest + "`, or that " +
				"replace those with the same name."
		default:
			k.Doc = "Replaces the agent's own `" + rest + "`."
		}
		out = append(out, k)
		if k.Kind == Env {
			out = append(out, Key{Path: Join(table, rest+"_remove"), Kind: Strings,
				Check: checkLines,
				Doc: "Names of variables that are removed from the " +
					"agent's own `" + rest + "` after the patch has added variables."})
		}
	}
	return out
}

// Changeable reports whether a patch can change the key of an agent.
func (k *Key) Changeable() bool { return k.Path != "agents.name" && k.Path != "agents.dir" }

func PatchKeys() []Key {
	return append([]Key{
		{Path: "patches", Kind: Table, Doc: "Changes to agents, rigs, providers and watchdogs " +
			"that other files or tables declare."},
		{Path: "patches.agents", Kind: Tables,
			Doc: "Changes one agent or pool, no matter where it is declared. gcity's commands " +
				"use such patches to change agents from included files, because they do not edit " +
				"those files."},
		{Path: "patches.agents.dir", Kind: String, Check: checkPath,
			Doc: "The agent's `dir`, as declared. You can omit it unless it names a rig."},
		{Path: "patches.agents.name", Kind: String, Require: true, Check: CheckName,
			Doc: "The agent's `name`. An unknown agent is an error."},
		{Path: "patches.providers", Kind: Tables, Doc: "Changes individual keys and environment " +
			"variables of one provider."},
		{Path: "patches.providers.name", Kind: String, Require: true, Check: CheckName,
			Doc: "The provider's name: a `[providers]` table or a preset. An unknown provider " +
				"is an error."},
		{Path: "patches.providers._replace", Kind: Bool,
			Doc: "`true`: the patch replaces the provider completely, including its tables " +
				"and its preset."},
	}, providerKeys("patches.providers")...)
}
