package config

import (
	"fmt"
	"strings"
	"time"
)

const maxName = 64

// checkName holds for agents and cities.
func checkName(v any) string {
	name := v.(string)
	switch {
	case name == "":
		return "is empty; write a name"
	case len(name) > maxName:
		return fmt.Sprintf("is %d letters long; %d are the most", len(name), maxName)
	case fit(name) == name:
		return ""
	case fit(name) == "":
		return fmt.Sprintf("%q is no name: letters, digits, \".\", \"_\" and \"-\" make one, the first a letter or digit", name)
	}
	return fmt.Sprintf("%q is no name: letters, digits, \".\", \"_\" and \"-\" make one, the first a letter or digit; %q would do", name, fit(name))
}

// fit makes a name of what is not one: the same if it is, "" if there is nothing to make it from.
func fit(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	s = strings.TrimLeft(s, "._-")
	if s != name {
		s = strings.TrimRight(s, "-")
	}
	return s[:min(len(s), maxName)]
}

// maxPrefix is enough to tell projects apart, and short enough to stand before every id.
const maxPrefix = 16

func checkPrefix(v any) string {
	prefix := v.(string)
	if msg := checkName(v); msg != "" || len(prefix) <= maxPrefix {
		return msg
	}
	return fmt.Sprintf("is %d letters long; %d are the most", len(prefix), maxPrefix)
}

func checkFilled(v any) string {
	if strings.TrimSpace(v.(string)) == "" {
		return "is empty; write one, or leave the key out"
	}
	return ""
}

func checkLines(v any) string {
	for i, line := range v.([]string) {
		if strings.TrimSpace(line) == "" {
			return fmt.Sprintf("item %d is empty; take it out", i+1)
		}
	}
	return ""
}

func checkPath(v any) string {
	p := v.(string)
	switch {
	case p == "":
		return "is empty; write a path, or leave the key out"
	case p == "~" || strings.HasPrefix(p, "~/"):
		return "\"~\" is not expanded here; write the absolute path"
	}
	return ""
}

func checkRigPath(v any) string {
	if v.(string) == "" {
		return "is empty; write the path of the project's folder"
	}
	return checkPath(v)
}

func checkNotNegative(v any) string {
	if t := v.(time.Duration); t < 0 {
		return fmt.Sprintf("is negative (%s); write \"0s\" for none", t)
	}
	return ""
}

func checkPositive(v any) string {
	if t := v.(time.Duration); t <= 0 {
		return fmt.Sprintf("is %s; it must be more than nothing, like \"1h\"", t)
	}
	return ""
}

func checkPatrol(v any) string {
	if t := v.(time.Duration); t < 100*time.Millisecond {
		return fmt.Sprintf("is %s; it must be at least \"100ms\", and \"30s\" is enough: deaths and edits are noticed at once without it", t)
	}
	return ""
}

func checkIdle(v any) string {
	if t := v.(time.Duration); t != 0 && t < 100*time.Millisecond {
		return fmt.Sprintf("is %s; it must be at least \"100ms\", or \"0s\" for never", t)
	}
	return ""
}

func checkReadyDelay(v any) string {
	if t := v.(time.Duration); t < 0 || t > time.Hour {
		return fmt.Sprintf("is %d; it must be from 0 to 3600000 milliseconds", t.Milliseconds())
	}
	return ""
}

func checkRestarts(v any) string {
	if n := v.(int); n < 0 || n > 10_000 {
		return fmt.Sprintf("is %d; write 0 for any number of restarts, or at most 10000", n)
	}
	return ""
}

func checkMembers(v any) string {
	switch n := v.(int); {
	case n < 0:
		return fmt.Sprintf("is %d; a pool cannot have fewer than 0 members", n)
	case n > MaxAgents:
		return fmt.Sprintf("is %d; a city can have %d agents, the members of all its pools included", n, MaxAgents)
	}
	return ""
}

func checkSize(v any) string {
	if n := v.(int); n < 2 || n > 1000 {
		return fmt.Sprintf("is %d; it must be from 2 to 1000", n)
	}
	return ""
}

func checkProvider(v any) string {
	name, known := v.(string), []string{"pty", "tmux", "subprocess", "exec:", "k8s", "fake", "fail"}
	switch {
	case name == "" || name == "pty" || name == "fake" || name == "fail":
		return ""
	case name == "tmux" || name == "subprocess" || name == "k8s" || strings.HasPrefix(name, "exec:"):
		return fmt.Sprintf("%q is not supported yet; \"pty\" is: the terminals built in need nothing installed", name)
	}
	if near := suggest(name, known); near != "" {
		return fmt.Sprintf("there is no session provider %q; did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no session provider %q; leave the key out, or write \"pty\"", name)
}

func checkEvents(v any) string {
	switch name := v.(string); {
	case name == "":
		return ""
	case name == "fake" || name == "fail" || strings.HasPrefix(name, "exec:"):
		return fmt.Sprintf("%q is not supported yet; leave the key out: the log built in is used", name)
	default:
		return fmt.Sprintf("there is no events provider %q; leave the key out: the log built in is used", name)
	}
}

func oneOf(names ...string) func(any) string {
	return func(v any) string {
		name := v.(string)
		for _, n := range names {
			if n == name {
				return ""
			}
		}
		if near := suggest(name, names); near != "" {
			return fmt.Sprintf("%q is none of %s; did you mean %q?", name, list(names), near)
		}
		return fmt.Sprintf("%q is none of %s", name, list(names))
	}
}
