package wire

import (
	"slices"
	"strings"

	"gcity/api/gascity"
	"gcity/city/verb"
)

// Kind is the kind of a request.
type Kind string

const (
	KindHealth Kind = "health"
	KindCities Kind = "cities"

	// only a supervisor serves this kind and the next two
	KindCitiesStream Kind = "cities/stream"
	KindRegister     Kind = "register"
	KindUnregister   Kind = "unregister"

	KindMetrics        Kind = "metrics"
	KindOpenAPI        Kind = "openapi.json"
	KindConfig         Kind = "config"
	KindConfigExplain  Kind = "config/explain" // effective values of an agent, a pool or a rig
	KindStatus         Kind = "status"
	KindCity           Kind = "/v0/city" // the city's status; PATCH changes the city
	KindSnapshot       Kind = "snapshot"
	KindSnapshotStream Kind = "snapshot/stream"
	KindAgents         Kind = "agents"
	KindAgent          Kind = "agent"
	KindQuarantine     Kind = "quarantine"
	KindPools          Kind = "pools"
	KindPool           Kind = "pool"
	KindRigs           Kind = "rigs"
	KindRig            Kind = "rig"
	KindAutomations    Kind = "automations"
	KindAutomation     Kind = "automation"
	KindHistory        Kind = "history" // runs of an automation
	// followed by the run's ID and "stream"
	KindRun          Kind = "run"
	KindRunStream    Kind = "run/stream"
	KindWatchdogs    Kind = "watchdogs"
	KindWatchdog     Kind = "watchdog"
	KindBeads        Kind = "beads"
	KindBead         Kind = "bead"
	KindCloseBead    Kind = "close"
	KindUpdateBead   Kind = "update"
	KindMail         Kind = "mail"
	KindMessage      Kind = "message"
	KindMarkRead     Kind = "read"
	KindArchive      Kind = "archive"
	KindReply        Kind = "reply"
	KindSling        Kind = "sling"
	KindInspect      Kind = "inspect"
	KindOutput       Kind = "output"
	KindPeek         Kind = "peek" // an agent's output in a single string
	KindOutputStream Kind = "output/stream"
	KindWatchStream  Kind = "stream"
	KindAttach       Kind = "attach"
	KindEvents       Kind = "events"
	KindEventStream  Kind = "events/stream"
	// command for an agent, a pool, a rig, an automation or the city
	KindCommand Kind = "command"
	KindDebug   Kind = "debug"
)

// Route is a parsed request path.
type Route struct {
	Kind Kind
	City string // name of the city; "" = the only city
	// name or ID of the object; "" = the city
	Target string
	Run    string
	Verb   string // verb of a command, for verb.Decode
}

// Parse parses an escaped path. All names in the result are valid.
func Parse(path string) (Route, error) {
	if path == "/debug/pprof" || strings.HasPrefix(path, "/debug/pprof/") {
		return Route{Kind: KindDebug}, nil
	}
	if path == "/health" || path == "/v0/health" {
		return Route{Kind: KindHealth}, nil
	}
	if path == "/metrics" {
		return Route{Kind: KindMetrics}, nil
	}
	rest, ok := strings.CutPrefix(path, "/v0/")
	if !ok {
		return Route{}, UnknownPath()
	}
	if rest == "city" {
		return Route{Kind: KindCity}, nil
	}
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	var rt Route
	var err error
	if parts[0] == "city" {
		if len(parts) < 2 {
			return Route{}, UnknownPath()
		}
		name, err := ParsedName(parts[1], "city")
		if err != nil || strings.Contains(name, "/") {
			return Route{}, badName("city")
		}
		rt.City, parts = name, parts[2:]
		if len(parts) == 0 || len(parts) == 1 && parts[0] == "city" {
			rt.Kind = KindCity
			return rt, nil
		}
	}
	if err := gascity.Unsupported(parts[0]); err != nil {
		return rt, err
	}
	if pattern, noun, escaped, ok := gascity.Match(parts); ok {
		rt.Kind = Kind(pattern)
		if noun != "" {
			rt.Target, err = Name(Kind(noun), escaped)
		}
		return rt, err
	}
	if Kind(parts[0]) == KindMail && len(parts) > 1 {
		return rt, rt.parseTarget(KindMessage, parts[1:])
	}
	if rest, ok := strings.CutPrefix(strings.Join(parts, "/"), string(KindConfigExplain)+"/"); ok {
		rt.Kind = KindConfigExplain
		rt.Target, err = Name(KindAgent, rest)
		return rt, err
	}
	switch noun := Kind(parts[0]); noun {
	case KindAgent, KindPool, KindRig, KindAutomation, KindWatchdog, KindBead:
		return rt, rt.parseTarget(noun, parts[1:])
	}
	return rt, rt.parseCity(strings.Join(parts, "/"))
}

