package automation

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/events"
	"gcity/formula"
	"gcity/internal/toml"
)

// MaxSize is what an automation's file may have, in bytes.
const MaxSize = 64 << 10

const maxRetry = 100

// spec is an automation as it is written, before anything is made of it: what an override changes.
type spec struct {
	table    string                // its name in the file
	place    map[string]toml.Place // of what is written; "" is the table
	text     map[string]string
	vars     map[string]string
	over     map[string]bool // what an override has written
	interval time.Duration
	timeout  time.Duration
	checking time.Duration
	backoff  time.Duration
	retry    int
	enabled  bool
	catchUp  bool
	always   bool // while_suspended
}

// specOf reads the table of a file. What is wrong with it so far is among the file's problems; ok is false if there
// is no such table.
func specOf(doc *toml.Doc) (s spec, ok bool) {
	root, name := doc.Root(), "automation"
	switch {
	case root.Has("automation") && root.Has("order"):
		root.Wrong("order", "is another word for [automation], and both are here; keep one")
	case root.Has("order"):
		name = "order"
	case !root.Has("automation"):
		lost(root)
		return s, false
	}
	root.Only("automation", "order")
	t, ok := root.Table(name)
	t.Only(keys()...)
	s = spec{table: name, place: map[string]toml.Place{"": t.Place("")}, text: map[string]string{}}
	for _, key := range t.Keys() {
		s.place[key] = t.Place(key)
	}
	for _, key := range []string{"description", "formula", "exec", "gate", "schedule", "check",
		"on", "pool", "timezone", "overlap",
		"on_failure"} {
		s.text[key] = t.Text(key)
	}
	vars, _ := t.Table("vars")
	for _, name := range vars.Keys() {
		if s.vars == nil {
			s.vars = map[string]string{}
		}
		s.vars[name], s.place["vars."+name] = vars.Text(name), vars.Place(name)
	}
	s.interval = t.Duration("interval", 0)
	s.timeout = t.Duration("timeout", 0)
	s.checking = t.Duration("check_timeout", CheckTimeout)
	s.backoff = t.Duration("retry_backoff", RetryBackoff)
	s.retry = t.Number("retry", 0, maxRetry)
	s.enabled = t.Flag("enabled", true)
	s.catchUp = t.Flag("catch_up", false)
	s.always = t.Flag("while_suspended", false)
	return s, ok
}

// lost says what is wrong with a file that has no automation in it.
func lost(root toml.Table) {
	written := root.Keys()
	if len(written) == 0 {
		root.Wrong("", "there is no [automation]; write one, with a gate and either "+
			"exec or formula")
		return
	}
	if slices.Contains(keys(), written[0]) {
		root.Wrong(written[0], "belongs into [automation]; write that on a line of its "+
			"own above it")
		return
	}
	root.Only("automation", "order")
}

// Parse reads an automation's file; its folder names it. local is the zone of schedules that name none. The error is a
// toml.Problems: everything that is wrong.
func Parse(path string, data []byte, local *time.Location) (Definition, error) {
	_, d, problems := read(toml.Read(path, data, MaxSize), local)
	d.Source, d.Name = path, filepath.Base(filepath.Dir(path))
	if len(problems) > 0 {
		return Definition{}, problems
	}
	return d, nil
}

func read(doc *toml.Doc, local *time.Location) (spec, Definition, toml.Problems) {
	if problems := doc.Problems(); len(problems) > 0 {
		return spec{}, Definition{}, problems
	}
	s, ok := specOf(doc)
	problems := doc.Problems()
	if !ok {
		return s, Definition{}, problems
	}
	d, more := s.settle(local)
	for _, p := range more { // what is of the wrong type is not also told to be empty
		if !slices.ContainsFunc(problems, func(q toml.Problem) bool {
			return q.Place == p.Place && q.Key == p.Key
		}) {
			problems = append(problems, p)
		}
	}
	d.Warnings = toml.Sorted(append(doc.Warnings(), d.Warnings...))
	return s, d, toml.Sorted(problems)
}

// settling makes a definition of what is written.
type settling struct {
	spec
	d               Definition
	local           *time.Location
	problems, warns toml.Problems
}

func (s *settling) wrong(key, format string, args ...any) {
	s.problems = append(s.problems, s.said(key, format, args...))
}

// said is something to say about a key, which is placed where the key stands: in the file, or in the override that has
// written it.
func (s spec) said(key, format string, args ...any) toml.Problem {
	return s.saidAt(key, key, format, args...)
}

// saidAt is said for a key that is not written: it is placed where another one stands.
func (s spec) saidAt(place, key, format string, args ...any) toml.Problem {
	at, ok := s.place[place]
	if !ok {
		at = s.place[""]
	}
	switch {
	case key != "" && s.over[place]:
		key = overridesKey + "." + key
	case key != "":
		key = s.table + "." + key
	}
	return toml.At(at, key, format, args...)
}

func (s spec) has(key string) bool {
	_, ok := s.place[key]
	return ok
}

// settle checks what is written and makes a definition of it, but for its name and place. local is the zone of
// schedules that name none.
func (s spec) settle(local *time.Location) (Definition, toml.Problems) {
	w := &settling{spec: s, local: local}
	w.d = Definition{
		Description: s.text["description"], Pool: s.text["pool"], Vars: s.vars, Zone: local,
		Overlap: Skip, Retry: s.retry, RetryBackoff: s.backoff, WhileSuspended: s.always,
	}
	w.action()
	w.gate()
	w.idle()
	w.failure()
	switch o := Overlap(s.text["overlap"]); {
	case o == Skip || o == Queue:
		w.d.Overlap = o
	case w.has("overlap"):
		w.wrong("overlap", "%q is neither %q nor %q", o, Skip, Queue)
	}
	if !s.enabled {
		w.d.Off = "disabled: enabled = false"
	}
	w.d.Warnings = w.warns
	w.d.Sum = digest(s.text, s.vars, s.interval, s.timeout, s.checking, s.backoff, s.retry,
		s.enabled, s.catchUp, s.always)
	return w.d, w.problems
}

