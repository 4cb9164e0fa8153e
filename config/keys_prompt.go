package config

import (
	"fmt"
	"slices"

	"gcity/hooks"
	"gcity/internal/toml"
)

// promptKeys say what an agent is told and given at its start.
func promptKeys() []key {
	return []key{
		{path: "workspace.global_fragments", kind: kindStrings, check: checkLines,
			doc: "Fragments that follow every prompt of the city, before the agent's own " +
				"`inject_fragments`. Who has no `prompt_template` is told nothing, these neither."},
		{path: "workspace.install_agent_hooks", kind: kindStrings, check: checkHooks,
			doc: "As `agents.install_agent_hooks`, for the agents that do not have the key."},
		{path: "agents.prompt_template", kind: kindString, check: checkPath,
			doc: "A file, relative to the one that says it, or absolute: what the agent is told " +
				"at its start, a template that " +
				"[prompts.md](prompts.md) describes. A change of it, or of a fragment that it " +
				"uses, counts as a change of the configuration."},
		{path: "agents.inject_fragments", kind: kindStrings, check: checkLines,
			doc: "Fragments that follow the prompt, in this order."},
		{path: "agents.overlay_dir", kind: kindString, check: checkPath,
			doc: "A folder, relative to the file that says it, or absolute, whose files are " +
				"copied into the agent's working folder at each " +
				"start: those that are not there, and those that were copied before and have not " +
				"been touched since. A change of its content " +
				"counts as a change of the configuration."},
		{path: "agents.install_agent_hooks", kind: kindStrings, check: checkHooks,
			doc: "Kinds of agents whose hook files are written into the working folder at each " +
				"start, beside whatever is in them: " +
				"`claude`, `gemini`, `opencode`, `copilot`. Without the key, " +
				"`workspace.install_agent_hooks`."},
		{path: "agents.hooks_installed", kind: kindBool,
			doc: "Somebody else has installed the agent's hooks: none are, whatever " +
				"`install_agent_hooks` says."},
	}
}

// checkHooks refuses kinds of hooks that cannot be installed.
func checkHooks(v any) string {
	kinds := hooks.Kinds()
	for i, kind := range v.([]string) {
		if slices.Contains(kinds, kind) {
			continue
		}
		if near := didYouMean(kind, kinds); near != "" {
			return fmt.Sprintf("item %d, %q, is no agent that hooks can be installed for; did "+
				"you mean %q?", i+1, kind, near)
		}
		return fmt.Sprintf("item %d, %q, is no agent that hooks can be installed for; there are %s",
			i+1, kind, toml.List(kinds))
	}
	return ""
}
