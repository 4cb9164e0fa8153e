package automation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/events"
	"gcity/formula"
	"gcity/internal/toml"
)

// MaxSize is the maximum size of an automation file in bytes.
const MaxSize = 64 << 10

const maxRetry = 100

// spec contains the values from an automation's file. Overrides change it before it becomes a Definition.
type spec struct {
	table    string
	place    map[string]toml.Place // positions by key; "" = position of the table
	text     map[string]string
	vars     map[string]string
	over     map[string]bool // keys that an override has set
	interval time.Duration
	timeout  time.Duration
	checking time.Duration
	backoff  time.Duration
	retry    int
	enabled  bool
	catchUp  bool
	always   bool // value of while_suspended
}

func specOf(doc *toml.Doc) (s spec, ok bool) {
	root, name := doc.Root(), "automation"
	switch {
	case root.Has("automation") && root.Has("order"):
		root.Wrong("order", "is an alias of [automation], and both are present; keep one")
	case root.Has("order"):
		name = "order"
	case !root.Has("automation"):
		noTable(root)
		return s, false
	}
	root.RejectUnknown("automation", "order")
	t, ok := root.Table(name)
	t.RejectUnknown(keys()...)
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

func noTable(root toml.Table) {
	written := root.Keys()
	if len(written) == 0 {
		root.Wrong("", "no [automation] table; add one, with a gate and either exec or formula")
		return
	}
	if slices.Contains(keys(), written[0]) {
		root.Wrong(written[0], "belongs to [automation]; add that table above this line")
		return
	}
	root.RejectUnknown("automation", "order")
}

// Parse parses an automation's file. The automation has the name of the file's folder. local is the time zone of
// schedules that set none. The error is a toml.Problems with all problems.
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
	d, more := s.convert(local)
	for _, p := range more { // a key with a wrong type is present, so do not report it as missing
		if !slices.ContainsFunc(problems, func(q toml.Problem) bool {
			return q.Place == p.Place && q.Key == p.Key
		}) {
			problems = append(problems, p)
		}
	}
	d.Warnings = toml.Sorted(append(doc.Warnings(), d.Warnings...))
	return s, d, toml.Sorted(problems)
}

type converter struct {
	spec
	d               Definition
	local           *time.Location
	problems, warns toml.Problems
}

func (s *converter) addProblem(key, format string, args ...any) {
	s.problems = append(s.problems, s.problem(key, format, args...))
}

func (s spec) problem(key, format string, args ...any) toml.Problem {
	return s.problemAt(key, key, format, args...)
}