func (rt *Route) parseCity(rest string) error {
	switch k := Kind(rest); k {
	case KindCities, KindCitiesStream, KindOpenAPI:
		if rt.City != "" {
			return UnknownPath()
		}
		rt.Kind = k
	case KindRegister, KindUnregister:
		if rt.City == "" {
			return UnknownPath()
		}
		rt.Kind = k
	case KindStatus, KindSnapshot, KindSnapshotStream, KindConfig, KindAgents, KindQuarantine,
		KindPools, KindRigs, KindAutomations, KindWatchdogs, KindBeads, KindMail, KindSling,
		KindEvents, KindEventStream:
		rt.Kind = k
	default:
		v, ok := verb.At(verb.City, rest)
		if !ok {
			return UnknownPath()
		}
		rt.Kind, rt.Verb = KindCommand, v.Name
	}
	return nil
}

// parseTarget parses {name}[/{what}]. The name can contain "/".
func (rt *Route) parseTarget(noun Kind, parts []string) error {
	if len(parts) == 0 {
		return UnknownPath()
	}
	rt.Kind = noun
	if noun == KindAutomation && len(parts) == 4 && Kind(parts[1]) == KindRun &&
		Kind(parts[3]) == KindWatchStream {
		return rt.parseRun(parts[0], parts[2])
	}
	if n := len(parts) - 2; noun == KindAgent && n > 0 && strings.Join(parts[n:], "/") ==
		string(KindOutputStream) {
		rt.Kind, parts = KindOutputStream, parts[:n]
	} else if last := len(parts) - 1; last > 0 {
		if k, name := kindOfPart(noun, parts[last]); k != "" {
			rt.Kind, rt.Verb, parts = k, name, parts[:last]
		}
	}
	whole := noun.flat() || slices.ContainsFunc(parts, func(p string) bool {
		return strings.Contains(p, "%")
	})
	if len(parts) > 1 && whole {
		// a complete name followed by an unknown verb
		return UnknownPath()
	}
	var err error
	rt.Target, err = Name(noun, strings.Join(parts, "/"))
	return err
}

func (rt *Route) parseRun(of, id string) (err error) {
	rt.Kind = KindRunStream
	if rt.Run, err = Name(KindBead, id); err != nil {
		return err
	}
	rt.Target, err = Name(KindAutomation, of)
	return err
}

// flat reports whether names of this kind consist of a single part.
func (k Kind) flat() bool {
	return k == KindRig || k == KindAutomation || k == KindBead || k == KindMessage
}

// kindOfPart returns the kind of request that the last part of a path selects, or "". For a command, name is the verb.
func kindOfPart(noun Kind, last string) (k Kind, name string) {
	if v, ok := verb.At(verb.Noun(noun), last); ok {
		return KindCommand, v.Name
	}
	k = Kind(last)
	switch noun {
	case KindAgent:
		switch k {
		case KindInspect, KindOutput, KindPeek, KindWatchStream, KindAttach:
			return k, ""
		}
	case KindAutomation:
		if k == KindHistory {
			return k, ""
		}
	case KindMessage:
		if k == KindMarkRead || k == KindArchive || k == KindReply {
			return k, ""
		}
	case KindBead:
		if k == KindCloseBead || k == KindUpdateBead {
			return k, ""
		}
	}
	return "", ""
}
