package keys

import (
	"cmp"
	"fmt"
	"slices"

	"gcity/hooks"
	"gcity/internal/toml"
)

func promptKeys() []Key {
	return []Key{
		{Path: "workspace.global_fragments", Kind: Strings, Check: checkLines,
			Doc: "Prompt fragments that gcity appends to every prompt in the city, before those " +
				"in the agent's own `inject_fragments`. Agents without a `prompt_template` get " +
				"no prompt and no fragments."},
		{Path: "workspace.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "Default for agents without their own `install_agent_hooks`."},
		{Path: "agents.prompt_template", Kind: String, Check: checkPath,
			Doc: "A file with the prompt that the agent receives when it starts. The prompt is a " +
				"template; see [prompts.md](prompts.md). The path is absolute, or relative to " +
				"the file that contains the key. A change to the file, or to a fragment that it " +
				"uses, counts as a configuration change."},
		{Path: "agents.inject_fragments", Kind: Strings, Check: checkLines,
			Doc: "Prompt fragments that gcity appends to the prompt, in this order."},
		{Path: "agents.overlay_dir", Kind: String, Check: checkPath,
			Doc: "A folder with files that gcity copies into the agent's working folder at each " +
				"start. gcity copies a file if the working folder does not contain it, or if " +
				"nothing has modified the existing copy. The path is absolute, or relative to " +
				"the file that contains the key. A change to the folder's content counts as a " +
				"configuration change."},
		{Path: "agents.install_agent_hooks", Kind: Strings, Check: checkHooks,
			Doc: "Kinds of agents for which gcity adds hooks to the working folder at each " +
				"start: `claude`, `gemini`, `codex`, `opencode`, `copilot`, `cursor`. gcity " +
				"keeps existing hooks. Default: `workspace.install_agent_hooks`."},
		{Path: "agents.hooks_installed", Kind: Bool,
			Doc: "`true`: the hooks are installed by other means. gcity then does not install " +
				"any hooks, even if `install_agent_hooks` is set."},
	}
}

func checkHooks(v any) string {
	kinds := hooks.Kinds()
	for i, kind := range v.([]string) {
		if slices.Contains(kinds, kind) {
			continue
		}
		return fmt.Sprintf("item %d: cannot install hooks for %q", i+1, kind) +
			cmp.Or(DidYouMean(kind, kinds), "; use one of "+toml.List(kinds))
	}
	return ""
}
