package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/span"
	"gcity/session"
)

// HeartbeatFile returns the path of the file that `gc heartbeat` writes, relative to the city.
func HeartbeatFile(agent string) string {
	return filepath.Join(".gc", "heartbeats", session.Encode(agent)+".json")
}

type watchdogChecker struct{ *loading }

func (d watchdogChecker) watchdogs() {
	c := d.city
	called, triageAgents := map[string]*Watchdog{}, map[string]*Watchdog{}
	defer func() { d.rigChecked = nil }()
	for i := range c.Watchdogs {
		if d.full() {
			d.truncated = true
			return
		}
		w := &c.Watchdogs[i]
		d.rigChecked = &w.Rig
		if w.Rig != "" && c.Rig(w.Rig) == nil && !d.failedSources.files {
			d.addError(w.Origins["rig"], "watchdogs.rig", "%s", c.noRig(w.Rig, "watchdog"))
			continue
		}
		if first := called[w.Qualified()]; first != nil && w.Name != "" {
			d.addError(w.Origins["name"], "watchdogs.name",
				"%q is already the name of the watchdog at %s; rename one of them",
				w.Qualified(), first.Origin)
		} else {
			called[w.Qualified()] = w
		}
		if w.VeryStale <= w.Fresh && w.Fresh > 0 && w.VeryStale > 0 {
			at, key := w.at("very_stale", "fresh")
			d.addError(at, "watchdogs."+key, "very_stale is %s and fresh is %s; "+
				"very_stale must be greater", span.Text(w.VeryStale), span.Text(w.Fresh))
		}
		d.agentsOf(w)
		w.EscalateTo = d.qualifyAddress(w, w.EscalateTo)
		d.heartbeat(w)
		if w.Triage == "" {
			continue
		}
		if first := triageAgents[w.Triage]; first != nil {
			d.addError(w.Origins["triage"], "watchdogs.triage",
				"%q is already the triage agent of the watchdog at %s; use a separate "+
					"triage agent for each watchdog", w.Triage, first.Origin)
		} else {
			triageAgents[w.Triage] = w
		}
	}
	d.checkDependencies(triageAgents)
	d.checkTriageCycles(triageAgents)
}

func (w *Watchdog) at(keys ...string) (Origin, string) {
	for _, k := range keys {
		if o, written := w.Origins[k]; written {
			return o, k
		}
	}
	return w.Origin, keys[0]
}

func (d watchdogChecker) agentsOf(w *Watchdog) {
	for _, n := range []struct {
		key  string
		name *string
	}{{"watches", &w.Watches}, {"triage", &w.Triage}} {
		if *n.name == "" {
			continue
		}
		*n.name = d.qualify(w, *n.name)
		if msg := d.invalidAgent(w, *n.name); msg != "" {
			d.addError(w.Origins[n.key], "watchdogs."+n.key, "%q %s", *n.name, msg)
		}
	}
	if w.Triage != "" && w.Triage == w.Watches {
		d.addError(w.Origins["triage"], "watchdogs.triage",
			"%q is the agent that the watchdog watches, so a hang would not be "+
				"detected; use a different agent, or remove this key", w.Triage)
	}
}

func (d watchdogChecker) invalidAgent(w *Watchdog, name string) string {
	a := d.agentsByName[name]
	rig, _ := cutRig(name)
	switch {
	case a == nil && d.failedSources.affects("", w.Rig, rig):
		return ""
	case a == nil:
		return "is not an agent" + dependencies(d).suggestion(name, nil)
	case a.Pool != nil && a.Qualified() == name:
		return "is a pool; use an agent that always runs"
	case a.Pool != nil:
		return fmt.Sprintf("is a member of the pool %q, which decides whether it runs; use an "+
			"agent that always runs", a.Qualified())
	}
	return ""
}

func (d watchdogChecker) heartbeat(w *Watchdog) {
	at, written := w.Origins["heartbeat"]
	if !written {
		if w.Watches != "" {
			w.Heartbeat = filepath.Join(d.city.Path, HeartbeatFile(w.Watches))
		}
		return
	}
	path, err := d.heartbeatOf(w, at)
	if err != nil {
		d.addError(at, "watchdogs.heartbeat", "%v", err)
		return
	}
	w.Heartbeat = path
}

// checkDependencies reports dependencies on triage agents, which do not run all the time.
func (d watchdogChecker) checkDependencies(triageAgents map[string]*Watchdog) {
	for a := range d.agents {
		for _, need := range a.Needs {
			if w := triageAgents[need]; w != nil {
				d.addError(a.Origins["depends_on"], "agents.depends_on",
					"%q is the triage agent of the watchdog %q and runs only for its "+
						"checks; remove it from depends_on", need, w.Qualified())
			}
		}
	}
}

// checkTriageCycles reports watchdogs that watch each other's triage agents: nothing else would notice their failure.
func (d watchdogChecker) checkTriageCycles(triageAgents map[string]*Watchdog) {
	watches := func(triage string) *Watchdog {
		if w := triageAgents[triage]; w != nil && triageAgents[w.Watches] != nil {
			return triageAgents[w.Watches]
		}
		return nil
	}
	reported := map[*Watchdog]bool{}
	for i := range d.city.Watchdogs {
		first := &d.city.Watchdogs[i]
		d.rigChecked = &first.Rig
		if first.Triage == "" || triageAgents[first.Triage] != first ||
			first.Triage == first.Watches {
			continue
		}
		path := []*Watchdog{first}
		for w := watches(first.Triage); w != nil && !reported[w] &&
			len(path) <= len(triageAgents); w = watches(w.Triage) {
			if at := slices.Index(path, w); at >= 0 {
				d.addTriageCycle(path[at:], reported)
				break
			}
			path = append(path, w)
		}
	}
}

func (d watchdogChecker) addTriageCycle(path []*Watchdog, reported map[*Watchdog]bool) {
	var steps []string
	for _, w := range path {
		reported[w] = true
		steps = append(steps, fmt.Sprintf("%s (%s)", w.Qualified(), w.Origins["watches"]))
	}
	if len(path) < 2 { // the watchdog watches its own triage agent; already reported
		return
	}
	steps = append(steps, path[0].Qualified())
	d.addError(path[0].Origins["watches"], "watchdogs.watches",
		"contains a cycle, so a triage agent would check itself: %s; remove one of these "+
			"watchdogs", strings.Join(steps, " → "))
}

// Watchdog is one [[watchdogs]] table.
type Watchdog struct {
	Name            string
	Rig             string // "" = the city
	Watches, Triage string // qualified names of agents; Triage "" = the thresholds decide
	Every           time.Duration
	Heartbeat       string // absolute path
	Topology        string // absolute path of the declaring topology; "" = none
	Fresh           time.Duration
	VeryStale       time.Duration // greater than Fresh
	Nudge, Wake     string
	TriageTTL       time.Duration
	OverruleAfter   int    // at least 1
	EscalateTo      string // a mail address
	EscalateCommand string // a shell line; "" = none
	EscalateAfter   int    // at least 1

	Origin  Origin
	Origins map[string]Origin
}
