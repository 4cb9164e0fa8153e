package config

import (
	"fmt"
	"strings"
	"time"

	"gcity/session"
)

func watchKeys() []key {
	return []key{
		{path: "watchdogs", kind: kindTables, doc: "Looks after one agent: every so often it " +
			"looks whether the agent's session lives, how old its heartbeat is, and whether mail " +
			"waits, and " +
			"does something about it. [watchdogs.md](watchdogs.md) tells what, and when."},
		{path: "watchdogs.name", kind: kindString, require: true, check: checkName,
			pattern: namePattern,
			doc: "Name, unique among the watchdogs; what a name may be made of is as " +
				"for agents."},
		{path: "watchdogs.rig", kind: kindString, check: checkName,
			doc: "The rig that it belongs to: it is called `RIG/NAME` then, and `watches`, " +
				"`triage` and `escalate_to` mean that rig's agents first. " +
				"A topology says nothing here: its watchdogs are the rig's where whom " +
				"they watch is."},
		{path: "watchdogs.watches", kind: kindString, require: true, check: checkFilled,
			doc: "The agent that is looked after, `NAME` or `RIG/NAME`. A pool cannot be, nor " +
				"a member: how many of those run is the pool's affair."},
		{path: "watchdogs.triage", kind: kindString, check: checkFilled,
			doc: "The agent that judges in place of the thresholds. It is started anew for each " +
				"beat, and by nothing else, and decides by `gc watchdog decide`. " +
				"One agent is the triage of one watchdog. Suspending it leaves the " +
				"thresholds to judge."},
		{path: "watchdogs.every", kind: kindDuration, def: `"3m"`,
			check: checkAtLeast(100 * time.Millisecond),
			doc:   "Time from one beat to the next; at least 100ms."},
		{path: "watchdogs.heartbeat", kind: kindString, check: checkPath,
			doc: "The file that the agent writes to be found at work, JSON with a `timestamp`. " +
				"Relative to the file that says it; in a topology, to the folder of the rig, or " +
				"of the city. Without it, " +
				"`.gc/heartbeats/AGENT.json`, which `gc heartbeat` writes."},
		{path: "watchdogs.fresh", kind: kindDuration, def: `"5m"`, check: checkPositive,
			doc: "A younger heartbeat is fresh, and all is well."},
		{path: "watchdogs.very_stale", kind: kindDuration, def: `"15m"`, check: checkPositive,
			doc: "An agent with an older one is woken. It is more than `fresh`."},
		{path: "watchdogs.nudge", kind: kindString, def: `"Check-in: mail waits for you."`,
			check: checkTyped,
			doc: "Typed into the agent when its heartbeat is stale and mail waits for it; at " +
				"most 1 MiB."},
		{path: "watchdogs.wake", kind: kindString,
			def: `"Wake up: nothing has been heard of you for a while. Check your mail, go on with your work, and run gc heartbeat."`, check: checkTyped,
			doc: "Typed into it when the heartbeat is very stale; at most 1 MiB."},
		{path: "watchdogs.triage_ttl", kind: kindDuration, def: `"5m"`,
			check: checkAtLeast(100 * time.Millisecond),
			doc:   "Time that `triage` has to decide; then it is ended, and the thresholds do."},
		{path: "watchdogs.overrule_after", kind: kindInt, def: "3",
			within: &bounds{1, 1000, func(n int) string {
				return fmt.Sprintf("is %d; write from 1 to 1000", n)
			}},
			doc: "Beats in a row after which the thresholds overrule `triage`. A beat counts if " +
				"the agent is very stale or dead and `triage` decides neither " +
				"`start` nor `wake`. A new heartbeat ends the count."},
		{path: "watchdogs.escalate_to", kind: kindString, def: `"human"`, check: checkFilled,
			doc: "Who gets mail when nothing has helped: the name of an agent, `pool:NAME`, or " +
				"any other name, which is a person's."},
		{path: "watchdogs.escalate_command", kind: kindString, check: checkFilled,
			doc: "A shell line that is run then too, in the city's folder, for at most a minute; " +
				"`GC_WATCHDOG`, `GC_WATCHDOG_WATCHES`, `GC_WATCHDOG_FAILED` and " +
				"`GC_WATCHDOG_REASON` tell it what for."},
		{path: "watchdogs.escalate_after", kind: kindInt, def: "3",
			within: &bounds{1, 1000, func(n int) string {
				return fmt.Sprintf("is %d; write from 1 to 1000", n)
			}},
			doc: "So many starts and wakes in a row that did not help are told to a " +
				"person, once."},
	}
}

// watchPatchKeys are the keys of a watchdog for a table that changes one.
func watchPatchKeys() []key {
	out := []key{{path: "patches.watchdogs", kind: kindTables,
		doc: "Changes one watchdog, wherever it is declared: one of a topology, for instance, " +
			"for one rig alone."}}
	for _, k := range watchKeys() {
		name, ok := strings.CutPrefix(k.path, "watchdogs.")
		if !ok {
			continue
		}
		k.path, k.def, k.require = "patches.watchdogs."+name, "", name == "name"
		switch name {
		case "name":
			k.doc = "The watchdog's `name`, without its rig. That there is none is a mistake."
		case "rig":
			k.doc = "Its rig, if it has one."
		case "heartbeat":
			k.doc = "What counts instead of its own `heartbeat`; relative to the file that says it."
		default:
			k.doc = "What counts instead of its own `" + name + "`."
		}
		out = append(out, k)
	}
	return out
}

func checkTyped(v any) string {
	if msg := checkFilled(v); msg != "" {
		return msg
	}
	if msg := checkTypable(v); msg != "" {
		return msg
	}
	for _, r := range v.(string) {
		if (r < ' ' || r == 0x7f) && r != '\n' && r != '\t' {
			return fmt.Sprintf("has the control character %#02x, which is a key and no text", r)
		}
	}
	return ""
}

// checkTypable holds for every text that is typed, also for one of which a session's provider judges the rest.
func checkTypable(v any) string {
	if n := len(v.(string)); n > session.MaxText {
		return fmt.Sprintf("has %d bytes; %d are the most that can be typed: put it in a file "+
			"and write the file's name", n, session.MaxText)
	}
	return ""
}
