package keys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/internal/color"
	"gcity/internal/passthrough"
	"gcity/session"
)

// MaxAgents is the maximum number of agents in a city, including the members of its pools.
const MaxAgents = 10_000

const MaxName = 64

const (
	namePattern   = `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`
	prefixPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,15}$`
)

// CheckName returns why a value is not a valid agent or city name, or "" if it is valid.
func CheckName(v any) string {
	name := v.(string)
	switch {
	case name == "":
		return "is empty; set a name"
	case len(name) > MaxName:
		return fmt.Sprintf("is %d characters long; the limit is %d", len(name), MaxName)
	case shortened(name) == name:
		return ""
	case shortened(name) == "":
		return fmt.Sprintf("invalid name %q: "+nameRule, name)
	}
	return fmt.Sprintf("invalid name %q: "+nameRule+"; %q would be valid", name, shortened(name))
}

const nameRule = "use letters, digits, \".\", \"_\" and \"-\", and begin with a letter or digit"

func shortened(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_',
			r == '-':
			return r
		}
		return '-'
	}, name)
	s = strings.TrimLeft(s, "._-")
	if s != name {
		s = strings.TrimRight(s, "-")
	}
	return s[:min(len(s), MaxName)]
}

// MaxPrefix is the maximum length of a bead prefix.
const MaxPrefix = 16

func checkPrefix(v any) string {
	prefix := v.(string)
	if msg := CheckName(v); msg != "" || len(prefix) <= MaxPrefix {
		return msg
	}
	return fmt.Sprintf("is %d characters long; the limit is %d", len(prefix), MaxPrefix)
}

func checkFilled(v any) string {
	if strings.TrimSpace(v.(string)) == "" {
		return "is empty; set a value or remove the key"
	}
	return ""
}

func checkColor(v any) string {
	if _, err := color.Parse(v.(string)); err != nil {
		return err.Error()
	}
	return ""
}

func checkPassthrough(v any) string {
	if _, err := passthrough.Parse(v.([]string)); err != nil {
		return err.Error()
	}
	return ""
}

func checkLines(v any) string {
	for i, line := range v.([]string) {
		if strings.TrimSpace(line) == "" {
			return fmt.Sprintf("item %d is empty; remove it", i+1)
		}
	}
	return ""
}

func checkPath(v any) string {
	p := v.(string)
	switch {
	case p == "":
		return "is empty; set a path or remove the key"
	case p == "~" || strings.HasPrefix(p, "~/"):
		return "\"~\" is not expanded here; use the absolute path"
	}
	return ""
}

func checkRigPath(v any) string {
	if v.(string) == "" {
		return "is empty; set the path of the project's folder"
	}
	return checkPath(v)
}

func checkSignal(v any) string {
	if s := v.(string); session.ParseSignal(s) == 0 {
		return fmt.Sprintf("unknown signal %q; examples are \"interrupt\", \"hup\" and \"term\"", s)
	}
	return ""
}

func checkNotNegative(v any) string {
	if t := v.(time.Duration); t < 0 {
		return fmt.Sprintf("is negative (%s); use \"0s\" for none", t)
	}
	return ""
}

func checkPositive(v any) string {
	if t := v.(time.Duration); t <= 0 {
		return fmt.Sprintf("is %s; it must be greater than zero, like \"1h\"", t)
	}
	return ""
}

func checkPatrol(v any) string {
	if t := v.(time.Duration); t < 100*time.Millisecond {
		return fmt.Sprintf(
			`is %s; it must be at least "100ms"; "30s" is usually enough, because `+
				"exits and edits are detected immediately", t)
	}
	return ""
}

func checkIdle(v any) string {
	if t := v.(time.Duration); t != 0 && t < 100*time.Millisecond {
		return fmt.Sprintf("is %s; it must be at least \"100ms\", or \"0s\" for never", t)
	}
	return ""
}

func delayBounds() *bounds {
	return within(0, 3_600_000, "it must be from 0 to 3600000 milliseconds")
}

func memberBounds() *bounds {
	b := within(0, MaxAgents, fmt.Sprintf("a city can have at most %d agents, including all "+
		"members of its pools", MaxAgents))
	b.ruleBelow = "it must be at least 0"
	return b
}

func sizeBounds() *bounds { return within(2, 1000, "it must be from 2 to 1000") }

func countBounds() *bounds { return within(1, 1000, "use a number from 1 to 1000") }

// sessionProviders includes the prefixes "exec:" and "plugin:".
func sessionProviders() []string {
	return []string{"pty", "tmux", "subprocess", "exec:", "plugin:", "k8s", "fake", "fail"}
}

func checkProvider(v any) string {
	name := v.(string)
	known := sessionProviders()
	kind, program, external := session.External(name)
	what := map[string]string{session.Script: "script", session.Plugin: "program"}[kind]
	switch {
	case external && strings.TrimSpace(program) == "":
		return fmt.Sprintf("does not name a %s; put its path after %q", what, kind+":")
	case external && strings.ContainsAny(program, "\x00\n"):
		return fmt.Sprintf("%q is not the path of a %s", program, what)
	case external && strings.HasPrefix(program, "~"):
		return checkPath("~/")
	case external, name == "", slices.Contains(known, name):
		return ""
	}
	return fmt.Sprintf("unknown session provider %q", name) +
		cmp.Or(DidYouMean(name, known), "; remove the key or use \"pty\"")
}

func checkEvents(v any) string {
	name := v.(string)
	if script, ok := strings.CutPrefix(name, "exec:"); ok {
		return checkScript(name, script)
	}
	if name != "" && name != "fake" && name != "fail" {
		return fmt.Sprintf(
			`unknown events provider %q; use "exec:SCRIPT", or "fake" or "fail" for testing, `+
				`or remove the key to use the built-in log`, name)
	}
	return ""
}
