package keys

import "gcity/automation"

func workKeys() []Key {
	return []Key{
		{Path: "beads", Kind: Table, Doc: "Where gcity stores work. The built-in store is in the " +
			"city's folder and in the folder of each rig, as `.beads/beads.db`."},
		{Path: "beads.provider", Kind: String, Def: `""`, Check: checkBeads,
			known: []string{"file", "bd", "exec:"},
			Doc: "\"\" = the built-in store, which needs no other program; `file` means the " +
				"same. `bd` = the program with that name, which must be installed. `exec:SCRIPT` " +
				"= a script: a path with a slash, relative to the city's folder " +
				"(`exec:./store.sh`), or a name on the `PATH`; see [stores.md](stores.md). " +
				"The environment variable `GC_BEADS` takes precedence. A change " +
				"does not move existing work to the new store; use `gcity bead export` and " +
				"`gcity bead import` for that."},

		{Path: "dolt", Kind: Table, Doc: "The database server that `bd` uses. gcity passes its " +
			"address to `bd` in environment variables. By default, `bd` finds a server on its " +
			"own."},
		{Path: "dolt.host", Kind: String, Check: checkFilled,
			Doc: "Host name or address of the server."},
		{Path: "dolt.port", Kind: Int,
			Within: within(1, 65535, "use a port from 1 to 65535"), Doc: "Port of the server."},
		{Path: "dolt.managed", Kind: Bool, Def: "false",
			Doc: "`true`: gcity starts a Dolt server for `bd` together with the city, restarts " +
				"it when it exits, and stops it with the city. In that case, `host` must be this " +
				"machine (default `127.0.0.1`), and the default of `port` is 3307. The program " +
				"`dolt` must be installed. gcity also manages the server if this key is not set, " +
				"but bd's own configuration names a server on this machine."},

		{Path: "formulas", Kind: Table, Doc: "Formulas, which are templates for work. gcity uses " +
			"the default folder even without this table."},
		{Path: "formulas.dir", Kind: String, Def: `".gc/formulas"`, Check: checkPath,
			Doc: "Folder of the city's own formulas (`NAME.formula.toml`), with the city's own " +
				"automations in `automations/NAME/automation.toml`; see " +
				"[automations.md](automations.md). The folder need not exist. Changes in it take " +
				"effect immediately and do not restart any agents."},

		{Path: "automations", Kind: Table, Alias: "orders",
			Doc: "Settings for automations, no matter where they are defined. `[orders]` " +
				"means the same."},
		{Path: "automations.skip", Kind: Strings, Check: checkSkip,
			Doc: "Automations that are disabled. `NAME` disables all automations with that name; " +
				"`NAME:rig:RIG` disables only that rig's automation. Lists still show them, as " +
				"off. An unknown name causes a configuration warning."},
		{Path: "automations.max_timeout", Kind: Duration, Check: checkNotNegative,
			Doc: "Upper limit for the `timeout` of all automations. By default, and with " +
				"`\"0s\"`, the `timeout` has no limit."},
	}
}

func overrideKeys() []Key {
	return []Key{
		{Path: "automations.overrides", Kind: Tables,
			Doc: "Changes keys of one automation; the other keys keep the values from its file. " +
				"If several tables change the same automation, the last one wins, key by key. If " +
				"the automation is unknown, the list of automations shows an error."},
		{Path: "automations.overrides.name", Kind: String, Require: true,
			Check: checkAutomation,
			Doc:   "The automation: the name of its folder."},
		{Path: "automations.overrides.rig", Kind: String, Check: CheckName,
			Doc: "The automation's rig. If this key is not set, the table changes the city's " +
				"automation."},
		{Path: "automations.overrides.enabled", Kind: Bool,
			Doc: "`false`: the automation is disabled; lists show it as off."},
		{Path: "automations.overrides.gate", Kind: String, Enum: automation.GateNames(),
			Doc: "The gate: `cooldown`, `cron`, `condition`, `event` or `manual`."},
		{Path: "automations.overrides.interval", Kind: Duration,
			Check: checkAtLeast(automation.MinInterval),
			Doc: "For `cooldown`: time from the start of one run to the start of the next. The " +
				"minimum is 1s."},
		{Path: "automations.overrides.schedule", Kind: String, Check: checkSchedule,
			Doc: "For `cron`: a line of five fields, or `@hourly`, `@daily`, `@weekly`, " +
				"`@monthly`, `@yearly`."},
		{Path: "automations.overrides.check", Kind: String, Check: checkFilled,
			Doc: "For `condition`: a shell command that exits with code 0 if the automation is " +
				"due."},
		{Path: "automations.overrides.on", Kind: String, Check: checkOn,
			Doc: "For `event`: an event type, or a prefix of event types followed by `*`."},
		{Path: "automations.overrides.pool", Kind: String, Check: checkPool,
			Doc: "The pool that does the work that the formula describes. `RIG/NAME` is a rig's " +
				"pool. `NAME` is a pool of the automation's rig; if the automation has no rig, " +
				"`NAME` is a pool of the city."},
		{Path: "automations.overrides.timeout", Kind: Duration,
			Check: checkAtLeast(automation.MinTime),
			Doc: "A run that takes longer fails, and all its processes are killed. The minimum " +
				"is 100ms."},
	}
}
