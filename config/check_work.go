package config

import (
	"fmt"
	"strings"
	"time"

	"gcity/automation"
	"gcity/formula"
)

func checkBeads(v any) string {
	const advice = "leave the key out: the store built in needs nothing installed"
	switch name := v.(string); {
	case name == "" || name == "file":
		return ""
	case name == "bd" || strings.HasPrefix(name, "exec:"):
		return fmt.Sprintf("%q is not supported yet; %s", name, advice)
	default:
		return fmt.Sprintf("there is no beads provider %q; %s", name, advice)
	}
}

func checkWisp(v any) string {
	if t := v.(time.Duration); t < 100*time.Millisecond {
		return fmt.Sprintf("is %s; it must be at least \"100ms\"; leave wisp_gc_interval and wisp_ttl out if wisps are to stay", t)
	}
	return ""
}

// checkAutomation holds for the name of an automation without its rig.
func checkAutomation(v any) string {
	if name, rig, scoped := strings.Cut(v.(string), ":rig:"); scoped {
		return fmt.Sprintf("%q has the rig in it; write name = %q and rig = %q", v, name, rig)
	}
	return formula.NotAName(v.(string))
}

func checkSkip(v any) string {
	for i, item := range v.([]string) {
		name, rig, scoped := strings.Cut(item, ":rig:")
		wrong := formula.NotAName(name)
		if wrong == "" && scoped {
			wrong = formula.NotAName(rig)
		}
		if wrong != "" {
			return fmt.Sprintf("item %d %s", i+1, wrong)
		}
	}
	return ""
}

func checkSchedule(v any) string {
	if _, err := automation.ParseSchedule(v.(string)); err != nil {
		return err.Error()
	}
	return ""
}

func checkOn(v any) string {
	on := v.(string)
	if begin, _ := strings.CutSuffix(on, "*"); strings.Contains(begin, "*") {
		return fmt.Sprintf("%q: \"*\" may only stand at the end, like \"bead.*\"", on)
	}
	return checkFilled(v)
}

func checkPool(v any) string {
	for part := range strings.SplitSeq(v.(string), "/") {
		if formula.NotAName(part) != "" || strings.Count(v.(string), "/") > 1 {
			return fmt.Sprintf("%q is no name of a pool; write NAME or RIG/NAME", v)
		}
	}
	return ""
}
