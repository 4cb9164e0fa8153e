package automation

import (
	"strings"
	"time"
)

// Kind is the implementation of one gate: its keys, how they are read, when it opens and how it is described. A new
// gate is a new entry in Gates.
type Kind struct {
	Gate  Gate
	needs string // the required key, "" = none
	keys  []key  // used by no other gate

	parse func(*settling) // nil = nothing to read
	// completes the verdict; true = open
	judge    func(Definition, Facts, time.Time, *Verdict) bool
	describe func(Definition, func(time.Duration) string) string // nil = no description

	passes bool // with overlap Skip, an opening during a run is skipped
	queues bool // with overlap Queue, an opening during a run is queued
}

// Gates returns the gates in the order in which they are listed.
func Gates() []Kind {
	return []Kind{cooldownGate(), cronGate(), conditionGate(), eventGate(), manualGate()}
}

// GateNames returns the names of the gates as used in files.
func GateNames() []string {
	var out []string
	for _, k := range Gates() {
		out = append(out, string(k.Gate))
	}
	return out
}

// kind returns the entry of a gate. The entry of an unknown gate never opens.
func (g Gate) kind() Kind {
	for _, k := range Gates() {
		if k.Gate == g {
			return k
		}
	}
	return Kind{Gate: g, judge: manualGate().judge}
}

func cooldownGate() Kind {
	return Kind{
		Gate: Cooldown, needs: "interval", passes: true, judge: Definition.cooldown,
		keys: []key{{name: "interval", kind: "duration", def: "required", gate: Cooldown,
			doc: "Time from the start of one run to the start of the next; at least 1s."}},
		parse: func(s *settling) {
			s.d.Interval = s.interval
			s.least("interval", s.interval, MinInterval)
		},
		describe: func(d Definition, span func(time.Duration) string) string {
			return span(d.Interval)
		},
	}
}

func cronGate() Kind {
	return Kind{
		Gate: Cron, needs: "schedule", passes: true, queues: true, judge: Definition.cron,
		keys: []key{
			{name: "schedule", kind: "string", def: "required", gate: Cron,
				doc: "Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."},
			{name: "timezone", kind: "string", def: "the machine's", gate: Cron,
				doc: "Time zone of the schedule, like `Europe/Berlin`, or `UTC`."},
			{name: "catch_up", kind: "bool", def: "`false`", gate: Cron,
				doc: "Run once at startup if scheduled times were missed while the " +
					"controller was down."},
		},
		parse: (*settling).cron,
		describe: func(d Definition, _ func(time.Duration) string) string {
			return d.Schedule.String()
		},
	}
}

func conditionGate() Kind {
	return Kind{
		Gate: Condition, needs: "check", judge: Definition.condition,
		keys: []key{
			{name: "check", kind: "string", def: "required", gate: Condition,
				doc: "Shell command; the gate opens when it exits with 0."},
			{name: "check_timeout", kind: "duration", def: "`\"10s\"`", gate: Condition,
				doc: "Timeout of the check; at least 100ms."},
		},
		parse: func(s *settling) {
			s.d.Check, s.d.CheckTimeout = s.text["check"], s.checking
			s.least("check_timeout", s.checking, MinTime)
			if strings.TrimSpace(s.d.Check) == "" {
				s.wrong("check", "is empty; write a shell command that exits with 0 when "+
					"work is due")
			}
		},
		describe: func(d Definition, _ func(time.Duration) string) string { return d.Check },
	}
}

func eventGate() Kind {
	return Kind{
		Gate: Event, needs: "on", judge: Definition.event,
		keys: []key{{name: "on", kind: "string", def: "required", gate: Event,
			doc: "Type of event, or a prefix of types followed by `*`."}},
		parse: func(s *settling) {
			s.d.On = s.text["on"]
			s.pattern()
		},
		describe: func(d Definition, _ func(time.Duration) string) string { return d.On },
	}
}

func manualGate() Kind {
	return Kind{
		Gate: Manual,
		judge: func(d Definition, _ Facts, _ time.Time, v *Verdict) bool {
			v.Reason = string(d.Gate)
			return false
		},
	}
}

// Waits returns what the gate waits for: an interval, a schedule, a check, or a type of event. It is empty for
// Manual.
func (d Definition) Waits() string { return d.waits(time.Duration.String) }

func (d Definition) waits(span func(time.Duration) string) string {
	if describe := d.Gate.kind().describe; describe != nil {
		return describe(d, span)
	}
	return ""
}
