package keys

import (
	"slices"

	"gcity/internal/passthrough"
)

func workspaceKeys() []Key {
	return []Key{
		{Path: "include", Kind: Strings, Check: checkLines,
			Doc: "Additional configuration files, at most 100, which gcity reads after this " +
				"file, in this order. gcity combines the agents, rigs and patches from all " +
				"files; those from this file come first. For every other key, the value from the " +
				"last file wins. If two files set the same key in `[workspace]`, `[providers]` " +
				"or `[topologies]`, gcity prints a warning, or an error with `--strict`. Paths " +
				"are relative to the city's folder. An included file cannot include other files. " +
				"The command-line option `-f FILE` adds another file."},
		{Path: "workspace", Kind: Table, Doc: "Settings for the whole city."},
		{Path: "workspace.name", Kind: String, Check: CheckName, Pattern: namePattern,
			Doc: "Name of the city. Default: the name of its folder. You cannot rename a running " +
				"city."},
		{Path: "workspace.suspended", Kind: Bool, Def: "false",
			Doc: "`true`: the city's agents do not run, and watchdogs do not check them. " +
				"Automations without `while_suspended` run only if you start them. `gcity " +
				"suspend` and `gcity resume` set this key."},
		{Path: "workspace.session_template", Kind: String, Def: `"gc-{{.City}}-{{.Agent}}"`,
			Check: checkFilled,
			Doc: "Template for the names of agents' sessions. It must produce a different name " +
				"for each agent."},
		{Path: "workspace.start_command", Kind: String, Check: checkFilled,
			Doc: "Command for agents that set neither `start_command` nor `provider`. gcity uses " +
				"it only if `workspace.provider` is not set."},
	}
}

func cityKeys() []Key {
	return slices.Concat(daemonKeys(), sessionKeys(), consoleKeys())
}

func daemonKeys() []Key {
	return []Key{
		{Path: "daemon", Kind: Table, Doc: "How the city keeps its agents running."},
		{Path: "daemon.patrol_interval", Kind: Duration, Def: `"30s"`, Check: checkPatrol,
			Doc: "Interval between two patrols. The minimum is 100ms. A patrol checks every " +
				"agent. The controller reacts to exits and other events immediately, not only at " +
				"patrols."},
		{Path: "daemon.max_restarts", Kind: Int, Def: "5",
			Within: within(0, 10_000, "use at most 10000, or 0 for no limit"),
			Doc: "The number of crashes that an agent can have within `restart_window`. One more " +
				"crash quarantines the agent. 0 = no limit."},
		{Path: "daemon.restart_window", Kind: Duration, Def: `"1h"`, Check: checkPositive,
			Doc: "The period in which gcity counts crashes. It is also the duration of a " +
				"quarantine."},
		{Path: "daemon.shutdown_timeout", Kind: Duration, Def: `"5s"`, Check: checkNotNegative,
			Doc: "Time that an agent has to exit after an interrupt. 0 = gcity kills it " +
				"immediately."},
		{Path: "daemon.restart_backoff", Kind: Duration, Def: `"1s"`, Check: checkNotNegative,
			Doc: "Delay before the second restart in a row; it doubles with each further " +
				"restart, up to `patrol_interval`. The first restart is immediate. 0 = no delay."},
		{Path: "daemon.crash_history", Kind: String, Def: `"memory"`,
			Enum: []string{"memory", "disk"},
			Doc: "Where gcity stores crashes, delays and quarantines. `memory`: they are lost if " +
				"the controller crashes. `disk`: in `.gc/`. A controller that deliberately " +
				"leaves its agents running always passes this data on to the next controller."},
		{Path: "daemon.wisp_gc_interval", Kind: Duration, Check: checkWisp,
			Doc: "How often gcity deletes wisps (molecules that automations or `gcity " +
				"sling` have created) that have been closed for longer than `wisp_ttl`. The " +
				"minimum is 100ms."},
		{Path: "daemon.wisp_ttl", Kind: Duration, Check: checkWisp,
			Doc: "How long gcity keeps a closed wisp before it deletes it. If neither this key " +
				"nor `wisp_gc_interval` is set, gcity keeps all wisps. If only one of them is " +
				"set, gcity prints a warning and uses a default for the other: \"24h\" for this " +
				"key, \"5m\" for `wisp_gc_interval`. This key also determines how long gcity " +
				"keeps records of automation runs (14 days if the key is not set). gcity always " +
				"keeps the newest 100 records of each automation."},
	}
}

