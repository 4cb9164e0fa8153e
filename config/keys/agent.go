package keys

func agentKeys() []Key {
	return []Key{
		{Path: "agents", Kind: Tables, Alias: "agent", Doc: "One agent, an interactive " +
			"program on a terminal of its own. `[[agent]]` is the same."},
		{Path: "agents.name", Kind: String, Require: true, Check: CheckName,
			Pattern: namePattern,
			Doc: "Name, unique in the city, or in the rig: letters, digits, `.`, `_`, `-`, " +
				"the first a letter or digit, at most 64."},
		{Path: "agents.dir", Kind: String, Check: checkPath,
			Doc: "The name of a rig: the agent belongs to it and works in its folder. Else the " +
				"working folder, a template: relative to the " +
				"city, made if it is missing, and not allowed to leave the city by `..`; an " +
				"absolute folder may be anywhere and must exist. " +
				"Without it, the city's folder. An edit counts from the agent's next start, and " +
				"restarts nobody; `gcity plan` and " +
				"`gcity why` show the folder as it is configured."},
		{Path: "agents.description", Kind: String, Doc: "What it is for, shown in lists."},
		{Path: "agents.suspended", Kind: Bool, Def: "false",
			Doc: "The agent does not run, and no watchdog checks it. `gcity agent suspend` and " +
				"`gcity agent resume` write it."},
		{Path: "agents.start_command", Kind: String, Check: checkFilled,
			Doc: "A command line, run by `sh -c` as it stands, or directly if it needs no " +
				"shell. It goes before any `provider`."},
		{Path: "agents.env", Kind: Env,
			Doc: "Environment besides the inherited one. `$NAME` and `${NAME}` stand for the " +
				"variables of the controller, `$$` for a dollar sign; " +
				"anything else stays as it is."},
		{Path: "agents.nudge", Kind: String, Check: checkTypable,
			Doc: "Typed into the terminal and submitted once the agent is ready, at most 1 " +
				"MiB. Without it nothing is typed."},
		{Path: "agents.ready_delay_ms", Kind: Millis, Within: delayBounds(),
			Doc: "The agent counts as ready this long after its start at the latest; at most " +
				"3600000 (1h)."},
		{Path: "agents.ready_prompt_prefix", Kind: String,
			Doc: "The agent counts as ready once a line of its screen starts with this. " +
				"Without a `ready_delay_ms` its start has failed if none does within 60 s."},
		{Path: "agents.pre_start", Kind: Strings, Check: checkLines,
			Doc: "Shell lines, templates, run on the host before the session is there."},
		{Path: "agents.session_setup", Kind: Strings, Check: checkLines,
			Doc: "Shell lines, templates, run on the host once the session is there."},
		{Path: "agents.session_setup_script", Kind: String, Check: checkPath,
			Doc: "A script run after `session_setup`, a template. Relative to the file that says " +
				"it, or absolute. A change of its content counts " +
				"as a change of the configuration."},
		{Path: "agents.session", Kind: String, Check: checkProvider, known: sessionProviders(),
			Doc: "What runs the sessions of this agent, one of those that `session.provider` may " +
				"name, which counts where this is left out; " +
				"\"\" is `pty`. `GC_SESSION` does not touch it. A change restarts the agent."},
	}
}

// lifeKeys say when an agent is started, and what follows its end.
func lifeKeys() []Key {
	return []Key{
		{Path: "agents.restart", Kind: String, Def: `"always"`,
			Enum: []string{"always", "on-failure", "never"},
			Doc: "What follows an end that nobody asked for: `always`, `on-failure` or `never` " +
				"a new start."},
		{Path: "agents.min_uptime", Kind: Duration, Def: `"10s"`, Check: checkNotNegative,
			Doc: "Under `restart = \"always\"` a clean exit sooner than this counts as a crash."},
		{Path: "agents.idle_timeout", Kind: Duration, Check: checkIdle,
			Doc: "The agent is restarted after so long without output and input; at least 100ms. " +
				"Never while somebody is attached, and never " +
				"where the activity is not known. Without it, or with `\"0s\"`, idleness does " +
				"not matter."},
		{Path: "agents.stuck_after", Kind: Duration, Check: checkIdle,
			Doc: "The agent is shown as stuck after so long without output while it has work in " +
				"progress; at least 100ms. Nothing else is done about it, but watchdogs " +
				"tell it. Without it, or with `\"0s\"`, or where nobody can tell what an agent " +
				"prints, none is."},
		{Path: "agents.depends_on", Kind: Strings, Check: checkLines,
			Doc: "Agents and pools that have to run before this one is started, and that are " +
				"stopped after it. A name means one of the same " +
				"rig, else one of the city, and `RIG/NAME` one of another rig. A pool is up as " +
				"soon as one member runs, or if none is wanted."},
		{Path: "agents.strategy", Kind: String, Def: `"one_for_one"`,
			Enum: []string{"one_for_one", "one_for_all", "rest_for_one"},
			Doc: "Who else is restarted when this one crashes: with `one_for_one` nobody, with " +
				"`one_for_all` all that `depends_on` connects " +
				"it with, with `rest_for_one` those that depend on it, directly or not."},
	}
}

