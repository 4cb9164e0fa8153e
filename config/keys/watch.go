package keys

import (
	"fmt"
	"strings"
	"time"

	"gcity/session"
)

func watchKeys() []Key {
	return append([]Key{
		{Path: "watchdogs", Kind: Tables, Doc: "A watchdog monitors one agent. At regular " +
			"intervals, it checks whether the agent has a running session, how old the agent's " +
			"heartbeat is, and whether the agent has unread mail. It then acts on the " +
			"result. After `escalate_after` failed actions, it calls a user: it sends mail to " +
			"`escalate_to` and runs `escalate_command`. See [watchdogs.md](watchdogs.md)."},
		{Path: "watchdogs.name", Kind: String, Require: true, Check: CheckName,
			Pattern: namePattern,
			Doc:     "Name, unique among the watchdogs. The same rules apply as for agent names."},
		{Path: "watchdogs.rig", Kind: String, Check: CheckName,
			Doc: "The rig that the watchdog belongs to. The watchdog's full name is then " +
				"`RIG/NAME`, and gcity looks up the names in `watches`, `triage` and " +
				"`escalate_to` in that rig first. In a topology, gcity ignores this key: a " +
				"watchdog belongs to the rig of the agent that it watches."},
		{Path: "watchdogs.watches", Kind: String, Require: true, Check: checkFilled,
			Doc: "The agent that the watchdog monitors, `NAME` or `RIG/NAME`. The agent cannot " +
				"be a pool or a pool's member, because the pool decides how many members run."},
		{Path: "watchdogs.triage", Kind: String, Check: checkFilled,
			Doc: "The triage agent: it decides instead of the thresholds. gcity starts this " +
				"agent for each check, and the agent runs `gc watchdog decide` to report its " +
				"decision. An agent can be the triage agent of only one watchdog. While the " +
				"triage agent is suspended, the thresholds decide."},
		{Path: "watchdogs.every", Kind: Duration, Def: `"3m"`,
			Check: checkAtLeast(100 * time.Millisecond),
			Doc:   "Interval between two checks. The minimum is 100ms."},
		{Path: "watchdogs.heartbeat", Kind: String, Check: checkPath,
			Doc: "The file in which the agent reports that it is working: JSON with a " +
				"`timestamp`. The path is relative to the file that contains the key; in a " +
				"topology, it is relative to the folder of the watchdog's rig or city. Default: " +
				"`.gc/heartbeats/AGENT.json`, which `gc heartbeat` writes."},
		{Path: "watchdogs.fresh", Kind: Duration, Def: `"5m"`, Check: checkPositive,
			Doc: "If the agent's heartbeat is younger than this, the heartbeat is fresh, and the " +
				"watchdog takes no action."},
		{Path: "watchdogs.very_stale", Kind: Duration, Def: `"15m"`, Check: checkPositive,
			Doc: "If the agent's heartbeat is older than this, the watchdog wakes the agent. The " +
				"value must be greater than `fresh`."},
		{Path: "watchdogs.nudge", Kind: String, Def: `"Check-in: check your mail."`,
			Check: checkTyped,
			Doc: "Text that gcity types into the agent's terminal if the heartbeat is stale and " +
				"the agent has unread mail, or if the triage agent decides `nudge`. It can be at " +
				"most 1 MiB long."},
		{Path: "watchdogs.wake", Kind: String,
			Def: `"Wake up: there has been no heartbeat for a while. Check your mail, ` +
				`continue your work, and run gc heartbeat."`,
			Check: checkTyped,
			Doc: "Text that gcity types into the agent's terminal if the heartbeat is very " +
				"stale, or if the triage agent decides `wake`. It can be at most 1 MiB long."},
		{Path: "watchdogs.triage_ttl", Kind: Duration, Def: `"5m"`,
			Check: checkAtLeast(100 * time.Millisecond),
			Doc: "Time that the triage agent has to decide. After this time, gcity stops the " +
				"triage agent, and the thresholds decide."},
		{Path: "watchdogs.overrule_after", Kind: Int, Def: "3", Within: countBounds(),
			Doc: "Number of consecutive checks after which the thresholds overrule the triage " +
				"agent. A check counts if the watched agent is very stale or dead, and the " +
				"triage agent decides neither `start` nor `wake`. A new heartbeat resets the " +
				"count."},
	}, escalationKeys()...)
}

func escalationKeys() []Key {
	return []Key{
		{Path: "watchdogs.escalate_to", Kind: String, Def: `"human"`, Check: checkFilled,
			Doc: "The recipient of the mail that the watchdog sends when it calls a user: an " +
				"agent's name, `pool:NAME`, or any other name, which stands for a user."},
		{Path: "watchdogs.escalate_command", Kind: String, Check: checkFilled,
			Doc: "A shell command that gcity also runs when the watchdog calls a user. It runs " +
				"in the city's folder, for at most one minute, and receives `GC_WATCHDOG`, " +
				"`GC_WATCHDOG_WATCHES`, `GC_WATCHDOG_FAILED`, `GC_WATCHDOG_REASON` and " +
				"`GC_PACK_DIR` (the folder of the file that declares the watchdog) in its " +
				"environment."},
		{Path: "watchdogs.escalate_after", Kind: Int, Def: "3", Within: countBounds(),
			Doc: "The number of consecutive failed actions after which the watchdog calls a " +
				"user. It does not call again until the agent has recovered."},
	}
}

func watchPatchKeys() []Key {
	out := []Key{{Path: "patches.watchdogs", Kind: Tables,
		Doc: "Changes one watchdog, no matter where it is declared. For example, if several rigs " +
			"have the same watchdog from a topology, a patch can change it in one rig only."}}
	for _, k := range watchKeys() {
		name, ok := strings.CutPrefix(k.Path, "watchdogs.")
		if !ok {
			continue
		}
		k.Path, k.Def, k.Require = "patches.watchdogs."+name, "", name == "name"
		switch name {
		case "name":
			k.Doc = "The watchdog's `name`, without its rig. An unknown watchdog is an error."
		case "rig":
			k.Doc = "The watchdog's rig, if it has one."
		case "heartbeat":
			k.Doc = "Replaces the watchdog's own `heartbeat`; relative to the file that " +
				"contains the key."
		default:
			k.Doc = "Replaces the watchdog's own `" + name + "`."
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
			return fmt.Sprintf("contains the control character %#02x, which cannot be "+
				"typed as text",
				r)
		}
	}
	return ""
}

func checkTypable(v any) string {
	if n := len(v.(string)); n > session.MaxText {
		return fmt.Sprintf("is %d bytes long, but at most %d can be typed; put the text in a "+
			"file, and set this key to a short text that names the file", n, session.MaxText)
	}
	return ""
}
