package config

// programKeys say which program an agent is, and how a prompt gets into it.
func programKeys() []key {
	const over = " It goes over what the provider says."
	return []key{
		{path: "workspace.provider", kind: kindString, check: checkProgram,
			doc: "Program of the agents that have neither a `start_command` nor a `provider`; " +
				"see `agents.provider`."},
		{path: "agents.provider", kind: kindString, check: checkProgram,
			doc: "Which program the agent is: a table of `[providers]`, or one that gcity knows: " +
				"`claude`, `codex`, `gemini`, `cursor`, " +
				"`copilot`, `opencode`, `amp`, `aider`. It says the command, how a prompt gets " +
				"in, and when the agent is ready. " +
				"What runs its sessions is another matter: `session`."},
		{path: "agents.args", kind: kindStrings,
			doc: "Arguments of the provider's command, in place of the provider's own; they " +
				"need no quotes. Not used with a `start_command`."},
		{path: "agents.prompt_mode", kind: kindString, enum: promptModes(),
			doc: "How its prompt gets in: `arg`, as the last argument; `flag`, as the argument " +
				"behind `prompt_flag`; `typed`, into the terminal " +
				"once it is ready; `none`, not at all. Without it as the provider says; with a " +
				"`start_command`, `none`, or `arg` if there is a `prompt_template`."},
		{path: "agents.prompt_flag", kind: kindString, check: checkFilled,
			doc: "What stands before the prompt with `prompt_mode = \"flag\"`, which it stands " +
				"for where that is left out." + over},
		{path: "agents.process_names", kind: kindStrings, check: checkLines,
			doc: "Names that the program's process may have, for a script that runs its " +
				"session (`session = \"exec:…\"`). Others know the process itself." + over},
		{path: "agents.emits_permission_warning", kind: kindBool,
			doc: "The questions that the program is known to ask at its start, whether the " +
				"folder is trusted and whether working without permissions is meant, " +
				"are answered with yes, and an event says so. Without it nobody answers them: " +
				"the agent is not ready until somebody at the terminal does." + over},
	}
}

// providerKeys are those of a table of [providers], or of a patch of one.
func providerKeys(table string) []key {
	all := []key{
		{path: "display_name", kind: kindString, check: checkFilled,
			doc: "What it is called in lists."},
		{path: "command", kind: kindString, check: checkFilled,
			doc: "The program, as a shell line begins with it: a name to be found on the " +
				"agent's `PATH`, or a path; arguments are better off in `args`."},
		{path: "args", kind: kindStrings, doc: "Its arguments, in place of the preset's; they " +
			"need no quotes."},
		{path: "prompt_mode", kind: kindString, enum: promptModes(),
			doc: "As of an agent; `arg` where neither this nor a preset says anything."},
		{path: "prompt_flag", kind: kindString, check: checkFilled, doc: "As of an agent."},
		{path: "ready_delay_ms", kind: kindMillis, within: delayBounds(), doc: "As of an agent."},
		{path: "ready_prompt_prefix", kind: kindString, doc: "As of an agent."},
		{path: "process_names", kind: kindStrings, check: checkLines,
			doc: "As of an agent; the command where neither this nor a preset says anything."},
		{path: "emits_permission_warning", kind: kindBool, doc: "As of an agent. No preset has it."},
		{path: "env", kind: kindEnv, doc: "Environment of its agents; each agent's own goes over " +
			"it, variable by variable."},
	}
	for i := range all {
		all[i].path = join(table, all[i].path)
	}
	return all
}

func namedProviderKeys() []key {
	return append([]key{
		{path: "providers", kind: kindNamed, doc: "Programs that agents may be."},
		{path: "providers.*", kind: kindTable,
			doc: "One of them, under the name that `agents.provider` says. If gcity knows a " +
				"program of that name, what is written here goes over " +
				"what it knows, key by key and variable by variable; any other needs a `command`."},
	}, providerKeys("providers.*")...)
}

// promptModes are the ways in which a prompt reaches an agent.
func promptModes() []string { return []string{"arg", "flag", "typed", "none"} }

// checkProgram holds for a name of a provider. Whether there is one shows when all is read.
func checkProgram(v any) string {
	if msg := checkFilled(v); msg != "" {
		return msg
	}
	return checkName(v)
}
