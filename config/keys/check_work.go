package keys

import (
	"fmt"
	"strings"
	"time"

	"gcity/automation"
	"gcity/formula"
)

func checkBeads(v any) string {
	const advice = "remove the key to use the built-in store, which needs no other program"
	name := v.(string)
	if script, ok := strings.CutPrefix(name, "exec:"); ok {
		return checkScript(name, script)
	}
	if name != "" && name != "file" && name != "bd" {
		return fmt.Sprintf("unknown beads provider %q; use \"bd\" or \"exec:SCRIPT\", or %s",
			name, advice)
	}
	return ""
}

func checkScript(name, script string) string {
	if strings.TrimSpace(script) != script || script == "" ||
		strings.ContainsAny(script, "\x00\n\r\t") || strings.HasPrefix(script, "-") {
		return fmt.Sprintf(
			`%q does not name a script; use "exec:PATH" with an unquoted path and no arguments`,
			name)
	}
	return ""
}

func checkWisp(v any) string {
	if t := v.(time.Duration); t < 100*time.Millisecond {
		return fmt.Sprintf(
			`is %s; it must be at least "100ms"; to keep wisps, remove `+
				"wisp_gc_interval and wisp_ttl", t)
	}
	return ""
}

// checkAtLeast rejects shorter durations, because they would waste CPU time.
func checkAtLeast(least time.Duration) func(any) string {
	return func(v any) string {
		if t := v.(time.Duration); t < least {
			return fmt.Sprintf("is %s; it must be at least %q", t, least)
		}
		return ""
	}
}

func checkAutomation(v any) string {
	if name, rig, scoped := strings.Cut(v.(string), ":rig:"); scoped {
		return fmt.Sprintf("%q contains the rig; set name = %q and rig = %q", v, name, rig)
	}
	return formula.NameProblem(v.(string))
}

func checkSkip(v any) string {
	for i, item := range v.([]string) {
		name, rig, scoped := strings.Cut(item, ":rig:")
		wrong := formula.NameProblem(name)
		if wrong == "" && scoped {
			wrong = formula.NameProblem(rig)
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
		return fmt.Sprintf("%q: \"*\" is only allowed at the end, like \"bead.*\"", on)
	}
	return checkFilled(v)
}

func checkPool(v any) string {
	for part := range strings.SplitSeq(v.(string), "/") {
		if formula.NameProblem(part) != "" || strings.Count(v.(string), "/") > 1 {
			return fmt.Sprintf("%q is not the name of a pool; use NAME or RIG/NAME", v)
		}
	}
	return ""
}
