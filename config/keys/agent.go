package keys

func agentKeys() []Key {
	return []Key{
		{Path: "agents", Kind: Tables, Alias: "agent", Doc: "An agent: an interactive program " +
			"in its own terminal. `[[agent]]` means the same."},
		{Path: "agents.name", Kind: String, Require: true, Check: CheckName,
			Pattern: namePattern,
			Doc: "Name, unique in the city or in its rig: letters, digits, `.`, `_`, `-`, " +
				"starting with a letter or digit, at most 64 characters."},
		{Path: "agents.dir", Kind: String, Check: checkPath,
			Doc: "The name of a rig, or a working folder. With a rig's name, the agent belongs " +
				"to that rig and works in its folder. A working folder is a template. A relative " +
				"path is relative to the city's folder and must not leave it with `..`; gcity " +
				"creates the folder if it is missing. An absolute path can point anywhere, but " +
				"the folder must exist. Default: the city's folder. A change takes effect at the " +
				"agent's next start and does not restart running agents. `gcity plan` and `gcity " +
				"why` show the configured folder."},
		{Path: "agents.description", Kind: String, Doc: "What the agent is for; shown in lists."},
		{Path: "agents.suspended", Kind: Bool, Def: "false",
			Doc: "`true`: the agent does not run, and no watchdog checks it. `gcity agent " +
				"suspend` and `gcity agent resume` set this key."},
		{Path: "agents.start_command", Kind: String, Check: checkFilled,
			Doc: "A command line. gcity passes it to `sh -c` unchanged, or runs it directly if " +
				"it needs no shell. It takes precedence over any `provider`."},
		{Path: "agents.env", Kind: Env,
			Doc: "Environment variables, in addition to the inherited ones. gcity replaces " +
				"`$NAME` and `${NAME}` with the controller's variables and `$$` with a dollar " +
				"sign; all other text is unchanged."},
		{Path: "agents.nudge", Kind: String, Check: checkTypable,
			Doc: "Text that gcity types into the terminal and submits when the agent is ready. " +
				"Without `ready_prompt_prefix` and `ready_delay_ms`, that is immediately after " +
				"the start, when some programs do not read input yet. The text can be at most " +
				"1 MiB long. By default, gcity types nothing."},
		{Path: "agents.ready_delay_ms", Kind: Millis, Within: delayBounds(),
			Doc: "The agent counts as ready after this many milliseconds, or earlier if " +
				"`ready_prompt_prefix` appears. If the agent has a `ready_prompt_prefix` and its " +
				"screen is still empty after this time, gcity waits about a minute longer for " +
				"the first output. The maximum is 3600000 (1h)."},
		{Path: "agents.ready_prompt_prefix", Kind: String,
			Doc: "The agent counts as ready when a line of its screen starts with this text. " +
				"Use the whole prompt, because text after it counts as a user's draft. " +
				"Blanks and box-drawing characters before it do not matter. An option of a " +
				"numbered list (`❯ 1. Yes`) does not count. " +
				"Without `ready_delay_ms`, the start fails if no such line appears within 60s."},
		{Path: "agents.pre_start", Kind: Strings, Check: checkLines,
			Doc: "Shell commands (templates) that run on the host before the session is created."},
		{Path: "agents.session_setup", Kind: Strings, Check: checkLines,
			Doc: "Shell commands (templates) that run on the host after the session is created."},
		{Path: "agents.session_setup_script", Kind: String, Check: checkPath,
			Doc: "The path of a script that gcity runs after `session_setup`. The path is a " +
				"template; it is absolute, or relative to the file that contains the key. A " +
				"change to the script's content counts as a configuration change."},
		{Path: "agents.session", Kind: String, Check: checkProvider, known: sessionProviders(),
			Doc: "The session provider for this agent. It accepts the same values as " +
				"`session.provider`, which is the default; \"\" means `pty`. The environment " +
				"variable `GC_SESSION` does not override this key. A change restarts the agent."},
	}
}

func lifeKeys() []Key {
	return []Key{
		{Path: "agents.restart", Kind: String, Def: `"always"`,
			Enum: []string{"always", "on-failure", "never"},
			Doc: "When gcity restarts the agent after an exit that was not requested: `always`, " +
				"`on-failure` (after a crash) or `never`."},
		{Path: "agents.stop_signal", Kind: String, Check: checkSignal,
			Doc: "The signal that gcity sends to stop the agent, for example `hup` or `term`. " +
				"The agent then has `shutdown_timeout` to exit. Default: `interrupt`, the signal " +
				"that Ctrl-C sends; an interactive shell that is waiting at its prompt also " +
				"receives SIGHUP."},
		{Path: "agents.min_uptime", Kind: Duration, Def: `"10s"`, Check: checkNotNegative,
			Doc: "With `restart = \"always\"`, an exit within this time after the start counts " +
				"as a crash, even if the exit code is 0."},
		{Path: "agents.idle_timeout", Kind: Duration, Check: checkIdle,
			Doc: "gcity restarts the agent if it has had neither output nor input for this time. " +
				"The minimum is 100ms. gcity does not restart the agent while a user is " +
				"attached, while the agent asks a question, while its activity is unknown, or " +
				"while a start would fail, for example because its program is missing. By " +
				"default, and with `\"0s\"`, gcity does not restart idle agents."},
		{Path: "agents.stuck_after", Kind: Duration, Check: checkIdle,
			Doc: "gcity shows the agent as stuck if it has work in progress and has printed " +
				"nothing for this time. The minimum is 100ms. The controller takes no action, " +
				"but watchdogs report that the agent is stuck. An agent that asks a question is " +
				"not stuck. By default, with `\"0s\"`, and if the agent's output is unknown, " +
				"gcity never shows the agent as stuck."},
		{Path: "agents.depends_on", Kind: Strings, Check: checkLines,
			Doc: "Agents and pools that must be running before this agent starts. gcity stops " +
				"them after this agent. A name refers to an agent in the same rig or, if the rig " +
				"has no such agent, in the city; `RIG/NAME` refers to an agent in another rig. A " +
				"pool is ready when one of its members is running, or when it should have no " +
				"members."},
		{Path: "agents.strategy", Kind: String, Def: `"one_for_one"`,
			Enum: []string{"one_for_one", "one_for_all", "rest_for_one"},
			Doc: "Which other agents gcity restarts when this agent crashes. `one_for_one`: " +
				"none. `one_for_all`: all agents that are connected to it by `depends_on`, in " +
				"either direction, directly or indirectly. `rest_for_one`: the agents that " +
				"depend on it, directly or indirectly."},
	}
}

