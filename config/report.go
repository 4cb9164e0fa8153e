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

// loading is the state of one reading of a configuration. Each step of the reading is a type of its own that embeds it:
// decoder, composer, patcher, and the checkers. Only one goroutine uses it.
type loading struct {
	schema  keys.Schema
	city    *City
	strict  bool              // two files that set the same key are an error
	instead map[string][]byte // of Source

	file   string            // the file that is being decoded, as problems name it
	lines  []int             // offset of each of its lines
	files  []string          // all files so far
	size   int               // of all files so far, in bytes
	hashes map[string]string // of the sources that could be read, by path
	unread unread

	packs    map[string]*pack // topologies by folder; nil = unusable, or being read
	packed   keys.Schema      // of topology.toml
	provided map[*pack]bool   // topologies whose providers the city has
	unkept   map[string]bool  // watchdogs of topologies that were reported to watch no agent

	scripts map[string]script // by path
	outfits outfits
	named   map[string]*Agent // agents, pools and members of pools, by qualified name

	problems []Problem
	about    []about // of each problem
	more     bool    // there are more than maxProblems
	// the rig of the agent that is being checked, "" = the city; nil = no agent is
	whose *string
	lost  map[string]int // problems about unreadable topologies, by what identifies the topology
}

// about is what is known of a problem besides what is told.
type about struct {
	cause bool     // it keeps from knowing what else is wrong, and is told first
	same  string   // the message without the name of the rig that it was found for
	rigs  []string // that it was found for, "" = the city; none = nobody was looked at
}

// seen notes that a problem was found for the rig that is looked at.
func (d *loading) seen(i int) {
	if d.whose != nil && !slices.Contains(d.about[i].rigs, *d.whose) {
		d.about[i].rigs = append(d.about[i].rigs, *d.whose)
	}
}

// told finds a problem that is the same mistake, written in the same place; -1 if there is none.
func (d *loading) told(p Problem, same string) int {
	for i, q := range d.problems {
		if q.Origin == p.Origin && q.Key == p.Key && d.about[i].same == same {
			return i
		}
	}
	return -1
}

// sameness is a message without the name of the rig that is looked at, so that the same mistake is known again for
// another one.
func (d *loading) sameness(msg string) string {
	if d.whose == nil || *d.whose == "" {
		return msg
	}
	rig := *d.whose
	return strings.NewReplacer(" "+rig+"/", " ", `"`+rig+"/", `"`,
		fmt.Sprintf(" of the rig %q", rig), "", fmt.Sprintf(" the rig %q", rig),
		" the city").Replace(msg)
}

// causes marks the problems from one on as those that keep from knowing what else is wrong.
func (d *loading) causes(from int) {
	for i := from; i < len(d.about); i++ {
		d.about[i].cause = true
	}
}

// whom names those that a mistake was found for, if it was for several.
func (a *about) whom() string {
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
		d.more = true
		return
	}
	d.say(d.origin(at), key, fmt.Sprintf(format, args...))
}

// say adds a problem. What came from the file is made fit to be shown: a key may be any text. The same mistake of a
// topology that several have is told once.
func (d *loading) say(o Origin, key, msg string) {
	p := Problem{Origin: o, Key: visible(key), Message: visible(msg)}
	same := d.sameness(p.Message)
	if i := d.told(p, same); i >= 0 {
		d.seen(i)
		return
	}
	if d.full() {
		d.more = true
		return
	}
	d.problems, d.about = append(d.problems, p), append(d.about, about{same: same})
	d.seen(len(d.problems) - 1)
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

// warn says something once per key, at the first place.
func (d *loading) warn(at int, key, msg string) {
	key = visible(key)
	if !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool {
		return p.Key == key && p.Message == msg
	}) {
		d.city.Warnings = append(d.city.Warnings,
			Problem{Origin: d.origin(at), Key: key, Message: msg})
	}
}

func (d *loading) warnOnce(p Problem) {
	if !slices.Contains(d.city.Warnings, p) {
		d.city.Warnings = append(d.city.Warnings, p)
	}
}

// failedIn says whether something is wrong with a key of a table.
func (d *loading) failedIn(table string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool {
		return strings.HasPrefix(p.Key, table+".")
	})
}

func (d *loading) failed(key string) bool {
	return slices.ContainsFunc(d.problems, func(p Problem) bool { return p.Key == key })
}

// failure is all problems as an error, in the order of the files, behind what keeps from knowing what else is wrong.
func (d *loading) failure() *Error {
	order := make([]int, len(d.problems))
	for i := range order {
		order[i] = i
		d.problems[i].Message += d.about[i].whom()
	}
	rank := func(i int) int {
		if d.about[i].cause {
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
	if d.more {
		d.problems = append(d.problems, Problem{
			Message: fmt.Sprintf("… and more; these are the first %d", maxProblems)})
	}
	return &Error{Path: d.city.Path, Problems: d.problems, Warnings: d.city.Warnings}
}

// unplaced says why a topology cannot be read, once, by what it is known by. What is wrong with the lock is said of
// the lock.
func (d *loading) unplaced(at Origin, key, known string, err error) {
	before := len(d.problems)
	if wrong, is := errors.AsType[toml.Problems](err); is {
		whose := d.whose
		d.whose = nil
		defer func() { d.whose = whose }()
		for _, p := range wrong {
			d.say(Origin{p.File, p.Line, p.Column}, p.Key, p.Message)
		}
		d.causes(before)
		return
	}
	if i, there := d.lost[known]; there {
		d.seen(i)
		return
	}
	d.say(at, key, redact.Text(err.Error()))
	d.causes(before)
	if d.lost == nil {
		d.lost = map[string]int{}
	}
	if len(d.problems) > before {
		d.lost[known] = before
	}
}
