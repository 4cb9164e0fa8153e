package keys

import "gcity/automation"

func workKeys() []Key {
	return []Key{
		{Path: "beads", Kind: Table, Doc: "Where work is kept: in `.beads/` of the city, and " +
			"of each rig."},
		{Path: "beads.provider", Kind: String, Def: `""`, Check: checkBeads,
			known: []string{"file", "bd", "exec:"},
			Doc: "\"\" = the store built in, which needs nothing installed; `file` is the same. " +
				"`bd` = the command line tool of that name, " +
				"which has to be installed. `exec:SCRIPT` = a script, by its path (relative to " +
				"the city) or by its name on the `PATH`; " +
				"[stores.md](stores.md) tells what it has to do. The environment variable " +
				"`GC_BEADS` beats it. Work does not move by " +
				"itself from one to another: `gcity bead export` and `import` do that."},

		{Path: "dolt", Kind: Table, Doc: "The database server that `bd` is to use, in its " +
			"environment; without the table, the one that it finds by itself."},
		{Path: "dolt.host", Kind: String, Check: checkFilled,
			Doc: "Name or address of the server."},
		{Path: "dolt.port", Kind: Int, Within: portBounds(), Doc: "Its port."},
		{Path: "dolt.managed", Kind: Bool, Def: "false",
			Doc: "gcity starts a Dolt server for `bd` with the city, restarts it when it dies, " +
				"and stops it with the city. " +
				"`host` is then this machine (default `127.0.0.1`), and `port` is 3307 by " +
				"default. The program `dolt` has to be " +
				"installed. The same happens without this key where bd's own configuration asks " +
				"for a server on this machine."},

		{Path: "formulas", Kind: Table, Doc: "Recipes for work. The folder is looked through " +
			"with or without this table."},
		{Path: "formulas.dir", Kind: String, Def: `".gc/formulas"`, Check: checkPath,
			Doc: "Folder of the city's own `NAME.formula.toml`, and in " +
				"`automations/NAME/automation.toml` of its own automations; " +
				"[automations.md](automations.md) tells how both are written. It need not exist. " +
				"What is written there is noticed at once, and restarts nobody."},

		{Path: "automations", Kind: Table, Alias: "orders",
			Doc: "What the city says about automations from outside, whoever wrote them. " +
				"`[orders]` is the same."},
		{Path: "automations.skip", Kind: Strings, Check: checkSkip,
			Doc: "Automations that are off: a name means all that have it, `NAME:rig:RIG` the " +
				"one of a rig. They are still listed, as disabled. " +
				"That there is none is a warning, shown where the configuration's are."},
		{Path: "automations.max_timeout", Kind: Duration, Check: checkNotNegative,
			Doc: "No run takes longer, whatever its `timeout` says. Without it, or with " +
				"`\"0s\"`, each has its own."},
	}
}

func overrideKeys() []Key {
	return []Key{
		{Path: "automations.overrides", Kind: Tables,
			Doc: "Changes single keys of one automation; what is not written stays as its file " +
				"has it. Of several for one automation the later " +
				"wins, key by key. That there is no such automation is a mistake, shown where " +
				"automations are listed."},
		{Path: "automations.overrides.name", Kind: String, Require: true,
			Check: checkAutomation,
			Doc:   "The automation: the name of its folder."},
		{Path: "automations.overrides.rig", Kind: String, Check: CheckName,
			Doc: "The rig whose automation is meant. Without it, the city's."},
		{Path: "automations.overrides.enabled", Kind: Bool,
			Doc: "`false`: it is off, and listed as disabled."},
		{Path: "automations.overrides.gate", Kind: String, Enum: automation.GateNames(),
			Doc: "What opens the way: `cooldown`, `cron`, `condition`, `event` or `manual`."},
		{Path: "automations.overrides.interval", Kind: Duration,
			Check: checkAtLeast(automation.MinInterval),
			Doc:   "Time from one run to the next, for `cooldown`; at least 1s."},
		{Path: "automations.overrides.schedule", Kind: String, Check: checkSchedule,
			Doc: "A cron line of five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, " +
				"`@yearly`, for `cron`."},
		{Path: "automations.overrides.check", Kind: String, Check: checkFilled,
			Doc: "A shell line that succeeds when it is time, for `condition`."},
		{Path: "automations.overrides.on", Kind: String, Check: checkOn,
			Doc: "A type of event, or with `*` at the end the beginning of types, for `event`."},
		{Path: "automations.overrides.pool", Kind: String, Check: checkPool,
			Doc: "Who works on what its formula makes: `NAME`, of the automation's rig if it " +
				"has one, or `RIG/NAME`."},
		{Path: "automations.overrides.timeout", Kind: Duration,
			Check: checkAtLeast(automation.MinTime),
			Doc:   "A run that takes longer is ended, and has failed; at least 100ms."},
	}
}
