package config

import "gcity/automation"

func workKeys() []key {
	return []key{
		{path: "beads", kind: kindTable, doc: "Where work is kept: in `.beads/` of the city, and " +
			"of each rig."},
		{path: "beads.provider", kind: kindString, def: `""`, check: checkBeads,
			known: []string{"file", "bd", "exec:"},
			doc: "\"\" = the store built in, which needs nothing installed; `file` is the same. " +
				"`bd` = the command line tool of that name, " +
				"which has to be installed. `exec:SCRIPT` = a script, by its path (relative to " +
				"the city) or by its name on the `PATH`; " +
				"[stores.md](stores.md) tells what it has to do. The environment variable " +
				"`GC_BEADS` beats it. Work does not move by " +
				"itself from one to another: `gcity bead export` and `import` do that."},

		{path: "dolt", kind: kindTable, doc: "The database server that `bd` is to use, in its " +
			"environment; without the table, the one that it finds by itself."},
		{path: "dolt.host", kind: kindString, check: checkFilled,
			doc: "Name or address of the server."},
		{path: "dolt.port", kind: kindInt, within: portBounds(), doc: "Its port."},
		{path: "dolt.managed", kind: kindBool, def: "false",
			doc: "gcity starts a Dolt server for `bd` with the city, restarts it when it dies, " +
				"and stops it with the city. " +
				"`host` is then this machine (default `127.0.0.1`), and `port` is 3307 by " +
				"default. The program `dolt` has to be " +
				"installed. The same happens without this key where bd's own configuration asks " +
				"for a server on this machine."},

		{path: "formulas", kind: kindTable, doc: "Recipes for work. The folder is looked through " +
			"with or without this table."},
		{path: "formulas.dir", kind: kindString, def: `".gc/formulas"`, check: checkPath,
			doc: "Folder of the city's own `NAME.formula.toml`, and in " +
				"`automations/NAME/automation.toml` of its own automations; " +
				"[automations.md](automations.md) tells how both are written. It need not exist. " +
				"What is written there is noticed at once, and restarts nobody."},

		{path: "automations", kind: kindTable, alias: "orders",
			doc: "What the city says about automations from outside, whoever wrote them. " +
				"`[orders]` is the same."},
		{path: "automations.skip", kind: kindStrings, check: checkSkip,
			doc: "Automations that are off: a name means all that have it, `NAME:rig:RIG` the " +
				"one of a rig. They are still listed, as disabled. " +
				"That there is none is a warning, shown where the configuration's are."},
		{path: "automations.max_timeout", kind: kindDuration, check: checkNotNegative,
			doc: "No run takes longer, whatever its `timeout` says. Without it, or with " +
				"`\"0s\"`, each has its own."},
	}
}

func overrideKeys() []key {
	return []key{
		{path: "automations.overrides", kind: kindTables,
			doc: "Changes single keys of one automation; what is not written stays as its file " +
				"has it. Of several for one automation the later " +
				"wins, key by key. That there is no such automation is a mistake, shown where " +
				"automations are listed."},
		{path: "automations.overrides.name", kind: kindString, require: true,
			check: checkAutomation,
			doc:   "The automation: the name of its folder."},
		{path: "automations.overrides.rig", kind: kindString, check: checkName,
			doc: "The rig whose automation is meant. Without it, the city's."},
		{path: "automations.overrides.enabled", kind: kindBool,
			doc: "`false`: it is off, and listed as disabled."},
		{path: "automations.overrides.gate", kind: kindString, enum: automation.GateNames(),
			doc: "What opens the way: `cooldown`, `cron`, `condition`, `event` or `manual`."},
		{path: "automations.overrides.interval", kind: kindDuration,
			check: checkAtLeast(automation.MinInterval),
			doc:   "Time from one run to the next, for `cooldown`; at least 1s."},
		{path: "automations.overrides.schedule", kind: kindString, check: checkSchedule,
			doc: "A cron line of five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, " +
				"`@yearly`, for `cron`."},
		{path: "automations.overrides.check", kind: kindString, check: checkFilled,
			doc: "A shell line that succeeds when it is time, for `condition`."},
		{path: "automations.overrides.on", kind: kindString, check: checkOn,
			doc: "A type of event, or with `*` at the end the beginning of types, for `event`."},
		{path: "automations.overrides.pool", kind: kindString, check: checkPool,
			doc: "Who works on what its formula makes: `NAME`, of the automation's rig if it " +
				"has one, or `RIG/NAME`."},
		{path: "automations.overrides.timeout", kind: kindDuration,
			check: checkAtLeast(automation.MinTime),
			doc:   "A run that takes longer is ended, and has failed; at least 100ms."},
	}
}
