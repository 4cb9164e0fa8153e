package config

import (
	"fmt"
	"gcity/config/keys"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Qualified returns the full name of a watchdog: "rig/name", or "name" if it belongs to no rig.
func (w *Watchdog) Qualified() string {
	if w.Rig == "" || w.Name == "" {
		return w.Name
	}
	return w.Rig + "/" + w.Name
}

func (d composer) checkWatched(p *pack, names []string) {
	for i := range p.watchdogs {
		w := &p.watchdogs[i]
		if w.Watches == "" || p.partial || slices.Contains(names, w.Watches) {
			continue
		}
		d.addError(w.Origins["watches"], "watchdogs.watches",
			"this topology has no agent %q%s", w.Watches, keys.DidYouMean(w.Watches, names))
		if d.reportedWatchdogs == nil {
			d.reportedWatchdogs = map[string]bool{}
		}
		d.reportedWatchdogs[w.Name] = true
	}
}

func (d composer) copyWatchdogs(p *pack, all []*pack, ofCity map[string]bool, e entry, r *Rig) {
	for i := range p.watchdogs {
		w := p.watchdogs[i]
		if !slices.ContainsFunc(all, func(q *pack) bool {
			return (p.contains(q) || q.contains(p)) &&
				!q.replacedAgents(all, ofCity, r)[w.Watches] &&
				slices.ContainsFunc(q.agents, func(a Agent) bool {
					return a.Name == w.Watches && a.belongsTo(ofCity, r)
				})
		}) {
			continue
		}
		w.Topology, w.Origins = p.dir, maps.Clone(w.Origins)
		if r != nil {
			w.Rig, w.Origins["rig"] = r.Name, e.at
		}
		d.city.Watchdogs = append(d.city.Watchdogs, w)
	}
}

func (d patcher) patchWatchdogs() {
	const key = "patches.watchdogs"
	c, done := d.city, map[*Watchdog]Origin{}
	for i := range c.patches.watchdogs {
		p := &c.patches.watchdogs[i]
		if p.Name == "" || d.full() {
			continue // already reported, or the maximum number of errors is reached
		}
		w := first(c.Watchdogs, func(w *Watchdog) bool {
			return w.Name == p.Name && w.Rig == p.Rig
		})
		if w == nil && (d.failedSources.affects("", p.Rig) || d.reportedWatchdogs[p.Name]) {
			// an unreadable file might declare the watchdog, or an error in its declaration is already reported
			continue
		}
		if w == nil {
			d.addError(p.Origins["name"], key+".name",
				"watchdog %q not found%s", p.Qualified(), c.suggestWatchdog(p))
			continue
		}
		if first := done[w]; first.File == p.Origin.File && first.File != "" {
			d.addError(p.Origin, key, "the watchdog %q is already patched at %s; "+
				"merge the two patches", w.Qualified(), first)
			continue
		}
		done[w] = p.Origin
		if !d.copyKeys("watchdogs", place{w}, place{p}, "name", "rig") {
			d.addWarning(p.Origin, key, changesNothing)
		}
	}
}

func (d watchdogChecker) qualify(w *Watchdog, name string) string {
	if q := w.Rig + "/" + name; w.Rig != "" && d.agentsByName[q] != nil {
		return q
	}
	return name
}

func (d watchdogChecker) qualifyAddress(w *Watchdog, to string) string {
	if name, pool := strings.CutPrefix(to, "pool:"); pool {
		return "pool:" + d.qualify(w, name)
	}
	return d.qualify(w, to)
}

// heartbeatOf returns the path of a heartbeat file. A relative path in a topology is relative to the folder of the rig
// or the city, because cities share topologies.
func (d watchdogChecker) heartbeatOf(w *Watchdog, at Origin) (string, error) {
	c := d.city
	if w.Topology == "" || at.File != w.Origin.File || strings.HasPrefix(w.Heartbeat, "//") ||
		filepath.IsAbs(w.Heartbeat) {
		return resolve(c.Path, c.folderOf(at), w.Heartbeat)
	}
	base, whose := c.Path, "the city"
	if r := c.Rig(w.Rig); r != nil {
		base, whose = r.Path, fmt.Sprintf("the rig %q", r.Name)
	}
	if !filepath.IsLocal(w.Heartbeat) {
		return "", fmt.Errorf("%q is outside the folder of %s; use an absolute path if this is "+
			"intended", w.Heartbeat, whose)
	}
	return filepath.Join(base, w.Heartbeat), nil
}
