package keys

import (
	"fmt"
	"slices"

	"gcity/hooks"
	"gcity/internal/toml"
)

// promptKeys returns the keys for the prompt and the files that an agent receives when it starts.
func promptKeys() []Key {
	return []Key{
		{Path: "workspace.global_fragments", Kind: Strings, Check: checkLines,
			Doc: "Fragments that are appended to every prompt in the city, before the agent's " +
				"own `inject_fragments`. Agents without a `prompt_template` have no prompt and " +
				"no fragments."},
		{Path: "workspace.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "The default of `agents.install_agent_hooks`, for agents that do not " +
				"have that key."},
		{Path: "agents.prompt_template", Kind: String, Check: checkPath,
			Doc: "A file with the prompt that the agent receives when it starts: a template, see " +
				"[prompts.md](prompts.md). An absolute path, or relative to the file that " +
				"contains the key. A change to the file, or to a fragment that it uses, " +
				"counts as a configuration change."},
		{Path: "agents.inject_fragments", Kind: Strings, Check: checkLines,
			Doc: "Fragments that are appended to the prompt, in this order."},
		{Path: "agents.overlay_dir", Kind: String, Check: checkPath,
			Doc: "A folder with files that are copied into the agent's working folder at each " +
				"start. A file is copied if it is missing, or if it was copied before and has " +
				"not been modified since. An absolute path, or relative to the file that " +
				"contains the key. A change to the folder's content counts as a " +
				"configuration change."},
		{Path: "agents.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "Kinds of agents for which hook files are added to the working folder at each " +
				"start: `claude`, `gemini`, `opencode`, `copilot`. Existing hooks are kept. " +
				"Default: `workspace.install_agent_hooks`."},
		{Path: "agents.hooks_installed", Kind: Bool,
			Doc: "The agent's hooks are installed by other means: gcity does not install any, " +
				"even if `install_agent_hooks` is set."},
	}
}

// checkHooks returns an error message if gcity cannot install hooks for one of the kinds of agents.
func checkHooks(v any) string {
	kinds := hooks.Kinds()
	for i, kind := range v.([]string) {
		if slices.Contains(kinds, kind) {
			continue
		}
		if near := Suggest(kind, kinds); near != "" {
			return fmt.Sprintf("item %d: cannot install hooks for %q; did you mean %q?", i+1, kind,
				near)
		}
		return fmt.Sprintf("item %d: cannot install hooks for %q; use one of %s",
			i+1, kind, toml.List(kinds))
	}
	return ""
}
