package migrate

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gcity/config/placeholder"
)

var field = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{-?\s*\.([A-Za-z]+)\s*-?\}\}`)
})

var inShell = map[string]string{
	"Rig": "$GC_RIG", "RigName": "$GC_RIG", "RigRoot": "$GC_RIG_PATH",
	"Agent": "$GC_AGENT", "QualifiedName": "$GC_AGENT", "AgentName": "$GC_AGENT",
	"AgentBase": "${GC_AGENT##*/}", "Name": "${GC_AGENT##*/}",
	"CityRoot": "$GC_CITY_PATH", "City": "$GC_CITY_NAME",
	"CityName": "$GC_CITY_NAME", "WorkDir": "$GC_DIR", "Session": "$GC_SESSION_NAME",
}

// usesWorkDir reports whether a shell line contains the working folder of its agent.
func usesWorkDir(line string) bool {
	for _, m := range field().FindAllStringSubmatch(line, -1) {
		if m[1] == "WorkDir" || m[1] == "Dir" {
			return true
		}
	}
	return strings.Contains(line, "$GC_DIR") || strings.Contains(line, "${GC_DIR")
}

// template converts the fields in a text to gcity's placeholders. It returns "" if a field has no replacement.
func (e emitter) template(v value, a *agent, text string) string {
	text = field().ReplaceAllStringFunc(text, func(m string) string {
		switch name := field().FindStringSubmatch(m)[1]; name {
		case "AgentBase":
			return "{{.Name}}"
		case "AgentName", "QualifiedName":
			return "{{.Agent}}"
		case "RigName":
			return "{{.Rig}}"
		case "RigRoot":
			return "$GC_RIG_PATH"
		case "BindingName", "BindingPrefix":
			return ""
		default:
			return m
		}
	})
	if _, err := placeholder.Expand(text, placeholder.Values{}); err != nil {
		e.broken(v.place(), "%s for %s was omitted: it %s", v.Key, a.name, err)
		return ""
	}
	return text
}

// query converts a shell line about an agent's work. It returns "" if the line would always give a wrong answer.
func (e emitter) query(v value, a *agent) string {
	if v.text() == "" {
		return ""
	}
	if line := v.text(); beadsProgram().MatchString(line) &&
		(!e.keepsBeads() || routedBy().MatchString(line)) {
		e.note(v.place(), "%s for %s was omitted: it asks bd for work, which gcity stores or "+
			"marks differently; gcity uses its own query", v.Key, a.name)
		return ""
	}
	for _, m := range field().FindAllStringSubmatch(v.text(), -1) {
		if inShell[m[1]] == "" && m[1] != "ConfigDir" {
			e.note(v.place(), "%s for %s was omitted: it uses {{.%s}}, which has no equivalent",
				v.Key, a.name, m[1])
			return ""
		}
	}
	return e.shellLine(v, a, v.text())
}

// keepsBeads reports whether the converted city stores its work with bd.
func (e emitter) keepsBeads() bool {
	return slices.ContainsFunc(e.settings("beads", "provider"), func(v value) bool {
		return v.text() == "bd"
	})
}

var beadsProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[\s;&|($` + "`" + `])(bd|gc (bd|beads))\s`)
})

// routedBy matches how Gas City marks the work of a pool. gcity uses other marks.
var routedBy = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`gc\.routed_to|pool:`)
})

func (e emitter) shellLine(v value, a *agent, text string) string {
	text = field().ReplaceAllStringFunc(text, func(m string) string {
		name := field().FindStringSubmatch(m)[1]
		if name == "ConfigDir" {
			return strings.TrimSuffix("$GC_CITY_PATH/"+filepath.ToSlash(e.rel), "/")
		}
		if variable, ok := inShell[name]; ok {
			return variable
		}
		e.note(v.place(), "%s for %s uses {{.%s}}, which has no equivalent", v.Key, a.name, name)
		return ""
	})
	return text
}