func (s *settling) action() {
	s.d.Formula, s.d.Exec = s.text["formula"], s.text["exec"]
	switch {
	case s.has("formula") && s.has("exec"):
		s.wrong("exec", "both formula and exec are written; an automation does one of them")
	case !s.has("formula") && !s.has("exec"):
		s.wrong("", "there is neither formula nor exec; write what is to be done")
	case s.has("exec") && strings.TrimSpace(s.d.Exec) == "":
		s.wrong("exec", "is empty; write a shell line")
	case s.has("exec") && s.has("pool"):
		s.wrong("pool", "is for a formula; exec is run by the controller, and no pool works on it")
	case s.has("exec") && s.has("vars"):
		s.wrong("vars", "is for a formula; exec has its values in its line")
	case s.has("formula"):
		if wrong := formula.NotAName(s.d.Formula); wrong != "" {
			s.wrong("formula", "%s", wrong)
		}
	}
	if rig, name, ok := strings.Cut(s.d.Pool, "/"); s.has("pool") {
		if !ok {
			rig, name = "rig", rig
		}
		if formula.NotAName(rig) != "" || formula.NotAName(name) != "" {
			s.wrong("pool", "%q is no name of a pool: write name or rig/name", s.d.Pool)
		}
	}
	s.limit()
}

// limit is how long a run may take, and who says so.
func (s *settling) limit() {
	s.d.Timeout, s.d.Limit = ExecTimeout, "the default"
	if s.d.Formula != "" {
		s.d.Timeout = FormulaTimeout
	}
	if s.has("timeout") {
		s.d.Timeout, s.d.Limit = s.timeout, "its timeout"
		if s.over["timeout"] {
			s.d.Limit = "timeout in " + s.place["timeout"].String()
		}
		s.least("timeout", s.timeout, MinTime)
	}
	if s.has("retry_backoff") {
		s.least("retry_backoff", s.backoff, MinTime)
	}
}

// least wants a time span to be at least so long.
func (s *settling) least(key string, d, least time.Duration) {
	switch {
	case d <= 0:
		s.wrong(key, "is nothing; it must be more, like \"30s\"")
	case d < least:
		s.wrong(key, "is %s; it must be at least %q", d, least)
	}
}

func (s *settling) gate() {
	gates := GateNames()
	s.d.Gate = Gate(s.text["gate"])
	switch near := toml.Meant(s.text["gate"], gates); {
	case !s.has("gate"):
		s.wrong("gate", "is missing; it says when: %s", toml.List(gates))
		return
	case !slices.Contains(gates, s.text["gate"]) && near != "":
		s.wrong("gate", "there is no gate %q; did you mean %q?", s.d.Gate, near)
		return
	case !slices.Contains(gates, s.text["gate"]):
		s.wrong("gate", "there is no gate %q; there are %s", s.d.Gate, toml.List(gates))
		return
	}
	kind := s.d.Gate.kind()
	if kind.needs != "" && !s.has(kind.needs) {
		s.problems = append(s.problems,
			s.saidAt("gate", kind.needs, "is missing; %s gate needs it", s.d.Gate.a()))
		return
	}
	if kind.parse != nil {
		kind.parse(s)
	}
}

func (s *settling) cron() {
	var err error
	if s.d.Schedule, err = ParseSchedule(s.text["schedule"]); err != nil {
		s.wrong("schedule", "%v", err)
	}
	if s.d.Zone, err = location(s.text["timezone"], s.local); err != nil {
		s.wrong("timezone", "%v", err)
	}
	s.d.CatchUp = s.catchUp
}

func (s *settling) pattern() {
	begin, _ := strings.CutSuffix(s.d.On, "*")
	err := (&events.Event{Type: begin}).Check()
	switch {
	case s.d.On == "*":
	case strings.Contains(begin, "*"):
		s.wrong("on", "%q: \"*\" may only stand at the end, like \"bead.*\"", s.d.On)
	case err != nil:
		s.wrong("on", "%v", err)
	}
}

// idle warns of keys that the gate does not use. Where an override has changed the gate, the file is not to blame.
func (s *settling) idle() {
	for _, k := range table() {
		if k.gate != "" && s.has(k.name) && k.gate != s.d.Gate &&
			(!s.over["gate"] || s.over[k.name]) {
			s.warns = append(s.warns, s.said(k.name, "is not used: it is for %s gate, and "+
				"this one is %s", k.gate.a(), s.d.Gate))
		}
	}
	if s.has("retry_backoff") && s.retry == 0 {
		s.warns = append(s.warns, s.said("retry_backoff", "is not used: retry is 0"))
	}
}

func (s *settling) failure() {
	if !s.has("on_failure") {
		return
	}
	s.d.OnFailure = s.text["on_failure"]
	name, rig, scoped := strings.Cut(s.d.OnFailure, ":rig:")
	if formula.NotAName(name) != "" || scoped && formula.NotAName(rig) != "" {
		s.wrong("on_failure", "%q is no name of an automation", s.d.OnFailure)
	}
}
