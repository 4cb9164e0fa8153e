package keys

import (
	"fmt"
	"slices"

	"gcity/hooks"
	"gcity/internal/toml"
)

// promptKeys say what an agent is told and given at its start.
func promptKeys() []Key {
	return []Key{
		{Path: "workspace.global_fragments", Kind: Strings, Check: checkLines,
			Doc: "Fragments that follow every prompt of the city, before the agent's own " +
				"`inject_fragments`. Who has no `prompt_template` is told nothing, these neither."},
		{Path: "workspace.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "As `agents.install_agent_hooks`, for the agents that do not have the key."},
		{Path: "agents.prompt_template", Kind: String, Check: checkPath,
			Doc: "A file, relative to the one that says it, or absolute: what the agent is told " +
				"at its start, a template that " +
				"[prompts.md](prompts.md) describes. A change of it, or of a fragment that it " +
				"uses, counts as a change of the configuration."},
		{Path: "agents.inject_fragments", Kind: Strings, Check: checkLines,
			Doc: "Fragments that follow the prompt, in this order."},
		{Path: "agents.overlay_dir", Kind: String, Check: checkPath,
			Doc: "A folder, relative to the file that says it, or absolute, whose files are " +
				"copied into the agent's working folder at each " +
				"start: those that are not there, and those that were copied before and have not " +
				"been touched since. A change of its content " +
				"counts as a change of the configuration."},
		{Path: "agents.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "Kinds of agents whose hook files are written into the working folder at each " +
				"start, beside whatever is in them: " +
				"`claude`, `gemini`, `opencode`, `copilot`. Without the key, " +
				"`workspace.install_agent_hooks`."},
		{Path: "agents.hooks_installed", Kind: Bool,
			Doc: "Somebody else has installed the agent's hooks: none are, whatever " +
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
		if near := Suggest(kind, kinds); near != "" {
			return fmt.Sprintf("item %d, %q, is no agent that hooks can be installed for; did "+
				"you mean %q?", i+1, kind, near)
		}
		return fmt.Sprintf("item %d, %q, is no agent that hooks can be installed for; there are %s",
			i+1, kind, toml.List(kinds))
	}
	return ""
}
