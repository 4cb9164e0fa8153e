package config

import (
	"cmp"
	"errors"
	"fmt"
	"gcity/config/keys"
	"gcity/internal/redact"
	"gcity/internal/toml"
	"slices"
	"strings"
)

// loading is the state of reading one configuration. Each step embeds it.
type loading struct {
	schema   keys.Schema
	city     *City
	strict   bool
	contents map[string][]byte

	file          string
	lines         []int
	files         []string
	size          int // of all files so far, in bytes
	hashes        map[string]string
	failedSources failedSources

	packs             map[string]*pack // topologies by folder; nil = invalid
	packSchema        keys.Schema
	reportedWatchdogs map[string]bool

	// folders of topologies, by their paths without symbolic links
	firstPaths map[string]string

	scripts      map[string]script
	agentFiles   agentFileCache
	agentsByName map[string]*Agent // agents, pools and members of pools, by qualified name

	problems    []Problem
	problemInfo []problemInfo // for the problem with the same index
	truncated   bool
	// rig of the current agent; "" = the city; nil = no agent
	rigChecked *string
	// indexes of problems, by the topology's folder, or by the error text if the folder is unknown
	topologyProblems map[string]int
}

type problemInfo struct {
	cause      bool // the problem might cause other errors, so it is reported first
	withoutRig string
	// rigs with the problem, "" for the city; nil = the problem is not about an agent
	rigs []string
}

func (d *loading) noteRig(i int) {
	if d.rigChecked != nil && !slices.Contains(d.problemInfo[i].rigs, *d.rigChecked) {
		d.problemInfo[i].rigs = append(d.problemInfo[i].rigs, *d.rigChecked)
	}
}

func (d *loading) duplicateOf(p Problem, same string) int {
	for i, q := range d.problems {
		if q.Place == p.Place && q.Key == p.Key && d.problemInfo[i].withoutRig == same {
			return i
		}
	}
	return -1
}

// withoutRig removes the rig's name from a message, so that the same error in two rigs has the same text.
func (d *loading) withoutRig(msg string) string {
	if d.rigChecked == nil || *d.rigChecked == "" {
		return msg
	}
	rig := *d.rigChecked
	return strings.NewReplacer(" "+rig+"/", " ", `"`+rig+"/", `"`,
		fmt.Sprintf(" of the rig %q", rig), "", fmt.Sprintf(" the rig %q", rig),
		" the city").Replace(msg)
}

func (d *loading) markCauses(start int) {
	for i := start; i < len(d.problemInfo); i++ {
		d.problemInfo[i].cause = true
	}
}

func (a *problemInfo) affected() string {
	const most = 12
	if len(a.rigs) < 2 {
		return ""
	}
	var rigs, out []string
	for _, r := range a.rigs {
		if r == "" {
			out = append(out, "the city")
		} else {
			rigs = append(rigs, r)
		}
	}
	if more := len(rigs) - most; more > 0 {
		rigs = append(rigs[:most:most], fmt.Sprintf("%d more", more))
	}
	if len(rigs) == 1 {
		out = append(out, "the rig "+rigs[0])
	} else {
		out = append(out, "the rigs "+toml.List(rigs))
	}
	return " (for " + strings.Join(out, " and ") + ")"
}

func (d *loading) problem(at int, key, format string, args ...any) {
	if d.full() {
		d.truncated = true
		return
	}
	d.addError(d.origin(at), key, format, args...)
}

// addError escapes the message, which can contain text from a file. An error in a shared topology is reported once.
func (d *loading) addError(o Origin, key, format string, args ...any) {
	p := toml.At(o, key, format, args...)
	same := d.withoutRig(p.Message)
	if i := d.duplicateOf(p, same); i >= 0 {
		d.noteRig(i)
		return
	}
	if d.full() {
		d.truncated = true
		return
	}
	d.problems = append(d.problems, p)
	d.problemInfo = append(d.problemInfo, problemInfo{withoutRig: same})
	d.noteRig(len(d.problems) - 1)
}

func (d *loading) full() bool { return len(d.problems) >= maxProblems }

func (d *loading) origin(at int) Origin {
	if at == toml.Everywhere {
		return Origin{File: d.file}
	}
	line, exact := slices.BinarySearch(d.lines, at)
	if !exact {
		line--
	}
	return Origin{File: d.file, Line: line + 1, Column: at - d.lines[line] + 1}
}

func (d *loading) warn(at int, key, msg string) {
	key = toml.Visible(key)
	if !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool {
		return p.Key == key && p.Message == msg
	}) {
		d.city.Warnings = append(d.city.Warnings,
			Problem{Place: d.origin(at), Key: key, Message: msg})
	}
}

func (d *loading) addWarning(o Origin, key, format string, args ...any) {
	d.city.Warnings = append(d.city.Warnings, toml.At(o, key, format, args...))
}

func (d *loading) warnOnce(p Problem) {
	if !slices.Contains(d.city.Warnings, p) {
		d.city.Warnings = append(d.city.Warnings, p)
	}
}

// agents iterates over the city's agents, and attributes the problems found meanwhile to their rigs.
func (d *loading) agents(yield func(*Agent) bool) {
	defer func() { d.rigChecked = nil }()
	for i := range d.city.Agents {
		a := &d.city.Agents[i]
		d.rigChecked = &a.Rig
		if !yield(a) {
			return
		}
	}
}

func (d *loading) failedIn(table string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return strings.HasPrefix(p.Key, table+".")
	})
}

func (d *loading) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key })
}

func (d *loading) failure() *Error {
	order := make([]int, len(d.problems))
	for i := range order {
		order[i] = i
		d.problems[i].Message += d.problemInfo[i].affected()
	}
	rank := func(i int) int {
		if d.problemInfo[i].cause {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &d.problems[i], &d.problems[j]
		return cmp.Or(cmp.Compare(rank(i), rank(j)),
			cmp.Compare(slices.Index(d.files, a.File), slices.Index(d.files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	sorted := make([]Problem, len(order), len(order)+1)
	for to, from := range order {
		sorted[to] = d.problems[from]
	}
	d.problems = sorted
	if d.truncated {
		d.problems = append(d.problems, Problem{
			Message: fmt.Sprintf("… and more; these are the first %d", maxProblems)})
	}
	return &Error{Path: d.city.Path, Problems: d.problems, Warnings: d.city.Warnings}
}

func (d *loading) addTopologyError(at Origin, key, known string, err error) {
	before := len(d.problems)
	if wrong, is := errors.AsType[toml.Problems](err); is {
		whose := d.rigChecked
		d.rigChecked = nil
		defer func() { d.rigChecked = whose }()
		for _, p := range wrong {
			d.addError(p.Place, p.Key, "%s", p.Message)
		}
		d.markCauses(before)
		return
	}
	if i, there := d.topologyProblems[known]; there {
		d.noteRig(i)
		return
	}
	d.addError(at, key, "%s", redact.Text(err.Error()))
	d.markCauses(before)
	if d.topologyProblems == nil {
		d.topologyProblems = map[string]int{}
	}
	if len(d.problems) > before {
		d.topologyProblems[known] = before
	}
}
