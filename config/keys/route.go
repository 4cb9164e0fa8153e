package keys

import (
	"fmt"
	"strings"
)

func routeKeys() []Key {
	return []Key{
		{Path: "agents.work_query", Kind: String, Check: checkFilled,
			Doc: "A shell command that prints the agent's work. By default, `gcity hook` prints " +
				"the work that is assigned to the agent, or unassigned work with the label of " +
				"the agent's pool."},
		{Path: "agents.sling_query", Kind: String, Check: checkSling,
			Doc: "A shell command that assigns work to the agent. By default, `gcity sling` " +
				"makes the agent the assignee, or adds the pool's label. `{}` stands for the " +
				"work's ID. The command runs in the rig's folder, or in the city's folder if the " +
				"agent has no rig, for at most 30s. If the command fails, the work is not " +
				"assigned, and `gcity sling` shows the reason."},
		{Path: "agents.default_sling_formula", Kind: String, Check: checkFilled,
			Doc: "The formula that `gcity sling` uses when it assigns work to the agent. gcity " +
				"creates a molecule from the formula as a child of the work, and stores the " +
				"molecule's ID in the work's `molecule_id`. If the formula declares the " +
				"variable `bead` or `issue`, gcity sets it to the work's ID; `title` is set " +
				"to the work's title. If the formula is missing, `gcity plan`, `doctor` and " +
				"`config show` report it, but the agent still runs."},
		{Path: "rigs.default_sling_target", Kind: String, Check: checkFilled,
			Doc: "The agent or pool that receives the work that `gcity sling` assigns to the " +
				"rig. gcity looks up the name in the rig first, then in the city. An unknown " +
				"name is an error."},
	}
}

func checkSling(v any) string {
	if msg := checkFilled(v); msg != "" {
		return msg
	}
	if !strings.Contains(v.(string), "{}") {
		return fmt.Sprintf("does not contain {}, which stands for the work's ID; use a form "+
			"such as %q",
			"gc bead update {} --label for:me")
	}
	return ""
}
