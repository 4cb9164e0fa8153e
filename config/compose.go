package config

import (
	"fmt"
	"gcity/config/files"
	"gcity/internal/toml"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config/keys"
	"gcity/topology"
)

type composer struct{ *loading }

func (d composer) compose() {
	c := d.city
	patcher(d).patchRigs()
	d.remotes()
	w := &c.Workspace
	ownAgents, watchdogs := c.Agents, c.Watchdogs
	c.Agents, c.Watchdogs = nil, nil
	refs := d.references("workspace.", c.Origins, w.Topology, w.Topologies, w.Includes)
	c.packs = d.apply(refs, nil)
	c.Agents, c.Watchdogs = append(c.Agents, ownAgents...), append(c.Watchdogs, watchdogs...)
	for i := range c.Rigs {
		r := &c.Rigs[i]
		refs := d.references("rigs.", r.Origins, r.Topology, r.Topologies, r.Includes)
		r.packs = d.apply(refs, r)
	}
}

// entry is one reference to a topology: a folder, or a name from [topologies].
type entry struct {
	text string
	key  string
	at   Origin
}

func (d composer) references(table string, origins map[string]Origin, one string, more,
	includes []string) []entry {
	var out []entry
	add := func(name string, words ...string) {
		at, written := origins[name]
		if table == "workspace." {
			at, written = origins[table+name]
		}
		for _, w := range words {
			if written {
				out = append(out, entry{w, table + name, at})
			}
		}
	}
	add("topology", one)
	add("topologies", more...)
	add("includes", includes...)
	return out
}

// topologyDir returns the folder of a topology. base is the folder of the file with the reference. Of several paths to
// the same folder, it always returns the first, so that the folder counts as one topology.
func (d composer) topologyDir(base, word string) (dir string, err error) {
	dir, err = d.topologyPath(base, word)
	target, broken := filepath.EvalSymlinks(dir)
	if err != nil || broken != nil {
		return dir, err
	}
	if d.firstPaths == nil {
		d.firstPaths = map[string]string{}
	}
	if within(filepath.Join(d.city.Path, ".gc", "topologies"), dir) {
		target = "fetched " + target // only a fetched topology is limited to its own files
	}
	first, known := d.firstPaths[target]
	if !known {
		d.firstPaths[target] = dir
		return dir, nil
	}
	file := filepath.Join(dir, TopologyFile)
	if first != dir && !slices.Contains(d.city.Sources, file) {
		d.city.Sources = append(d.city.Sources, file) // the link can change
	}
	return first, nil
}

func (d composer) topologyPath(base, word string) (dir string, err error) {
	c := d.city
	if r := first(c.Remotes, func(r *Remote) bool { return r.Name == word }); r != nil {
		dir, err := topology.Fetched(c.Path, c.remoteTopology(r))
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, r.Path), nil
	}
	dir, err = resolve(c.Path, base, word)
	if err != nil && !within(c.Path, base) {
		return filepath.Join(base, word), nil
	}
	if err == nil {
		err = c.enclosed(base, word, dir)
	}
	return dir, err
}

// apply adds the topologies' agents and watchdogs to the rig r (nil = the city). It returns the topologies, included
// ones first.
func (d composer) apply(entries []entry, r *Rig) []*pack {
	d.rigChecked = new(nameOf(r))
	defer func() { d.rigChecked = nil }()
	packs := make([]*pack, len(entries))
	var all, done []*pack // with their includes
	for i, e := range entries {
		if packs[i] = d.referenced(e, r); packs[i] != nil {
			all = append(all, packs[i].withIncludes()...)
		}
	}
	for i, e := range entries {
		p := packs[i]
		if p == nil {
			continue
		}
		if slices.Contains(done, p) {
			d.addWarning(e.at, e.key, "%q is listed twice; remove one of them", e.text)
			continue
		}
		took := 0
		ofCity := cityNames(p.withIncludes())
		fresh := slices.DeleteFunc(p.withIncludes(), func(q *pack) bool {
			return slices.Contains(done, q)
		})
		for _, q := range fresh {
			done = append(done, q)
			took += d.copyAgents(q, q.replacedAgents(all, ofCity, r), ofCity, e, r)
			d.copyWatchdogs(q, all, ofCity, e, r)
		}
		if took == 0 && hasAgents(fresh) {
			d.addWarning(e.at, e.key, "%s", noAgentsFor(e.text, r))
		}
	}
	return done
}

// referenced returns the topology of an entry, or nil if it cannot be read.
func (d composer) referenced(e entry, r *Rig) *pack {
	dir, err := d.topologyDir(d.city.folderOf(e.at), e.text)
	if err != nil {
		d.failedSources.addTopology(r)
		d.addTopologyError(e.at, e.key, err.Error(), err)
		return nil
	}
	if d.failedSources.files && !strings.Contains(e.text, "/") && !files.IsDir(dir) {
		d.failedSources.addTopology(r)
		return nil // an unreadable file might declare a table with this name
	}
	p := d.topology(dir, e.key, []packRef{{dir, e.text, e.at}})
	if p == nil || p.partial {
		d.failedSources.addTopology(r)
	}
	return p
}

