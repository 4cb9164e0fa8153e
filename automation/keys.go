package automation

import "time"

// The least that time spans may be. Less is a slip of the pen, and would keep a machine busy for nothing.
const (
	MinInterval = time.Second
	MinTime     = 100 * time.Millisecond // of everything else
)

// key is one of [automation], as it is read and as docs/automations.md tells of it.
type key struct {
	name, kind string
	def        string // what counts when it is not written
	gate       Gate   // the only one that uses it; "" = all do
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
		{name: "description", kind: "string", doc: "What it is for, in a sentence."},
		{name: "exec", kind: "string", doc: "The shell line to run. Either this or `formula` has " +
			"to be there. A relative path at its beginning is " +
			"looked for in the folder where it runs, in the automation's own, and at the root of " +
			"its topology."},
		{name: "formula", kind: "string", doc: "The formula to make work of. Either this or " +
			"`exec` has to be there."},
		{name: "pool", kind: "string", doc: "Who works on what the formula makes: `NAME`, of the " +
			"automation's rig if it has one, or `RIG/NAME`."},
		{name: "vars", kind: "table of strings", doc: "Values for the variables of the formula: " +
			"`[automation.vars]`, then `NAME = \"value\"`."},
		{name: "gate", kind: "string", def: "required", doc: "When: `cooldown`, `cron`, " +
			"`condition`, `event` or `manual`."},
	}
}

func runKeys() []key {
	return []key{
		{name: "timeout", kind: "duration", def: "`\"1m\"`, of a formula `\"30s\"`",
			doc: "A run that takes longer is ended with all its processes, and has " +
				"failed; at least 100ms. `max_timeout` of city.toml caps it."},
		{name: "overlap", kind: "string", def: "`\"skip\"`",
			doc: "What becomes of an opening of the gate while a run goes: `skip`, it passes, " +
				"or `queue`, " +
				"one run follows."},
		{name: "retry", kind: "int", def: "`0`", doc: "How often a run that failed is tried " +
			"again, at most 100."},
		{name: "retry_backoff", kind: "duration", def: "`\"10s\"`",
			doc: "Wait before the first of these; doubles, to an hour at most; at least 100ms."},
		{name: "on_failure", kind: "string", doc: "The automation to run when this one has " +
			"failed for good: of the same rig if that has one of the name, " +
			"else of the city, or `NAME:rig:RIG`."},
		{name: "while_suspended", kind: "bool", def: "`false`",
			doc: "`true`: it also fires by itself while the city or its rig is suspended."},
		{name: "enabled", kind: "bool", def: "`true`", doc: "`false`: it does nothing, and is " +
			"listed as off."},
	}
}

func keys() []string {
	var out []string
	for _, k := range table() {
		out = append(out, k.name)
	}
	return out
}