func poolKeys() []Key {
	return []Key{
		{Path: "agents.pool", Kind: Table,
			Doc: "Makes the agent a pool, which has as many members as its work requires. The " +
				"members are named `NAME-1`, `NAME-2` and so on; with `max = 1` the only member " +
				"is named `NAME`. Each member has all of the agent's keys, and gcity expands " +
				"templates separately for each member. When the pool shrinks, members without " +
				"work in progress leave before the others, and higher numbers before lower ones. " +
				"gcity asks each member that has to leave to finish its work, and then stops it."},
		{Path: "agents.pool.min", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "The minimum number of members."},
		{Path: "agents.pool.max", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "The maximum number of members. 0 = the pool has no members. A city can have at " +
				"most 10,000 agents, including all possible members of its pools."},
		{Path: "agents.pool.check", Kind: String, Check: checkFilled,
			Doc: "A shell command that prints one whole number: how many members the pool should " +
				"have. It runs at every patrol, with the agent's environment and in the rig's " +
				"folder. For an agent without a rig, it runs in `dir`, or in the city's folder " +
				"if `dir` is not set or contains `{{`. If the command fails, the size does not " +
				"change, and gcity shows the reason. `grep -c` prints 0 and exits with code 1 if " +
				"nothing matches, so use `grep -c … || true`. Without this key, the pool's size " +
				"is the number of beads in the store that have the label `pool:NAME` and are " +
				"open or in progress."},
		{Path: "agents.pool.check_timeout", Kind: Duration, Def: `"30s"`, Check: checkPositive,
			Doc: "A check that takes longer fails, and gcity kills it and all processes that it " +
				"has started."},
		{Path: "agents.pool.drain_timeout", Kind: Duration, Def: `"5m"`,
			Check: checkNotNegative,
			Doc: "Time that a member has to finish its work after gcity has asked it to finish. " +
				"After this time, gcity kills the member. 0 = no limit."},
	}
}

func rigKeys() []Key {
	return []Key{
		{Path: "rigs", Kind: Tables, Doc: "A rig: a project folder. Agents that have the rig's " +
			"name as their `dir` work in this folder. Their full names are `RIG/NAME`."},
		{Path: "rigs.name", Kind: String, Require: true, Check: CheckName, Pattern: namePattern,
			Doc: "Name, unique among the rigs. The same rules apply as for agent names."},
		{Path: "rigs.path", Kind: String, Require: true, Check: checkRigPath,
			Doc: "The project's folder. No two rigs can have the same folder. gcity does not " +
				"create the folder: while it is missing, the rig's agents do not start, and " +
				"gcity shows the reason."},
		{Path: "rigs.prefix", Kind: String, Check: checkPrefix, Pattern: prefixPattern,
			Doc: "Prefix of the rig's bead IDs. It must differ from the prefixes of the city " +
				"and of the other rigs. By default, gcity derives the prefix from the rig's " +
				"name, without the ending `-go` or `-py`. If the name has several parts " +
				"(`my-app`, `my_app`, `myApp`), the prefix consists of the first letter of each " +
				"part. Otherwise it consists of the first two letters, or of the whole name if " +
				"the name has at most three letters."},
		{Path: "rigs.suspended", Kind: Bool, Def: "false",
			Doc: "`true`: the rig's agents do not run, and watchdogs do not check them. " +
				"Automations without `while_suspended` run only if you start them. `gcity rig " +
				"suspend` and `gcity rig resume` set this key."},
		{Path: "rigs.formulas_dir", Kind: String, Check: checkPath,
			Doc: "Folder of the rig's own formulas, with the rig's own automations in " +
				"`automations/`; relative to the file that contains the key. The folder need not " +
				"exist. A formula in it replaces the city's formula with the same name. Default: " +
				"the rig uses the city's formulas."},
	}
}

// Reserved reports whether name is a variable that gcity sets for every agent.
func Reserved(name string) bool {
	switch name {
	case "GC_AGENT", "GC_CITY", "GC_CITY_PATH", "GC_CITY_NAME", "GC_SESSION_NAME", "GC_SESSION_ID",
		"GC_DIR", "GC_RIG",
		"GC_RIG_PATH", "BEADS_DIR":
		return true
	}
	return false
}