func (s spec) problemAt(place, key, format string, args ...any) toml.Problem {
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

func (s spec) convert(local *time.Location) (Definition, toml.Problems) {
	w := &converter{spec: s, local: local}
	w.d = Definition{
		Description: s.text["description"], Pool: s.text["pool"], Vars: s.vars, Zone: local,
		Overlap: Skip, Retry: s.retry, RetryBackoff: s.backoff, WhileSuspended: s.always,
	}
	w.action()
	w.gate()
	w.warnUnusedKeys()
	w.failure()
	switch o := Overlap(s.text["overlap"]); {
	case o == Skip || o == Queue:
		w.d.Overlap = o
	case w.has("overlap"):
		w.addProblem("overlap", "%q is invalid: use %q or %q", o, Skip, Queue)
	}
	if !s.enabled {
		w.d.Off = "disabled in its file (enabled = false)"
	}
	w.d.Warnings = w.warns
	w.d.Hash = digest(s.text, s.vars, s.interval, s.timeout, s.checking, s.backoff, s.retry,
		s.enabled, s.catchUp, s.always)
	return w.d, w.problems
}

func (s *converter) action() {
	s.d.Formula, s.d.Exec = s.text["formula"], s.text["exec"]
	switch {
	case s.has("formula") && s.has("exec"):
		s.addProblem("exec", "both formula and exec are set; remove one of them")
	case !s.has("formula") && !s.has("exec"):
		s.addProblem("", "neither formula nor exec is set; set one")
	case s.has("exec") && strings.TrimSpace(s.d.Exec) == "":
		s.addProblem("exec", "is empty; set a shell command")
	case s.has("exec") && s.has("pool"):
		s.addProblem("pool",
			"applies only to a formula; exec runs in the controller, without a pool")
	case s.has("exec") && s.has("vars"):
		s.addProblem("vars", "applies only to a formula; put the values in the exec command")
	case s.has("formula"):
		if wrong := formula.NameProblem(s.d.Formula); wrong != "" {
			s.addProblem("formula", "%s", wrong)
		}
	}
	if rig, name, ok := strings.Cut(s.d.Pool, "/"); s.has("pool") {
		if !ok {
			rig, name = "rig", rig
		}
		if formula.NameProblem(rig) != "" || formula.NameProblem(name) != "" {
			s.addProblem("pool", "%q is not a valid pool name; use NAME or RIG/NAME", s.d.Pool)
		}
	}
	s.limit()
}

func (s *converter) limit() {
	s.d.Timeout, s.d.Limit = ExecTimeout, "the default"
	if s.d.Formula != "" {
		s.d.Timeout = FormulaTimeout
	}
	if s.has("timeout") {
		s.d.Timeout, s.d.Limit = s.timeout, "its timeout"
		if s.over["timeout"] {
			s.d.Limit = "timeout in " + s.place["timeout"].String()
		}
		s.checkMinimum("timeout", s.timeout, MinTime)
	}
	if s.has("retry_backoff") {
		s.checkMinimum("retry_backoff", s.backoff, MinTime)
	}
}

func (s *converter) checkMinimum(key string, d, least time.Duration) {
	switch {
	case d <= 0:
		s.addProblem(key, "is zero; set a longer duration, for example \"30s\"")
	case d < least:
		s.addProblem(key, "is %s; it must be at least %q", d, least)
	}
}

func (s *converter) gate() {
	gates := GateNames()
	s.d.Gate = Gate(s.text["gate"])
	switch near := toml.Meant(s.text["gate"], gates); {
	case !s.has("gate"):
		s.addProblem("gate", "is missing; the gates, which decide when an automation runs, are %s",
			toml.List(gates))
		return
	case !slices.Contains(gates, s.text["gate"]) && near != "":
		s.addProblem("gate", "unknown gate %q; did you mean %q?", s.d.Gate, near)
		return
	case !slices.Contains(gates, s.text["gate"]):
		s.addProblem("gate", "unknown gate %q; the gates are %s", s.d.Gate, toml.List(gates))
		return
	}
	kind := s.d.Gate.kind()
	if kind.needs != "" && !s.has(kind.needs) {
		s.problems = append(s.problems,
			s.problemAt("gate", kind.needs, "is missing; %s gate requires it",
				s.d.Gate.withArticle()))
		return
	}
	if kind.parse != nil {
		kind.parse(s)
	}
}

func (s *converter) cron() {
	var err error
	if s.d.Schedule, err = ParseSchedule(s.text["schedule"]); err != nil {
		s.addProblem("schedule", "%v", err)
	}
	if s.d.Zone, err = location(s.text["timezone"], s.local); err != nil {
		s.addProblem("timezone", "%v", err)
	}
	s.d.CatchUp = s.catchUp
}

func (s *converter) pattern() {
	begin, _ := strings.CutSuffix(s.d.On, "*")
	err := (&events.Event{Type: begin}).Check()
	switch {
	case s.d.On == "*":
	case strings.Contains(begin, "*"):
		s.addProblem("on", "%q: \"*\" is only allowed at the end, like \"bead.*\"", s.d.On)
	case err != nil:
		s.addProblem("on", "%v", err)
	default:
		s.warnUnknownType(begin)
	}
}

// warnUnknownType warns if no event can ever match, because only gcity may write an event of that type.
func (s *converter) warnUnknownType(begin string) {
	if events.Reserved(begin) == nil || slices.ContainsFunc(events.Types(), s.d.matches) {
		return
	}
	hint := "`gcity help events` lists the types"
	if near := toml.Meant(begin, events.Types()); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	s.warns = append(s.warns, s.problem("on", "gcity writes no event %q; %s", s.d.On, hint))
}

func (s *converter) warnUnusedKeys() {
	for _, k := range table() {
		if k.gate != "" && s.has(k.name) && k.gate != s.d.Gate &&
			(!s.over["gate"] || s.over[k.name]) {
			s.warns = append(s.warns, s.problem(k.name, "is ignored: it applies to %s gate, but "+
				"this one is %s", k.gate.withArticle(), s.d.Gate))
		}
	}
	if s.has("retry_backoff") && s.retry == 0 {
		s.warns = append(s.warns, s.problem("retry_backoff", "is ignored, because retry is 0"))
	}
}

func (s *converter) failure() {
	if !s.has("on_failure") {
		return
	}
	s.d.OnFailure = s.text["on_failure"]
	name, rig, scoped := strings.Cut(s.d.OnFailure, ":rig:")
	if formula.NameProblem(name) != "" || scoped && formula.NameProblem(rig) != "" {
		s.addProblem("on_failure", "%q is not a valid automation name", s.d.OnFailure)
	}
}
