package config

func workspaceKeys() []key {
	return []key{
		{path: "workspace", kind: kindTable, doc: "The city as a whole."},
		{path: "workspace.name", kind: kindString, check: checkName,
			doc:   "Name of the city; without it, the name of its folder. A running city refuses to be renamed.",
			field: func(p place) any { return &p.city.Workspace.Name }},
		{path: "workspace.suspended", kind: kindBool, def: "false",
			doc:   "No agent of the city runs. `gcity suspend` and `gcity resume` write it.",
			field: func(p place) any { return &p.city.Workspace.Suspended }},
		{path: "workspace.session_template", kind: kindString, def: `"gc-{{.City}}-{{.Agent}}"`, check: checkFilled,
			doc:   "Name of an agent's session, a template. It must give every agent another name.",
			field: func(p place) any { return &p.city.Workspace.SessionTemplate }},
		{path: "workspace.start_command", kind: kindString, check: checkFilled,
			doc:   "Command of the agents that have none of their own.",
			field: func(p place) any { return &p.city.Workspace.StartCommand }},
	}
}

func agentKeys() []key {
	return []key{
		{path: "agents", kind: kindTables, alias: "agent", doc: "One agent, an interactive program on a terminal of its own. `[[agent]]` is the same."},
		{path: "agents.name", kind: kindString, require: true, check: checkName,
			doc:   "Name, unique in the city: letters, digits, `.`, `_`, `-`, the first a letter or digit, at most 64.",
			field: func(p place) any { return &p.agent.Name }},
		{path: "agents.dir", kind: kindString, check: checkPath,
			doc: "Working folder, a template. Relative to the city, made if it is missing, and not allowed to leave the city by `..`; " +
				"an absolute folder may be anywhere and must exist. Without it, the city's folder.",
			field: func(p place) any { return &p.agent.Dir }},
		{path: "agents.description", kind: kindString, doc: "What it is for, shown in lists.",
			field: func(p place) any { return &p.agent.Description }},
		{path: "agents.suspended", kind: kindBool, def: "false",
			doc:   "The agent does not run. `gcity agent suspend` and `gcity agent resume` write it.",
			field: func(p place) any { return &p.agent.Suspended }},
		{path: "agents.start_command", kind: kindString, check: checkFilled,
			doc:   "A shell command line, run by `sh -c` as it stands: nothing is added to it. Without it, `workspace.start_command`.",
			field: func(p place) any { return &p.agent.StartCommand }},
		{path: "agents.env", kind: kindEnv,
			doc: "Environment besides the inherited one. `$NAME` and `${NAME}` stand for the variables of the controller, `$$` for a dollar sign; " +
				"anything else stays as it is.",
			field: func(p place) any { return &p.agent.Env }},
		{path: "agents.nudge", kind: kindString,
			doc:   "Typed into the terminal and submitted once the agent is ready. Without it nothing is typed.",
			field: func(p place) any { return &p.agent.Nudge }},
		{path: "agents.ready_delay_ms", kind: kindMillis, def: "0", check: checkReadyDelay,
			doc:   "The agent counts as ready this long after its start; at most 3600000 (1h).",
			field: func(p place) any { return &p.agent.ReadyDelay }},
		{path: "agents.ready_prompt_prefix", kind: kindString,
			doc:   "The agent counts as ready once a line of its screen starts with this.",
			field: func(p place) any { return &p.agent.ReadyPromptPrefix }},
		{path: "agents.pre_start", kind: kindStrings, check: checkLines,
			doc:   "Shell lines, templates, run on the host before the session is there.",
			field: func(p place) any { return &p.agent.PreStart }},
		{path: "agents.session_setup", kind: kindStrings, check: checkLines,
			doc:   "Shell lines, templates, run on the host once the session is there.",
			field: func(p place) any { return &p.agent.SessionSetup }},
		{path: "agents.session_setup_script", kind: kindString, check: checkPath,
			doc: "A script run after `session_setup`, a template. Relative to the city, or absolute. A change of its content counts " +
				"as a change of the configuration.",
			field: func(p place) any { return &p.agent.SessionSetupScript }},
		{path: "agents.restart", kind: kindString, def: `"always"`, check: oneOf("always", "on-failure", "never"),
			doc:   "What follows an end that nobody asked for: `always`, `on-failure` or `never` a new start.",
			field: func(p place) any { return &p.agent.Restart }},
		{path: "agents.min_uptime", kind: kindDuration, def: `"10s"`, check: checkNotNegative,
			doc:   "Under `restart = \"always\"` a clean exit sooner than this counts as a crash.",
			field: func(p place) any { return &p.agent.MinUptime }},
	}
}

func cityKeys() []key {
	return []key{
		{path: "daemon", kind: kindTable, doc: "How the city is kept alive."},
		{path: "daemon.patrol_interval", kind: kindDuration, def: `"30s"`, check: checkPatrol,
			doc:   "Time between two looks at every agent; at least 100ms. What happens in between is acted on at once, without waiting for it.",
			field: func(p place) any { return &p.city.Daemon.PatrolInterval }},
		{path: "daemon.max_restarts", kind: kindInt, def: "5", check: checkRestarts,
			doc:   "So many crashes within `restart_window` are answered by a restart; the next one quarantines the agent. 0 = any number.",
			field: func(p place) any { return &p.city.Daemon.MaxRestarts }},
		{path: "daemon.restart_window", kind: kindDuration, def: `"1h"`, check: checkPositive,
			doc:   "The time in which crashes are counted, and how long a quarantine lasts.",
			field: func(p place) any { return &p.city.Daemon.RestartWindow }},
		{path: "daemon.shutdown_timeout", kind: kindDuration, def: `"5s"`, check: checkNotNegative,
			doc:   "Time an agent has to end by itself after an interrupt. 0 = none, it is killed.",
			field: func(p place) any { return &p.city.Daemon.ShutdownTimeout }},
		{path: "daemon.restart_backoff", kind: kindDuration, def: `"1s"`, check: checkNotNegative,
			doc:   "Wait before the second restart in a row; doubles to at most `patrol_interval`. The first restart is immediate. 0 = no wait.",
			field: func(p place) any { return &p.city.Daemon.RestartBackoff }},

		{path: "session", kind: kindTable, doc: "Where agents run."},
		{path: "session.provider", kind: kindString, def: `"pty"`, check: checkProvider,
			doc: "What runs the sessions: `pty`, the terminals built in (\"\" is the same); `fake` and `fail` for drills. " +
				"The environment variable `GC_SESSION` beats it. `tmux`, `subprocess`, `exec:…` and `k8s` are not supported yet.",
			field: func(p place) any { return &p.city.Session.Provider }},
		{path: "session.cols", kind: kindInt, def: "120", check: checkSize,
			doc:   "Width of an agent's terminal while nobody is attached, 2 to 1000.",
			field: func(p place) any { return &p.city.Session.Cols }},
		{path: "session.rows", kind: kindInt, def: "40", check: checkSize,
			doc:   "Height of it, 2 to 1000.",
			field: func(p place) any { return &p.city.Session.Rows }},

		{path: "events", kind: kindTable, doc: "Where events are kept."},
		{path: "events.provider", kind: kindString, def: `""`, check: checkEvents,
			doc:   "\"\" = the log in `.gc/events.jsonl`. `exec:…`, `fake` and `fail` are not supported yet.",
			field: func(p place) any { return &p.city.Events.Provider }},
	}
}
