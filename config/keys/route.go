package keys

import (
	"fmt"
	"strings"
)

// routeKeys returns the keys that determine how an agent receives its work.
func routeKeys() []Key {
	return []Key{
		{Path: "agents.work_query", Kind: String, Check: checkFilled,
			Doc: "A shell command that prints the agent's work. It replaces the default of " +
				"`gcity hook`: the work that is assigned to the agent, and the work with its " +
				"pool's label."},
		{Path: "agents.sling_query", Kind: String, Check: checkSling,
			Doc: "A shell command that assigns work to the agent. It replaces the default of " +
				"`gcity sling`, which makes the agent the assignee or adds the pool's label. " +
				"`{}` stands for the work's ID. It runs in the rig's folder, or in the city's " +
				"folder if the agent has no rig, for at most 30 seconds. If it fails, the work " +
				"is not assigned, and `gcity sling` shows the reason."},
		{Path: "agents.default_sling_formula", Kind: String, Check: checkFilled,
			Doc: "The formula for work that `gcity sling` assigns to the agent. The formula " +
				"creates a molecule below the work, and the work stores the molecule's ID as " +
				"`molecule_id`. If the formula declares the variables `bead`, `issue` and " +
				"`title`, they are set to the work's ID and title. If the formula is missing, " +
				"`gcity plan`, `doctor` and `config show` report it, but the agent still runs."},
		{Path: "rigs.default_sling_target", Kind: String, Check: checkFilled,
			Doc: "The agent or pool that receives the work that `gcity sling` assigns to the " +
				"rig. The name is looked up in the rig first, then in the city. An unknown " +
				"agent is an error."},
	}
}

// checkSling returns an error message if the placeholder for the work's ID is missing.
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
