package automation

import (
	"strings"
	"time"

	"gcity/internal/span"
)

// Kind implements a kind of gate. To add a kind, add an entry to Gates.
type Kind struct {
	Gate  Gate
	needs string // "" = no key is required
	keys  []key

	parse func(*converter) // nil = no keys to read
	// judge completes the verdict and reports whether the gate is open
	judge func(Definition, Facts, time.Time, *Verdict) bool
	// describe returns the text that When appends to the gate's name; nil = no text
	describe func(Definition, func(time.Duration) string) string

	passes bool // with overlap Skip, a run that becomes due during another run is skipped
	queues bool // with overlap Queue, a run that becomes due during another run is queued
}

// Gates returns all kinds of gates, in the order of the documentation.
func Gates() []Kind {
	return []Kind{cooldownGate(), cronGate(), conditionGate(), eventGate(), manualGate()}
}

// GateNames returns the names of all gates, as written in files.
func GateNames() []string {
	var out []string
	for _, k := range Gates() {
		out = append(out, string(k.Gate))
	}
	return out
}

// kind returns the gate's implementation. An unknown gate never opens.
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
			doc: "Time from the start of one run to the start of the next. The minimum is 1s."}},
		parse: func(s *converter) {
			s.d.Interval = s.interval
			s.checkMinimum("interval", s.interval, MinInterval)
		},
		describe: func(d Definition, format func(time.Duration) string) string {
			return format(d.Interval)
		},
	}
}

func cronGate() Kind {
	return Kind{
		Gate: Cron, needs: "schedule", passes: true, queues: true, judge: Definition.cron,
		keys: []key{
			{name: "schedule", kind: "string", def: "required", gate: Cron,
				doc: "A cron line of five fields, or `@hourly`, `@daily`, `@weekly`, " +
					"`@monthly`, `@yearly`."},
			{name: "timezone", kind: "string", def: "the machine's", gate: Cron,
				doc: "Time zone of the schedule, for example `Europe/Berlin` or `UTC`."},
			{name: "catch_up", kind: "bool", def: "`false`", gate: Cron,
				doc: "`true`: if scheduled times were missed while no controller was " +
					"running, the automation runs once when a controller starts, however long " +
					"ago the missed times were."},
		},
		parse: (*converter).cron,
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
				doc: "Shell command; the gate opens when it exits with code 0."},
			{name: "check_timeout", kind: "duration", def: "`\"10s\"`", gate: Condition,
				doc: "Timeout for the check. The minimum is 100ms."},
		},
		parse: func(s *converter) {
			s.d.Check, s.d.CheckTimeout = s.text["check"], s.checking
			s.checkMinimum("check_timeout", s.checking, MinTime)
			if strings.TrimSpace(s.d.Check) == "" {
				s.addProblem("check", "is empty; set a shell command that exits with code 0 "+
					"when work is due")
			}
		},
		describe: func(d Definition, _ func(time.Duration) string) string { return d.Check },
	}
}

func eventGate() Kind {
	return Kind{
		Gate: Event, needs: "on", judge: Definition.event,
		keys: []key{{name: "on", kind: "string", def: "required", gate: Event,
			doc: "Event type, or a prefix of event types followed by `*`."}},
		parse: func(s *converter) {
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

// GateSetting returns the gate's interval, schedule, check or event type. For Manual, it returns "".
func (d Definition) GateSetting() string { return d.gateSetting(span.Text) }

func (d Definition) gateSetting(format func(time.Duration) string) string {
	if describe := d.Gate.kind().describe; describe != nil {
		return describe(d, format)
	}
	return ""
}