func sessionKeys() []Key {
	return []Key{
		{Path: "session", Kind: Table, Doc: "Where agents run."},
		{Path: "session.provider", Kind: String, Def: `"pty"`, Check: checkProvider,
			known: sessionProviders(),
			Doc: "The session provider for agents without a `session` key: `pty`, the built-in " +
				"terminals (\"\" means the same); `tmux`, sessions to which you can also attach " +
				"with tmux itself; `subprocess`, processes without a terminal; `plugin:PROGRAM`, " +
				"a [helper program](session-protocol.md); `exec:SCRIPT`, a " +
				"[script](script-protocol.md); `k8s`, [pods](kubernetes.md). The provider `k8s` " +
				"needs the program `gcity-session-k8s` next to gcity or on `PATH`. Two providers " +
				"are for testing: `fake` runs nothing, and `fail` makes every start fail. " +
				"PROGRAM and SCRIPT are paths with a slash, relative to the city's folder, or " +
				"names on `PATH`. A change restarts the affected agents. The environment " +
				"variable `GC_SESSION` takes precedence."},
		{Path: "session.cols", Kind: Int, Def: "120", Within: sizeBounds(),
			Doc: "Width of an agent's terminal while no user is attached, 2 to 1000."},
		{Path: "session.rows", Kind: Int, Def: "40", Within: sizeBounds(),
			Doc: "Height of an agent's terminal while no user is attached, 2 to 1000."},
		{Path: "session.passthrough", Kind: Strings, Check: checkPassthrough,
			known: passthrough.Names(),
			Doc: "Classes of potentially harmful terminal sequences that gcity passes on to an " +
				"attached user's terminal. gcity drops all other classes. The classes are " +
				"`clipboard` and `clipboard-read` (OSC 52), `title-report`, `dcs-request` " +
				"(DECRQSS, XTGETTCAP), `dcs` (all other DCS sequences except images), " +
				"`media-copy` (printing), `answerback`, `screen-report`, and `osc` (OSC " +
				"sequences with numbers that are not known to be harmless). See " +
				"[security.md](security.md#terminals)."},
	}
}

func consoleKeys() []Key {
	return []Key{
		{Path: "events", Kind: Table, Doc: "Where events are stored."},
		{Path: "events.provider", Kind: String, Def: `""`, Check: checkEvents,
			known: []string{"exec:", "fake", "fail"},
			Doc: "\"\" = the log in `.gc/events.jsonl`. `exec:SCRIPT` = the same log, and a " +
				"script that receives every event; SCRIPT is a path with a slash, relative " +
				"to the city's folder, or a name on the `PATH`. See " +
				"[stores.md](stores.md#events). For testing: `fake` = a log that is lost " +
				"when the controller exits, `fail` = a log that cannot be written. The " +
				"environment variable `GC_EVENTS` takes precedence. A change takes effect at the " +
				"controller's next start; until then, `gcity status` shows a warning."},

		{Path: "console", Kind: Table, Doc: "How the control room shows this city. A user's " +
			"preferences are in a separate file; see `gcity prefs path`."},
		{Path: "console.theme", Kind: String, Check: checkFilled,
			Doc: "Theme for users who have not chosen one: `terminal`, `dark`, `light`, " +
				"`high-contrast`, `colour-blind`, `auto`, or the name of a user's own theme. A " +
				"user who does not have that theme sees a message and keeps the current theme."},
		{Path: "console.colour", Kind: String, Check: checkColor,
			Doc: "Color behind the city's name in the header, to distinguish cities: a color " +
				"name such as `red` or `bright-red`, a number from 0 to 255, or `#rrggbb`."},
	}
}
