package automation

import "time"

// Lower limits of durations. Smaller values are typing errors and would keep a machine busy.
const (
	MinInterval = time.Second
	MinTime     = 100 * time.Millisecond // for all other durations
)

// key is one key of [automation], for reading it and for docs/automations.md.
type key struct {
	name, kind string
	def        string // the default
	gate       Gate   // the only gate that uses it; "" = all
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
		{name: "description", kind: "string", doc: "Description in one sentence."},
		{name: "exec", kind: "string", doc: "Shell command to run. Either this or `formula` is " +
			"required. A relative path at its beginning is searched in the folder where it runs, " +
			"in the automation's folder, and at the root of its topology."},
		{name: "formula", kind: "string", doc: "Formula to create work from. Either this or " +
			"`exec` is required."},
		{name: "pool", kind: "string", doc: "Pool that works on the formula: `NAME`, in the " +
			"automation's rig if it has one, or `RIG/NAME`."},
		{name: "vars", kind: "table of strings", doc: "Values for the variables of the formula: " +
			"`[automation.vars]`, then `NAME = \"value\"`."},
		{name: "gate", kind: "string", def: "required", doc: "When: `cooldown`, `cron`, " +
			"`condition`, `event` or `manual`."},
	}
}

func runKeys() []key {
	return []key{
		{name: "timeout", kind: "duration", def: "`\"1m\"`, with a formula `\"30s\"`",
			doc: "A run that takes longer is killed with all its processes and counts as failed; " +
				"at least 100ms. `max_timeout` of city.toml limits it."},
		{name: "overlap", kind: "string", def: "`\"skip\"`",
			doc: "What happens if the gate opens during a run: `skip` ignores it, `queue` starts " +
				"one more run afterwards."},
		{name: "retry", kind: "int", def: "`0`", doc: "Number of retries after a failed run, " +
			"at most 100."},
		{name: "retry_backoff", kind: "duration", def: "`\"10s\"`",
			doc: "Wait before the first retry; doubles up to an hour; at least 100ms."},
		{name: "on_failure", kind: "string", doc: "Automation to run when this one has finally " +
			"failed: one of that name in the same rig, otherwise in the city, or `NAME:rig:RIG`."},
		{name: "while_suspended", kind: "bool", def: "`false`",
			doc: "`true`: fire even while the city or its rig is suspended."},
		{name: "enabled", kind: "bool", def: "`true`", doc: "`false`: the automation is " +
			"disabled, and listed as off."},
	}
}

func keys() []string {
	var out []string
	for _, k := range table() {
		out = append(out, k.name)
	}
	return out
}
