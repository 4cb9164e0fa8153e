package config

import (
	"fmt"
	"gcity/internal/toml"
	"slices"
	"strings"
)

// about is what is known of a problem besides what is told.
type about struct {
	cause bool     // it keeps from knowing what else is wrong, and is told first
	same  string   // the message without the name of the rig that it was found for
	rigs  []string // that it was found for, "" = the city; none = nobody was looked at
}

// seen notes that a problem was found for the rig that is looked at.
func (d *decoder) seen(i int) {
	if d.whose != nil && !slices.Contains(d.about[i].rigs, *d.whose) {
		d.about[i].rigs = append(d.about[i].rigs, *d.whose)
	}
}

// told finds a problem that is the same mistake, written in the same place; -1 if there is none.
func (d *decoder) told(p Problem, same string) int {
	for i, q := range d.problems {
		if q.Origin == p.Origin && q.Key == p.Key && d.about[i].same == same {
			return i
		}
	}
	return -1
}

// sameness is a message without the name of the rig that is looked at, so that the same mistake is known again for
// another one.
func (d *decoder) sameness(msg string) string {
	if d.whose == nil || *d.whose == "" {
		return msg
	}
	rig := *d.whose
	return strings.NewReplacer(" "+rig+"/", " ", `"`+rig+"/", `"`,
		fmt.Sprintf(" of the rig %q", rig), "", fmt.Sprintf(" the rig %q", rig),
		" the city").Replace(msg)
}

// causes marks the problems from one on as those that keep from knowing what else is wrong.
func (d *decoder) causes(from int) {
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

func (d *decoder) problem(at int, key, format string, args ...any) {
	if d.full() {
		d.more = true
		return
	}
	d.say(d.origin(at), key, fmt.Sprintf(format, args...))
}

// say adds a problem. What came from the file is made fit to be shown: a key may be any text. The same mistake of a
// topology that several have is told once.
func (d *decoder) say(o Origin, key, msg string) {
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

func (d *decoder) full() bool { return len(d.problems) >= maxProblems }