func poolKeys() []Key {
	return []Key{
		{Path: "agents.pool", Kind: Table,
			Doc: "Makes the agent a pool: as many like it as there is work for. The members are " +
				"called `NAME-1`, `NAME-2` and so on, with " +
				"`max = 1` the only one just `NAME`; each has every key of the agent, and " +
				"templates are filled in for each. Who has no " +
				"work in progress leaves first, and of these the highest numbers: they are told " +
				"to finish, and drain."},
		{Path: "agents.pool.min", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "There are never fewer members than this."},
		{Path: "agents.pool.max", Kind: Int, Def: "0", Within: memberBounds(),
			Doc: "Nor more than this. 0 = the pool is off. All agents of a city and all " +
				"possible members of its pools are at most 10,000."},
		{Path: "agents.pool.check", Kind: String, Check: checkFilled,
			Doc: "A shell line that prints one whole number: how many members are wanted. Every " +
				"patrol runs it, in the rig's folder, else in " +
				"`dir` if that is no template, else in the city's folder, with the agent's " +
				"environment. If it fails, the size stays as it was, " +
				"and the reason is shown. Mind that `grep -c` prints 0 and exits 1 where nothing " +
				"matches: write `grep -c … || true`. " +
				"Without it the pool's work is counted: what the store has open or in progress " +
				"under the label `pool:NAME`."},
		{Path: "agents.pool.check_timeout", Kind: Duration, Def: `"30s"`, Check: checkPositive,
			Doc: "A check that takes longer is ended, with all that it has started, and " +
				"has failed."},
		{Path: "agents.pool.drain_timeout", Kind: Duration, Def: `"5m"`,
			Check: checkNotNegative,
			Doc: "Time that a member has to finish when it is told to; then it is stopped. 0 " +
				"= any time."},
	}
}

func rigKeys() []Key {
	return []Key{
		{Path: "rigs", Kind: Tables, Doc: "One rig, a project folder that agents work in: " +
			"those whose `dir` is its name. They go by `RIG/NAME`."},
		{Path: "rigs.name", Kind: String, Require: true, Check: CheckName, Pattern: namePattern,
			Doc: "Name, unique among the rigs; what a name may be made of is as for agents."},
		{Path: "rigs.path", Kind: String, Require: true, Check: checkRigPath,
			Doc: "Its folder; no two rigs have the same. It is not made: while it is missing, " +
				"the rig's agents are not started, and say so; " +
				"they are once it is there."},
		{Path: "rigs.prefix", Kind: String, Check: checkPrefix, Pattern: prefixPattern,
			Doc: "What the ids of its work begin with, unique in the city, the city's own " +
				"included. Without it, made from the name: a `-go` or " +
				"`-py` at the end is left out; of several parts (`my-app`, `my_app`, `myApp`) " +
				"the first letters, of a single one its first two, " +
				"or all of it if it has no more than three."},
		{Path: "rigs.suspended", Kind: Bool, Def: "false",
			Doc: "No agent of the rig runs, no watchdog checks them, and its automations fire " +
				"only by hand or with `while_suspended`. `gcity rig suspend` and `gcity rig " +
				"resume` write it."},
		{Path: "rigs.formulas_dir", Kind: String, Check: checkPath,
			Doc: "Folder of the rig's own formulas, and in `automations/` of its own " +
				"automations; relative to the file that says it. It need not " +
				"exist. A formula of the city with the same name does not count in the rig. " +
				"Without it the rig has the city's formulas."},
	}
}

// Reserved are the variables that every agent gets.
func Reserved(name string) bool {
	switch name {
	case "GC_AGENT", "GC_CITY", "GC_CITY_PATH", "GC_CITY_NAME", "GC_SESSION_NAME", "GC_SESSION_ID",
		"GC_DIR", "GC_RIG",
		"GC_RIG_PATH", "BEADS_DIR":
		return true
	}
	return false
}
