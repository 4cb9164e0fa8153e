package keys

import (
	"fmt"
	"strings"
	"time"

	"gcity/session"
)

func watchKeys() []Key {
	return append([]Key{
		{Path: "watchdogs", Kind: Tables, Doc: "Looks after one agent: every so often it " +
			"looks whether the agent's session lives, how old its heartbeat is, and whether mail " +
			"waits, and " +
			"does something about it. [watchdogs.md](watchdogs.md) tells what, and when."},
		{Path: "watchdogs.name", Kind: String, Require: true, Check: CheckName,
			Pattern: namePattern,
			Doc: "Name, unique among the watchdogs; what a name may be made of is as " +
				"for agents."},
		{Path: "watchdogs.rig", Kind: String, Check: CheckName,
			Doc: "The rig that it belongs to: it is called `RIG/NAME` then, and `watches`, " +
				"`triage` and `escalate_to` mean that rig's agents first. " +
				"A topology says nothing here: its watchdogs are the rig's where whom " +
				"they watch is."},
		{Path: "watchdogs.watches", Kind: String, Require: true, Check: checkFilled,
			Doc: "The agent that is looked after, `NAME` or `RIG/NAME`. A pool cannot be, nor " +
				"a member: how many of those run is the pool's affair."},
		{Path: "watchdogs.triage", Kind: String, Check: checkFilled,
			Doc: "The agent that judges in place of the thresholds. It is started anew for each " +
				"beat, and by nothing else, and decides by `gc watchdog decide`. " +
				"One agent is the triage of one watchdog. Suspending it leaves the " +
				"thresholds to judge."},
		{Path: "watchdogs.every", Kind: Duration, Def: `"3m"`,
			Check: checkAtLeast(100 * time.Millisecond),
			Doc:   "Time from one beat to the next; at least 100ms."},
		{Path: "watchdogs.heartbeat", Kind: String, Check: checkPath,
			Doc: "The file that the agent writes to be found at work, JSON with a `timestamp`. " +
				"Relative to the file that says it; in a topology, to the folder of the rig, or " +
				"of the city. Without it, " +
				"`.gc/heartbeats/AGENT.json`, which `gc heartbeat` writes."},
		{Path: "watchdogs.fresh", Kind: Duration, Def: `"5m"`, Check: checkPositive,
			Doc: "A younger heartbeat is fresh, and all is well."},
		{Path: "watchdogs.very_stale", Kind: Duration, Def: `"15m"`, Check: checkPositive,
			Doc: "An agent with an older one is woken. It is more than `fresh`."},
		{Path: "watchdogs.nudge", Kind: String, Def: `"Check-in: mail waits for you."`,
			Check: checkTyped,
			Doc: "Typed into the agent when its heartbeat is stale and mail waits for it; at " +
				"most 1 MiB."},
		{Path: "watchdogs.wake", Kind: String,
			Def: `"Wake up: nothing has been heard of you` +
				` for a while. Check your mail, go on with your work, and run gc heartbeat."`,
			Check: checkTyped,
			Doc:   "Typed into it when the heartbeat is very stale; at most 1 MiB."},
		{Path: "watchdogs.triage_ttl", Kind: Duration, Def: `"5m"`,
			Check: checkAtLeast(100 * time.Millisecond),
			Doc:   "Time that `triage` has to decide; then it is ended, and the thresholds do."},
		{Path: "watchdogs.overrule_after", Kind: Int, Def: "3",
			Within: &bounds{1, 1000, func(n int) string {
				return fmt.Sprintf("is %d; write from 1 to 1000", n)
			}},
			Doc: "Beats in a row after which the thresholds overrule `triage`. A beat counts if " +
				"the agent is very stale or dead and `triage` decides neither " +
				"`start` nor `wake`. A new heartbeat ends the count."},
	}, escalationKeys()...)
}

func escalationKeys() []Key {
	return []Key{
		{Path: "watchdogs.escalate_to", Kind: String, Def: `"human"`, Check: checkFilled,
			Doc: "Who gets mail when nothing has helped: the name of an agent, `pool:NAME`, or " +
				"any other name, which is a person's."},
		{Path: "watchdogs.escalate_command", Kind: String, Check: checkFilled,
			Doc: "A shell line that is run then too, in the city's folder, for at most a minute; " +
				"`GC_WATCHDOG`, `GC_WATCHDOG_WATCHES`, `GC_WATCHDOG_FAILED` and " +
				"`GC_WATCHDOG_REASON` tell it what for."},
		{Path: "watchdogs.escalate_after", Kind: Int, Def: "3",
			Within: &bounds{1, 1000, func(n int) string {
				return fmt.Sprintf("is %d; write from 1 to 1000", n)
			}},
			Doc: "So many starts and wakes in a row that did not help are told to a " +
				"person, once."},
	}
}

// watchPatchKeys are the keys of a watchdog for a table that changes one.
func watchPatchKeys() []Key {
	out := []Key{{Path: "patches.watchdogs", Kind: Tables,
		Doc: "Changes one watchdog, wherever it is declared: one of a topology, for instance, " +
			"for one rig alone."}}
	for _, k := range watchKeys() {
		name, ok := strings.CutPrefix(k.Path, "watchdogs.")
		if !ok {
			continue
		}
		k.Path, k.Def, k.Require = "patches.watchdogs."+name, "", name == "name"
		switch name {
		case "name":
			k.Doc = "The watchdog's `name`, without its rig. That there is none is a mistake."
		case "rig":
			k.Doc = "Its rig, if it has one."
		case "heartbeat":
			k.Doc = "What counts instead of its own `heartbeat`; relative to the file that says it."
		default:
			k.Doc = "What counts instead of its own `" + name + "`."
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
