package keys

// ProgramKeys returns the keys for an agent's program and prompt.
func ProgramKeys() []Key {
	const over = " This key overrides the provider's value."
	return []Key{
		{Path: "workspace.provider", Kind: String, Check: checkProgram,
			Doc: "Provider for agents that set neither `start_command` nor `provider`; see " +
				"`agents.provider`."},
		{Path: "agents.provider", Kind: String, Check: checkProgram,
			Doc: "The agent's program: a table in `[providers]`, or one of the presets `claude`, " +
				"`codex`, `gemini`, `cursor`, `copilot`, `opencode`, `amp`, `aider`. It " +
				"determines the command, how the agent receives its prompt, and when the agent " +
				"counts as ready. The choice of a provider is independent of `session`, which " +
				"determines what runs the agent's sessions."},
		{Path: "agents.args", Kind: Strings,
			Doc: "Arguments for the provider's command. They replace the provider's own " +
				"arguments and need no quotes. gcity ignores this key if the agent has a " +
				"`start_command`."},
		{Path: "agents.prompt_mode", Kind: String, Enum: promptModes(),
			Doc: "How the agent receives its prompt. `arg`: as the last argument. `flag`: as the " +
				"argument after `prompt_flag`. `typed`: gcity types it into the terminal when " +
				"the agent is ready. `none`: the agent gets no prompt. Default: the provider's " +
				"value; with a `start_command`, `arg` if there is a `prompt_template`, otherwise " +
				"`none`."},
		{Path: "agents.prompt_flag", Kind: String, Check: checkFilled,
			Doc: "The flag before the prompt, for `prompt_mode = \"flag\"`. If `prompt_mode` is " +
				"omitted, this key implies `flag`." + over},
		{Path: "agents.process_names", Kind: Strings, Check: checkLines,
			Doc: "Names that the program's process can have. gcity passes them to a script that " +
				"runs the session (`session = \"exec:…\"`). Other session providers do not use " +
				"them." + over},
		{Path: "agents.emits_permission_warning", Kind: Bool,
			Doc: "`true`: gcity answers known questions that the program asks on startup. It " +
				"answers \"yes\" to the questions whether the folder is trusted and whether the " +
				"program may work without asking for permission, and declines updates. An event " +
				"records each answer. Without this setting, the agent is not ready until a user " +
				"answers the questions in the terminal." +
				over},
	}
}

func providerKeys(table string) []Key {
	all := []Key{
		{Path: "display_name", Kind: String, Check: checkFilled,
			Doc: "Name of the provider in lists."},
		{Path: "command", Kind: String, Check: checkFilled,
			Doc: "The program, as the beginning of a shell command: a name on the agent's " +
				"`PATH`, or a path. Put arguments in `args`."},
		{Path: "args", Kind: Strings, Doc: "Arguments for the command, instead of the " +
			"preset's; they need no quotes."},
		{Path: "prompt_mode", Kind: String, Enum: promptModes(),
			Doc: "The same as the agent's key with this name. Default: the preset's value, " +
				"otherwise `arg`."},
		{Path: "prompt_flag", Kind: String, Check: checkFilled,
			Doc: "The same as the agent's key with this name."},
		{Path: "ready_delay_ms", Kind: Millis, Within: delayBounds(),
			Doc: "The same as the agent's key with this name."},
		{Path: "ready_prompt_prefix", Kind: String, Doc: "The same as the agent's key with " +
			"this name."},
		{Path: "process_names", Kind: Strings, Check: checkLines,
			Doc: "The same as the agent's key with this name. Default: the preset's value, " +
				"otherwise the command."},
		{Path: "emits_permission_warning", Kind: Bool, Doc: "The same as the agent's key with " +
			"this name. No preset sets it."},
		{Path: "env", Kind: Env, Doc: "Environment variables of agents with this provider. An " +
			"agent's own variables take precedence."},
	}
	for i := range all {
		all[i].Path = Join(table, all[i].Path)
	}
	return all
}

func NamedProviderKeys() []Key {
	return append([]Key{
		{Path: "providers", Kind: Named, Doc: "Programs that agents can run."},
		{Path: "providers.*", Kind: Table,
			Doc: "The provider NAME. If there is a preset with this name, the table overrides " +
				"individual keys and environment variables of the preset. Without a preset, " +
				"`command` is required. A topology's table applies to that topology's " +
				"agents; see [topologies.md](topologies.md#topologies)."},
	}, providerKeys("providers.*")...)
}

func promptModes() []string { return []string{"arg", "flag", "typed", "none"} }

// checkProgram checks only the name. The provider is checked after all files are read.
func checkProgram(v any) string {
	if msg := checkFilled(v); msg != "" {
		return msg
	}
	return CheckName(v)
}
