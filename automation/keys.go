package automation

import "time"

// Minimum durations. A smaller value is probably a typo, and would keep the machine busy.
const (
	MinInterval = time.Second
	MinTime     = 100 * time.Millisecond // minimum for all other durations
)

type key struct {
	name, kind string
	def        string // for the documentation
	gate       Gate   // "" = all gates
	doc        string
}

func table() []key {
	all := actionKeys()
	for _, k := range Gates() {
		all = append(all, k.keys...)
	}
	return append(all, runKeys()...)
}

func actionKeys() []key {
	return []key{
		{name: "description", kind: "string", doc: "Description of the automation in " +
			"one sentence."},
		{name: "exec", kind: "string", doc: "Shell command to run. Either `exec` or `formula` is " +
			"required. If the command begins with a relative path, gcity looks for that file in " +
			"the folder where the command runs, then in the automation's folder, then in the " +
			"root of its topology."},
		{name: "formula", kind: "string", doc: "Formula to create work from. Either `exec` or " +
			"`formula` is required."},
		{name: "pool", kind: "string", doc: "Pool that does the formula's work. `RIG/NAME` " +
			"is a rig's pool. `NAME` is a pool of the automation's rig; if the automation has " +
			"no rig, `NAME` is a pool of the city."},
		{name: "vars", kind: "table of strings", doc: "Values for the formula's variables: a " +
			"table `[automation.vars]` with lines of the form `NAME = \"value\"`."},
		{name: "gate", kind: "string", def: "required", doc: "What starts a run: `cooldown`, " +
			"`cron`, `condition`, `event` or `manual`."},
	}
}

func runKeys() []key {
	return []key{
		{name: "timeout", kind: "duration", def: "`\"1m\"`, with a formula `\"30s\"`",
			doc: "A run that takes longer fails, and all its processes are killed. The minimum " +
				"is 100ms. `max_timeout` in city.toml is the upper limit."},
		{name: "overlap", kind: "string", def: "`\"skip\"`",
			doc: "What happens if the gate opens during a run: `skip` does not start another " +
				"run, `queue` starts one more run afterwards."},
		{name: "retry", kind: "int", def: "`0`", doc: "Number of retries after a failed run, " +
			"at most 100."},
		{name: "retry_backoff", kind: "duration", def: "`\"10s\"`",
			doc: "Delay before the first retry. The minimum is 100ms. The delay doubles with " +
				"each retry, up to one hour."},
		{name: "on_failure", kind: "string", doc: "Automation to run after the last retry has " +
			"failed or was interrupted. gcity looks for `NAME` in the same rig first, then " +
			"in the city. `NAME:rig:RIG` names an automation in another rig."},
		{name: "while_suspended", kind: "bool", def: "`false`",
			doc: "`true`: runs start even while the city or the automation's rig is suspended."},
		{name: "enabled", kind: "bool", def: "`true`", doc: "`false`: the automation is " +
			"disabled; lists show it as off."},
	}
}

func keys() []string {
	var out []string
	for _, k := range table() {
		out = append(out, k.name)
	}
	return out
}
