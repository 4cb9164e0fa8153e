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
			Doc: "A rig's name: the agent belongs to that rig and works in its folder. Any other " +
				"value is the working folder, a template. A relative path starts at the city's " +
				"folder; the folder is created if it is missing, and must not leave the city " +
				"with `..`. An absolute path can be anywhere, and the folder must exist. " +
				"Default: the city's folder. A change takes effect at the agent's next start; " +
				"running agents are not restarted. `gcity plan` and `gcity why` show the " +
				"configured folder."},
		{Path: "agents.description", Kind: String, Doc: "What the agent is for. Shown in lists."},
		{Path: "agents.suspended", Kind: Bool, Def: "false",
			Doc: "The agent does not run, and no watchdog checks it. `gcity agent suspend` and " +
				"`gcity agent resume` set this key."},
		{Path: "agents.start_command", Kind: String, Check: checkFilled,
			Doc: "A command line. `sh -c` runs it unchanged, or gcity runs it directly if it " +
				"needs no shell. It takes precedence over any `provider`."},
		{Path: "agents.env", Kind: Env,
			Doc: "Environment variables that are added to the inherited ones. gcity replaces " +
				"`$NAME` and `${NAME}` with the controller's variables and `$$` with a dollar " +
				"sign; all other text is unchanged."},
		{Path: "agents.nudge", Kind: String, Check: checkTypable,
			Doc: "Text that is typed into the terminal and submitted when the agent is ready. " +
				"It can be at most 1 MiB long. Default: nothing is typed."},
		{Path: "agents.ready_delay_ms", Kind: Millis, Within: delayBounds(),
			Doc: "After this many milliseconds the agent counts as ready, unless it is ready " +
				"earlier. The maximum is 3600000 (1h)."},
		{Path: "agents.ready_prompt_prefix", Kind: String,
			Doc: "The agent counts as ready when a line of its screen starts with this text. " +
				"Without `ready_delay_ms`, the start fails if no such line appears within 60 s."},
		{Path: "agents.pre_start", Kind: Strings, Check: checkLines,
			Doc: "Shell commands (templates) that run on the host before the session is created."},
		{Path: "agents.session_setup", Kind: Strings, Check: checkLines,
			Doc: "Shell commands (templates) that run on the host after the session is created."},
		{Path: "agents.session_setup_script", Kind: String, Check: checkPath,
			Doc: "A script (a template) that is run after `session_setup`. An absolute path, or " +
				"relative to the file that contains the key. A change to the script's content " +
				"counts as a configuration change."},
		{Path: "agents.session", Kind: String, Check: checkProvider, known: sessionProviders(),
			Doc: "The session provider for this agent. The values are those of " +
				"`session.provider`, which is the default; \"\" means `pty`. `GC_SESSION` does " +
				"not affect it. A change restarts the agent."},
	}
}

func lifeKeys() []Key {
	return []Key{
		{Path: "agents.restart", Kind: String, Def: `"always"`,
			Enum: []string{"always", "on-failure", "never"},
			Doc: "When the agent is restarted after an exit that was not requested: `always`, " +
				"`on-failure` or `never`."},
		{Path: "agents.stop_signal", Kind: String, Check: checkSignal,
			Doc: "The signal that asks the agent to exit, for example `hup` or `term`. The agent " +
				"then has `shutdown_timeout` to exit. Default: `interrupt`, the signal that " +
				"Ctrl-C sends; an interactive shell that waits at its prompt also receives " +
				"SIGHUP."},
		{Path: "agents.min_uptime", Kind: Duration, Def: `"10s"`, Check: checkNotNegative,
			Doc: "With `restart = \"always\"`, a clean exit sooner than this after the start " +
				"counts as a crash."},
		{Path: "agents.idle_timeout", Kind: Duration, Check: checkIdle,
			Doc: "The agent is restarted if it has had neither output nor input for this time. " +
				"The minimum is 100ms. The agent is not restarted while a user is attached or " +
				"while its activity is unknown. By default, and with `\"0s\"`, idle agents are " +
				"not restarted."},
		{Path: "agents.stuck_after", Kind: Duration, Check: checkIdle,
			Doc: "The agent is shown as stuck after this time without output while it has work " +
				"in progress. The minimum is 100ms. The controller takes no action, but " +
				"watchdogs report it. By default, with `\"0s\"`, and if the agent's output is " +
				"unknown, the agent is never shown as stuck."},
		{Path: "agents.depends_on", Kind: Strings, Check: checkLines,
			Doc: "Agents and pools that must be running before this agent is started. They are " +
				"stopped after this agent. A name refers to an agent in the same rig or, if the " +
				"rig has no such agent, in the city; `RIG/NAME` refers to an agent in another " +
				"rig. A pool is ready when one of its members is running, or when it should " +
				"have no members."},
		{Path: "agents.strategy", Kind: String, Def: `"one_for_one"`,
			Enum: []string{"one_for_one", "one_for_all", "rest_for_one"},
			Doc: "Which other agents are restarted when this agent crashes. `one_for_one`: " +
				"none. `one_for_all`: all that are connected to it by `depends_on`. " +
				"`rest_for_one`: those that depend on it, directly or indirectly."},
	}
}

