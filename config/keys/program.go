package keys

// ProgramKeys say which program an agent is, and how a prompt gets into it.
func ProgramKeys() []Key {
	const over = " It goes over what the provider says."
	return []Key{
		{Path: "workspace.provider", Kind: String, Check: checkProgram,
			Doc: "Program of the agents that have neither a `start_command` nor a `provider`; " +
				"see `agents.provider`."},
		{Path: "agents.provider", Kind: String, Check: checkProgram,
			Doc: "Which program the agent is: a table of `[providers]`, or one that gcity knows: " +
				"`claude`, `codex`, `gemini`, `cursor`, " +
				"`copilot`, `opencode`, `amp`, `aider`. It says the command, how a prompt gets " +
				"in, and when the agent is ready. " +
				"What runs its sessions is another matter: `session`."},
		{Path: "agents.args", Kind: Strings,
			Doc: "Arguments of the provider's command, in place of the provider's own; they " +
				"need no quotes. Not used with a `start_command`."},
		{Path: "agents.prompt_mode", Kind: String, Enum: promptModes(),
			Doc: "How its prompt gets in: `arg`, as the last argument; `flag`, as the argument " +
				"behind `prompt_flag`; `typed`, into the terminal " +
				"once it is ready; `none`, not at all. Without it as the provider says; with a " +
				"`start_command`, `none`, or `arg` if there is a `prompt_template`."},
		{Path: "agents.prompt_flag", Kind: String, Check: checkFilled,
			Doc: "What stands before the prompt with `prompt_mode = \"flag\"`, which it stands " +
				"for where that is left out." + over},
		{Path: "agents.process_names", Kind: Strings, Check: checkLines,
			Doc: "Names that the program's process may have, for a script that runs its " +
				"session (`session = \"exec:…\"`). Others know the process itself." + over},
		{Path: "agents.emits_permission_warning", Kind: Bool,
			Doc: "The questions that the program is known to ask at its start, whether the " +
				"folder is trusted and whether working without permissions is meant, " +
				"are answered with yes, and an event says so. Without it nobody answers them: " +
				"the agent is not ready until somebody at the terminal does." + over},
	}
}

// providerKeys are those of a table of [providers], or of a patch of one.
func providerKeys(table string) []Key {
	all := []Key{
		{Path: "display_name", Kind: String, Check: checkFilled,
			Doc: "What it is called in lists."},
		{Path: "command", Kind: String, Check: checkFilled,
			Doc: "The program, as a shell line begins with it: a name to be found on the " +
				"agent's `PATH`, or a path; arguments are better off in `args`."},
		{Path: "args", Kind: Strings, Doc: "Its arguments, in place of the preset's; they " +
			"need no quotes."},
		{Path: "prompt_mode", Kind: String, Enum: promptModes(),
			Doc: "As of an agent; `arg` where neither this nor a preset says anything."},
		{Path: "prompt_flag", Kind: String, Check: checkFilled, Doc: "As of an agent."},
		{Path: "ready_delay_ms", Kind: Millis, Within: delayBounds(), Doc: "As of an agent."},
		{Path: "ready_prompt_prefix", Kind: String, Doc: "As of an agent."},
		{Path: "process_names", Kind: Strings, Check: checkLines,
			Doc: "As of an agent; the command where neither this nor a preset says anything."},
		{Path: "emits_permission_warning", Kind: Bool, Doc: "As of an agent. No preset has it."},
		{Path: "env", Kind: Env, Doc: "Environment of its agents; each agent's own goes over " +
			"it, variable by variable."},
	}
	for i := range all {
		all[i].Path = Join(table, all[i].Path)
	}
	return all
}

func NamedProviderKeys() []Key {
	return append([]Key{
		{Path: "providers", Kind: Named, Doc: "Programs that agents may be."},
		{Path: "providers.*", Kind: Table,
			Doc: "One of them, under the name that `agents.provider` says. If gcity knows a " +
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
	return CheckName(v)
}