func hasAgents(packs []*pack) bool {
	return slices.ContainsFunc(packs, func(p *pack) bool { return len(p.agents) > 0 })
}

func noAgentsFor(topology string, r *Rig) string {
	if r == nil {
		return fmt.Sprintf(
			`the topology %q has no agents for the city: none has scope = "city" or `+
				"is listed in city_agents; use the topology in a rig", topology)
	}
	return fmt.Sprintf("all agents of the topology %q are for the city, none for rigs; use the "+
		"topology in [workspace]", topology)
}

// cityNames returns the names that topologies list as city agents, or nil if no topology distinguishes city agents from
// rig agents.
func cityNames(packs []*pack) map[string]bool {
	var out map[string]bool
	for _, p := range packs {
		_, declared := p.origins["topology.city_agents"]
		for _, a := range p.agents {
			declared = declared || a.Scope != ""
		}
		if declared && out == nil {
			out = map[string]bool{}
		}
		for _, name := range p.Topology.CityAgents {
			out[name] = true
		}
	}
	return out
}

func (a *Agent) belongsTo(ofCity map[string]bool, r *Rig) bool {
	forCity := a.Scope == "city" || a.Scope == "" && ofCity[a.Name]
	return ofCity == nil || forCity == (r == nil)
}

// replacedAgents returns the names of agents that p does not add to the rig r (nil = the city), because a topology that
// includes p adds its own.
func (p *pack) replacedAgents(all []*pack, ofCity map[string]bool, r *Rig) map[string]bool {
	out := map[string]bool{}
	for _, q := range all {
		if q != p && q.contains(p) {
			for i := range q.agents {
				if a := &q.agents[i]; a.belongsTo(ofCity, r) {
					out[a.Name] = true
				}
			}
		}
	}
	return out
}

func (d composer) copyAgents(p *pack, replaced, ofCity map[string]bool, e entry,
	r *Rig) (n int) {
	c := d.city
	for i := range p.agents {
		a := p.agents[i]
		if !a.belongsTo(ofCity, r) {
			continue
		}
		if n++; replaced[a.Name] {
			continue
		}
		if len(c.Agents) > keys.MaxAgents {
			return n
		}
		a.Topology, a.Origins, a.Env = p.dir, maps.Clone(a.Origins), maps.Clone(a.Env)
		if a.Pool != nil {
			a.Pool = new(*a.Pool)
		}
		if r != nil {
			if at, written := a.Origins["dir"]; written {
				d.warnOnce(toml.At(at, "agents.dir", "is ignored in a rig that uses this "+
					"topology, because its agents work in the rig's folder"))
			}
			a.Dir, a.Origins["dir"] = r.Name, e.at
		}
		c.Agents = append(c.Agents, a)
	}
	if !slices.Contains(c.cityTopologies, p) {
		c.cityTopologies = append(c.cityTopologies, p)
	}
	return n
}

// remotes checks the [topologies] tables and adds the lock file to the city's sources. It must be called after all
// files are read.
func (d composer) remotes() {
	c := d.city
	for i := range c.Remotes {
		r := &c.Remotes[i]
		if _, written := r.Origins["source"]; !written &&
			!d.failed("topologies."+r.Name+".source") {
			d.addError(r.Origin, "topologies."+r.Name+".source",
				`is missing; every topology in a repository needs one: source = "…"`)
		}
	}
	if len(c.Remotes) == 0 {
		return
	}
	path := filepath.Join(c.Path, topology.LockFile)
	data, err := files.ReadSource(path)
	c.Sources = append(c.Sources, path)
	if err == nil {
		d.hashes[path] = files.Sum(data)
	}
}

// Remotes returns the city's topologies that come from repositories, whether they are fetched or not.
func (s Source) Remotes() (dir string, _ []topology.Remote, _ error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return dir, nil, fmt.Errorf("cannot read the city in %s: %w", dir, err)
	}
	s.Dir = dir
	data, err := files.ReadSource(filepath.Join(dir, FileName))
	if err != nil {
		return dir, nil, fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	d, root := s.parseCity(data)
	if root != nil {
		decoder{d}.decodeAll(root, s.Files)
		composer{d}.remotes()
	}
	if len(d.problems) > 0 {
		return dir, nil, d.failure()
	}
	var out []topology.Remote
	for i := range d.city.Remotes {
		out = append(out, d.city.remoteTopology(&d.city.Remotes[i]))
	}
	return dir, out, nil
}
