package config

import "gcity/internal/passthrough"

func workspaceKeys() []key {
	return []key{
		{path: "include", kind: kindStrings, check: checkLines,
			doc: "Files with more of the configuration, read after this one, at most 100. " +
				"Agents, rigs and patches of all files are one list, this " +
				"file's first; of other values the last file's counts, key by key. That two " +
				"files set the same key of `[workspace]`, " +
				"`[providers]` or `[topologies]` is a warning, and with `--strict` a mistake. A " +
				"path is relative to the city. An included file " +
				"cannot include others; `-f FILE` on the command line adds one more."},
		{path: "workspace", kind: kindTable, doc: "The city as a whole."},
		{path: "workspace.name", kind: kindString, check: checkName, pattern: namePattern,
			doc: "Name of the city; without it, the name of its folder. A running city refuses " +
				"to be renamed."},
		{path: "workspace.suspended", kind: kindBool, def: "false",
			doc: "No agent of the city runs, no watchdog checks them, and its automations fire " +
				"only by hand or with `while_suspended`. `gcity suspend` and `gcity " +
				"resume` write it."},
		{path: "workspace.session_template", kind: kindString, def: `"gc-{{.City}}-{{.Agent}}"`,
			check: checkFilled,
			doc:   "Name of an agent's session, a template. It must give every agent another name."},
		{path: "workspace.start_command", kind: kindString, check: checkFilled,
			doc: "Command of the agents that have none of their own, where there is no " +
				"`provider` either."},
	}
}

func cityKeys() []key {
	return []key{
		{path: "daemon", kind: kindTable, doc: "How the city is kept alive."},
		{path: "daemon.patrol_interval", kind: kindDuration, def: `"30s"`, check: checkPatrol,
			doc: "Time between two looks at every agent; at least 100ms. What happens in " +
				"between is acted on at once, without waiting for it."},
		{path: "daemon.max_restarts", kind: kindInt, def: "5", within: restartBounds(),
			doc: "So many crashes within `restart_window` are answered by a restart; the next " +
				"one quarantines the agent. 0 = any number."},
		{path: "daemon.restart_window", kind: kindDuration, def: `"1h"`, check: checkPositive,
			doc: "The time in which crashes are counted, and how long a quarantine lasts."},
		{path: "daemon.shutdown_timeout", kind: kindDuration, def: `"5s"`, check: checkNotNegative,
			doc: "Time an agent has to end by itself after an interrupt. 0 = none, it is killed."},
		{path: "daemon.restart_backoff", kind: kindDuration, def: `"1s"`, check: checkNotNegative,
			doc: "Wait before the second restart in a row; doubles to at most " +
				"`patrol_interval`. The first restart is immediate. 0 = no wait."},
		{path: "daemon.crash_history", kind: kindString, def: `"memory"`,
			enum: []string{"memory", "disk"},
			doc: "Where crashes, waits and quarantines are remembered: `memory`, so that the " +
				"next controller begins with a clean slate, or " +
				"`disk`, in `.gc/`, so that it goes on where the last one ended."},
		{path: "daemon.wisp_gc_interval", kind: kindDuration, check: checkWisp,
			doc: "Time between two looks for wisps, the work made by automations, that are " +
				"closed and older than `wisp_ttl`; at least 100ms."},
		{path: "daemon.wisp_ttl", kind: kindDuration, check: checkWisp,
			doc: "How long a closed wisp is kept before it is removed for good. Without it and " +
				"`wisp_gc_interval` all wisps stay; of one written alone the other is \"24h\" or " +
				"\"5m\", with a warning. " +
				"Records of runs of automations go after it too, or else after 14 days; the " +
				"newest 100 of each automation stay."},

		{path: "session", kind: kindTable, doc: "Where agents run."},
		{path: "session.provider", kind: kindString, def: `"pty"`, check: checkProvider,
			known: sessionProviders(),
			doc: "What runs the sessions of agents that name no provider of their own: `pty`, " +
				"the terminals built in (\"\" is the same); `tmux`, where an operator can attach " +
				"with tmux itself; " +
				"`subprocess`, processes without a terminal; `plugin:PROGRAM`, a [helper " +
				"program](session-protocol.md), and `exec:SCRIPT`, a script that knows how, " +
				"their paths relative to the city, or names " +
				"to be found on `PATH`; `fake`, which runs nothing, and `fail`, which refuses " +
				"every start, for drills; `k8s`, with which agents " +
				"are not started yet. A change restarts the agents it is about. The environment " +
				"variable `GC_SESSION` beats it."},
		{path: "session.cols", kind: kindInt, def: "120", within: sizeBounds(),
			doc: "Width of an agent's terminal while nobody is attached, 2 to 1000."},
		{path: "session.rows", kind: kindInt, def: "40", within: sizeBounds(),
			doc: "Height of it, 2 to 1000."},
		{path: "session.passthrough", kind: kindStrings, check: checkPassthrough,
			known: passthrough.Names(),
			doc: "Classes of terminal sequences that reach the terminal of a user who attaches, " +
				"and that are dropped otherwise: `clipboard` and " +
				"`clipboard-read` (OSC 52), `title-report`, `dcs-request` (DECRQSS, XTGETTCAP), " +
				"`dcs` (all others that are not images), `media-copy` " +
				"(printing), `answerback`, `screen-report`, `osc` (numbers that are not known to " +
				"be harmless). See [security.md](security.md#terminals)."},

		{path: "events", kind: kindTable, doc: "Where events are kept."},
		{path: "events.provider", kind: kindString, def: `""`, check: checkEvents,
			known: []string{"exec:", "fake", "fail"},
			doc: "\"\" = the log in `.gc/events.jsonl`. `exec:SCRIPT` = that log, and a script " +
				"that the controller tells of every event; a path " +
				"(relative to the city) or a name on the `PATH`, see " +
				"[stores.md](stores.md#events). For drills: `fake` = a log that is forgotten " +
				"when the controller ends, `fail` = one that cannot be written. The environment " +
				"variable `GC_EVENTS` beats it. A change " +
				"counts from the next start of the controller."},

		{path: "console", kind: kindTable, doc: "How the control room shows this city. What a " +
			"person prefers is in a file of their own, see " +
			"`gcity prefs path`."},
		{path: "console.theme", kind: kindString, check: checkFilled,
			doc: "Theme for people who have chosen none: `terminal`, `dark`, `light`, " +
				"`high-contrast`, `colour-blind`, `auto`, or one that " +
				"they have made themselves. One that somebody does not have is told to them, and " +
				"theirs stays."},
		{path: "console.colour", kind: kindString, check: checkColour,
			doc: "The city's own colour, behind its name in the header, so that two cities are " +
				"not taken for each other: `red` and its like, " +
				"`bright-red`, a number from 0 to 255, or `#rrggbb`."},
	}
}
