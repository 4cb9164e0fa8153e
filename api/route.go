package api

import (
	"slices"
	"strings"

	"gcity/api/gascity"
	"gcity/city/verb"
)

// kind is what a request is about.
type kind string

const (
	health kind = "health"
	cities kind = "cities"

	citiesStream kind = "cities/stream" // of a machine with a supervisor, as are these two
	enrolling    kind = "register"
	leaving      kind = "unregister"

	figured     kind = "metrics"
	described   kind = "openapi.json"
	configured  kind = "config"
	explained   kind = "config/explain" // of an agent, a pool or a rig
	status      kind = "status"
	townKind    kind = "/v0/city" // the status, and to change the city
	snapshot    kind = "snapshot"
	snapshots   kind = "snapshot/stream"
	agents      kind = "agents"
	agent       kind = "agent"
	quarantine  kind = "quarantine"
	pools       kind = "pools"
	pool        kind = "pool"
	rigs        kind = "rigs"
	rig         kind = "rig"
	automations kind = "automations"
	automated   kind = "automation"
	history     kind = "history" // of an automation
	run         kind = "run"     // of an automation, behind it its id and what is asked of it
	running     kind = "run/stream"
	watchdogs   kind = "watchdogs"
	watchdog    kind = "watchdog"
	work        kind = "beads"
	bead        kind = "bead"
	closing     kind = "close"  // of a bead
	updating    kind = "update" // of a bead
	mailbox     kind = "mail"
	letter      kind = "message"
	reading     kind = "read"    // of a message
	archiving   kind = "archive" // of a message
	replying    kind = "reply"   // to a message
	slinging    kind = "sling"
	inspect     kind = "inspect"
	output      kind = "output"
	outputs     kind = "output/stream"
	watch       kind = "stream"
	attach      kind = "attach"
	eventLog    kind = "events"
	eventStream kind = "events/stream"
	command     kind = "command" // of an agent, a pool, a rig, an automation or the city
	debug       kind = "debug"
)

// route is a request's path, understood.
type route struct {
	kind kind
	city string // "" = the only one
	// an agent or a pool, qualified, a rig, an automation, scoped, a watchdog, or a bead's id; "" = the city
	target string
	run    string // the id of a run of the automation
	verb   string // of a command, as verb.Decode takes it
}

// parse understands a path as it came, still escaped. Every name in it is valid.
func parse(path string) (route, error) {
	if path == "/debug/pprof" || strings.HasPrefix(path, "/debug/pprof/") {
		return route{kind: debug}, nil
	}
	if path == "/health" || path == "/v0/health" {
		return route{kind: health}, nil
	}
	if path == "/metrics" {
		return route{kind: figured}, nil
	}
	rest, ok := strings.CutPrefix(path, "/v0/")
	if !ok {
		return route{}, unknownPath()
	}
	if rest == "city" {
		return route{kind: townKind}, nil
	}
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	var rt route
	var err error
	if parts[0] == "city" {
		if len(parts) < 2 {
			return route{}, unknownPath()
		}
		name, err := name(parts[1], "city")
		if err != nil || strings.Contains(name, "/") {
			return route{}, badName("city")
		}
		rt.city, parts = name, parts[2:]
		if len(parts) == 0 || len(parts) == 1 && parts[0] == "city" {
			rt.kind = townKind
			return rt, nil
		}
	}
	if err := gascity.Absent(parts[0]); err != nil {
		return rt, err
	}
	if pattern, noun, escaped, ok := gascity.Match(parts); ok {
		rt.kind = kind(pattern)
		if noun != "" {
			rt.target, err = nameOf(kind(noun), escaped)
		}
		return rt, err
	}
	if kind(parts[0]) == mailbox && len(parts) > 1 {
		return rt, rt.parseTarget(letter, parts[1:])
	}
	if rest, ok := strings.CutPrefix(strings.Join(parts, "/"), string(explained)+"/"); ok {
		rt.kind = explained
		rt.target, err = nameOf(agent, rest)
		return rt, err
	}
	switch noun := kind(parts[0]); noun {
	case agent, pool, rig, automated, watchdog, bead:
		return rt, rt.parseTarget(noun, parts[1:])
	}
	return rt, rt.parseCity(strings.Join(parts, "/"))
}

func (rt *route) parseCity(rest string) error {
	switch k := kind(rest); k {
	case cities, citiesStream, described:
		if rt.city != "" {
			return unknownPath()
		}
		rt.kind = k
	case enrolling, leaving:
		if rt.city == "" {
			return unknownPath()
		}
		rt.kind = k
	case status, snapshot, snapshots, configured, agents, quarantine, pools, rigs, automations,
		watchdogs, work, mailbox, slinging, eventLog, eventStream:
		rt.kind = k
	default:
		v, ok := verb.At(verb.City, rest)
		if !ok {
			return unknownPath()
		}
		rt.kind, rt.verb = command, v.Name
	}
	return nil
}

// parseTarget takes {name}[/{what}] apart, behind what kind of thing it names. A "/" in the name may be escaped; if it
// is not, the last part is what is asked for where it can be, and belongs to the name where it cannot.
func (rt *route) parseTarget(noun kind, parts []string) error {
	if len(parts) == 0 {
		return unknownPath()
	}
	rt.kind = noun
	if noun == automated && len(parts) == 4 && kind(parts[1]) == run && kind(parts[3]) == watch {
		return rt.parseRun(parts[0], parts[2])
	}
	if n := len(parts) - 2; noun == agent && n > 0 && strings.Join(parts[n:], "/") ==
		string(outputs) {
		rt.kind, parts = outputs, parts[:n]
	} else if last := len(parts) - 1; last > 0 {
		if k, name := what(noun, parts[last]); k != "" {
			rt.kind, rt.verb, parts = k, name, parts[:last]
		}
	}
	whole := noun.flat() || slices.ContainsFunc(parts, func(p string) bool {
		return strings.Contains(p, "%")
	})
	if len(parts) > 1 && whole {
		// a whole name in one part, and another one behind it: a verb that does not exist
		return unknownPath()
	}
	var err error
	rt.target, err = nameOf(noun, strings.Join(parts, "/"))
	return err
}

// parseRun takes what names a run's output.
func (rt *route) parseRun(of, id string) (err error) {
	rt.kind = running
	if rt.run, err = nameOf(bead, id); err != nil {
		return err
	}
	rt.target, err = nameOf(automated, of)
	return err
}

// flat tells whether names of this kind have one part, so that a path has an end.
func (k kind) flat() bool {
	return k == rig || k == automated || k == bead || k == letter
}

// what gives the kind, and for a command the verb, that the last part of a path asks of a thing; "" = nothing.
func what(noun kind, last string) (k kind, name string) {
	if v, ok := verb.At(verb.Noun(noun), last); ok {
		return command, v.Name
	}
	k = kind(last)
	switch noun {
	case agent:
		if k == inspect || k == output || k == watch || k == attach {
			return k, ""
		}
	case automated:
		if k == history {
			return k, ""
		}
	case letter:
		if k == reading || k == archiving || k == replying {
			return k, ""
		}
	case bead:
		if k == closing || k == updating {
			return k, ""
		}
	}
	return "", ""
}