func poolKeys() []Key {
	return []Key{
		{Path: "agents.pool", Kind: Table,
			Doc: "Makes the agent a pool, with as many members as there is work for. The members " +
				"are named `NAME-1`, `NAME-2` and so on; with `max = 1` the only member is named " +
				"`NAME`. Each member has all of the agent's keys, and templates are expanded for " +
				"each member. When the pool shrinks, members without work in progress leave " +
				"first, highest numbers first: gcity asks them to finish, then stops them."},
		{Path: "agents.pool.min", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "The minimum number of members."},
		{Path: "agents.pool.max", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "The maximum number of members. 0 = the pool is off. A city can have at most " +
				"10,000 agents, including all possible members of its pools."},
		{Path: "agents.pool.check", Kind: String, Check: checkFilled,
			Doc: "A shell command that prints one whole number: how many members the pool " +
				"should have. It runs at every patrol, with the agent's environment and in the " +
				"rig's folder. For an agent without a rig, it runs in `dir`, or in the city's " +
				"folder if `dir` is not set or contains `{{`. If it fails, the size does not " +
				"change and the reason is shown. `grep -c` prints 0 and exits with code 1 if " +
				"nothing matches, so use `grep -c … || true`. Default: the size is the number " +
				"of beads in the store that are open or in progress and have the label " +
				"`pool:NAME`."},
		{Path: "agents.pool.check_timeout", Kind: Duration, Def: `"30s"`, Check: checkPositive,
			Doc: "A check that takes longer fails. It and all processes that it has started " +
				"are killed."},
		{Path: "agents.pool.drain_timeout", Kind: Duration, Def: `"5m"`,
			Check: checkNotNegative,
			Doc: "Time that a member has to finish when it is asked to; after that it is " +
				"killed. 0 = no limit."},
	}
}

func rigKeys() []Key {
	return []Key{
		{Path: "rigs", Kind: Tables, Doc: "A rig: a project folder. Agents with the rig's " +
			"name as `dir` work in it; they are named `RIG/NAME`."},
		{Path: "rigs.name", Kind: String, Require: true, Check: CheckName, Pattern: namePattern,
			Doc: "Name, unique among the rigs. The same rules apply as for agent names."},
		{Path: "rigs.path", Kind: String, Require: true, Check: checkRigPath,
			Doc: "The project's folder. No two rigs can have the same folder. gcity does not " +
				"create the folder: while it is missing, the rig's agents are not started and " +
				"show the reason."},
		{Path: "rigs.prefix", Kind: String, Check: checkPrefix, Pattern: prefixPattern,
			Doc: "Prefix of the rig's bead IDs, unique in the city, including the city's own " +
				"prefix. By default, gcity derives the prefix from the rig's name without a " +
				"`-go` or `-py` at its end. If the name has several parts (`my-app`, `my_app`, " +
				"`myApp`), the prefix is the first letter of each part. Otherwise it is the " +
				"first two letters, or the whole name if that has at most three letters."},
		{Path: "rigs.suspended", Kind: Bool, Def: "false",
			Doc: "The rig's agents do not run, watchdogs do not check them, and its automations " +
				"run only by hand or with `while_suspended`. `gcity rig suspend` and `gcity rig " +
				"resume` set this key."},
		{Path: "rigs.formulas_dir", Kind: String, Check: checkPath,
			Doc: "Folder of the rig's own formulas, with its own automations in " +
				"`automations/`; relative to the file that contains the key. The folder need not " +
				"exist. A formula in it replaces the city's formula with the same name. " +
				"Default: the rig uses the city's formulas."},
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
