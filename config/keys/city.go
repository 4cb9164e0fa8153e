package keys

import (
	"slices"

	"gcity/internal/passthrough"
)

func workspaceKeys() []Key {
	return []Key{
		{Path: "include", Kind: Strings, Check: checkLines,
			Doc: "Files with more of the configuration, read after this one, at most 100. " +
				"Agents, rigs and patches of all files are one list, this " +
				"file's first; of other values the last file's counts, key by key. That two " +
				"files set the same key of `[workspace]`, " +
				"`[providers]` or `[topologies]` is a warning, and with `--strict` a mistake. A " +
				"path is relative to the city. An included file " +
				"cannot include others; `-f FILE` on the command line adds one more."},
		{Path: "workspace", Kind: Table, Doc: "The city as a whole."},
		{Path: "workspace.name", Kind: String, Check: CheckName, Pattern: namePattern,
			Doc: "Name of the city; without it, the name of its folder. A running city refuses " +
				"to be renamed."},
		{Path: "workspace.suspended", Kind: Bool, Def: "false",
			Doc: "No agent of the city runs, no watchdog checks them, and its automations fire " +
				"only by hand or with `while_suspended`. `gcity suspend` and `gcity " +
				"resume` write it."},
		{Path: "workspace.session_template", Kind: String, Def: `"gc-{{.City}}-{{.Agent}}"`,
			Check: checkFilled,
			Doc: "Name of an agent's session, a template. It must give every agent " +
				"another name."},
		{Path: "workspace.start_command", Kind: String, Check: checkFilled,
			Doc: "Command of the agents that have none of their own, where there is no " +
				"`provider` either."},
	}
}

func cityKeys() []Key {
	return slices.Concat(daemonKeys(), sessionKeys(), consoleKeys())
}

func daemonKeys() []Key {
	return []Key{
		{Path: "daemon", Kind: Table, Doc: "How the city is kept alive."},
		{Path: "daemon.patrol_interval", Kind: Duration, Def: `"30s"`, Check: checkPatrol,
			Doc: "Time between two looks at every agent; at least 100ms. What happens in " +
				"between is acted on at once, without waiting for it."},
		{Path: "daemon.max_restarts", Kind: Int, Def: "5", Within: restartBounds(),
			Doc: "So many crashes within `restart_window` are answered by a restart; the next " +
				"one quarantines the agent. 0 = any number."},
		{Path: "daemon.restart_window", Kind: Duration, Def: `"1h"`, Check: checkPositive,
			Doc: "The time in which crashes are counted, and how long a quarantine lasts."},
		{Path: "daemon.shutdown_timeout", Kind: Duration, Def: `"5s"`, Check: checkNotNegative,
			Doc: "Time an agent has to end by itself after an interrupt. 0 = none, it is killed."},
		{Path: "daemon.restart_backoff", Kind: Duration, Def: `"1s"`, Check: checkNotNegative,
			Doc: "Wait before the second restart in a row; doubles to at most " +
				"`patrol_interval`. The first restart is immediate. 0 = no wait."},
		{Path: "daemon.crash_history", Kind: String, Def: `"memory"`,
			Enum: []string{"memory", "disk"},
			Doc: "Where crashes, waits and quarantines are remembered: `memory`, so that the " +
				"next controller begins with a clean slate, or " +
				"`disk`, in `.gc/`, so that it goes on where the last one ended."},
		{Path: "daemon.wisp_gc_interval", Kind: Duration, Check: checkWisp,
			Doc: "Time between two looks for wisps, the work made by automations, that are " +
				"closed and older than `wisp_ttl`; at least 100ms."},
		{Path: "daemon.wisp_ttl", Kind: Duration, Check: checkWisp,
			Doc: "How long a closed wisp is kept before it is removed for good. Without it and " +
				"`wisp_gc_interval` all wisps stay; of one written alone the other is \"24h\" or " +
				"\"5m\", with a warning. " +
				"Records of runs of automations go after it too, or else after 14 days; the " +
				"newest 100 of each automation stay."},
	}
}

func sessionKeys() []Key {
	return []Key{
		{Path: "session", Kind: Table, Doc: "Where agents run."},
		{Path: "session.provider", Kind: String, Def: `"pty"`, Check: checkProvider,
			known: sessionProviders(),
			Doc: "What runs the sessions of agents that name no provider of their own: `pty`, " +
				"the terminals built in (\"\" is the same); `tmux`, where an operator can attach " +
				"with tmux itself; " +
				"`subprocess`, processes without a terminal; `plugin:PROGRAM`, a [helper " +
				"program](session-protocol.md), and `exec:SCRIPT`, a script that knows how, " +
				"their paths relative to the city, or names " +
				"to be found on `PATH`; `fake`, which runs nothing, and `fail`, which refuses " +
				"every start, for drills; `k8s`, with which agents " +
				"are not started yet. A change restarts the agents it is about. The environment " +
				"variable `GC_SESSION` beats it."},
		{Path: "session.cols", Kind: Int, Def: "120", Within: sizeBounds(),
			Doc: "Width of an agent's terminal while nobody is attached, 2 to 1000."},
		{Path: "session.rows", Kind: Int, Def: "40", Within: sizeBounds(),
			Doc: "Height of it, 2 to 1000."},
		{Path: "session.passthrough", Kind: Strings, Check: checkPassthrough,
			known: passthrough.Names(),
			Doc: "Classes of terminal sequences that reach the terminal of a user who attaches, " +
				"and that are dropped otherwise: `clipboard` and " +
				"`clipboard-read` (OSC 52), `title-report`, `dcs-request` (DECRQSS, XTGETTCAP), " +
				"`dcs` (all others that are not images), `media-copy` " +
				"(printing), `answerback`, `screen-report`, `osc` (numbers that are not known to " +
				"be harmless). See [security.md](security.md#terminals)."},
	}
}

func consoleKeys() []Key {
	return []Key{
		{Path: "events", Kind: Table, Doc: "Where events are kept."},
		{Path: "events.provider", Kind: String, Def: `""`, Check: checkEvents,
			known: []string{"exec:", "fake", "fail"},
			Doc: "\"\" = the log in `.gc/events.jsonl`. `exec:SCRIPT` = that log, and a script " +
				"that the controller tells of every event; a path " +
				"(relative to the city) or a name on the `PATH`, see " +
				"[stores.md](stores.md#events). For drills: `fake` = a log that is forgotten " +
				"when the controller ends, `fail` = one that cannot be written. The environment " +
				"variable `GC_EVENTS` beats it. A change " +
				"counts from the next start of the controller."},

		{Path: "console", Kind: Table, Doc: "How the control room shows this city. What a " +
			"person prefers is in a file of their own, see " +
			"`gcity prefs path`."},
		{Path: "console.theme", Kind: String, Check: checkFilled,
			Doc: "Theme for people who have chosen none: `terminal`, `dark`, `light`, " +
				"`high-contrast`, `colour-blind`, `auto`, or one that " +
				"they have made themselves. One that somebody does not have is told to them, and " +
				"theirs stays."},
		{Path: "console.colour", Kind: String, Check: checkColour,
			Doc: "The city's own colour, behind its name in the header, so that two cities are " +
				"not taken for each other: `red` and its like, " +
				"`bright-red`, a number from 0 to 255, or `#rrggbb`."},
	}
}
