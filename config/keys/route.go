package keys

import (
	"fmt"
	"strings"
)

// routeKeys say how work finds an agent.
func routeKeys() []Key {
	return []Key{
		{Path: "agents.work_query", Kind: String, Check: checkFilled,
			Doc: "A shell line that prints the agent's work, in place of what `gcity hook` finds " +
				"by itself: what is assigned to the agent, and " +
				"what is labelled for its pool."},
		{Path: "agents.sling_query", Kind: String, Check: checkSling,
			Doc: "A shell line that gives the agent a piece of work, in place of what `gcity " +
				"sling` does by itself: the agent becomes the " +
				"assignee, or the work is labelled for its pool. `{}` stands for the work's id. " +
				"It runs in the rig's folder, else in the " +
				"city's, for at most 30 seconds; if it fails, nothing has been handed out, and " +
				"`gcity sling` says why."},
		{Path: "agents.default_sling_formula", Kind: String, Check: checkFilled,
			Doc: "The formula by which the agent does the work that `gcity sling` gives to it: " +
				"it is cooked below the work, which names its root " +
				"as `molecule_id`. Its variables `bead`, `issue` and `title` are the work's id " +
				"and title, where it declares them. Formulas come and go: that there is none is " +
				"told by `gcity plan`, `doctor` and `config show`, and stops nobody."},
		{Path: "rigs.default_sling_target", Kind: String, Check: checkFilled,
			Doc: "Who gets the work that `gcity sling` is to give to the rig: an agent or a " +
				"pool, of the rig by its last name, else of the city. That there is none " +
				"is a mistake."},
	}
}

// checkSling minds that a line that gives work says which.
func checkSling(v any) string {
	if msg := checkFilled(v); msg != "" {
		return msg
	}
	if !strings.Contains(v.(string), "{}") {
		return fmt.Sprintf("does not say what is given: write {} where the work's id "+
			"belongs, like %q", "gc bead update {} --label for:me")
	}
	return ""
}
