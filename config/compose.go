package config

import (
	"fmt"
	"gcity/config/files"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config/keys"
	"gcity/formula"
	"gcity/topology"
)

// composer puts the agents, providers, watchdogs and formulas of topologies into the city and its rigs.
type composer struct{ *loading }

// compose puts together what several files and topologies say.
func (d composer) compose() {
	c := d.city
	patcher(d).patchRigs()
	d.remotes()
	w := &c.Workspace
	lead, dogs := c.Agents, c.Watchdogs
	c.Agents, c.Watchdogs = nil, nil
	c.recipes = d.stamp(d.words("workspace.", c.Origins, w.Topology, w.Topologies, w.Includes), nil)
	c.Agents, c.Watchdogs = append(c.Agents, lead...), append(c.Watchdogs, dogs...)
	for i := range c.Rigs {
		r := &c.Rigs[i]
		r.recipes = d.stamp(d.words("rigs.", r.Origins, r.Topology, r.Topologies, r.Includes), r)
	}
}

// entry is one word for a topology.
type entry struct {
	text string
	key  string
	at   Origin
}

// words lists the words of the three keys of one table.
func (d composer) words(table string, origins map[string]Origin, one string, more,
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

// place finds the folder that a word for a topology means. base is the folder of the file that has the word.
func (d composer) place(base, word string) (dir string, err error) {
	c := d.city
	for i := range c.Remotes {
		if r := &c.Remotes[i]; r.Name == word {
			dir, err := topology.Fetched(c.Path, c.want(r))
			if err != nil {
				return "", err
			}
			return filepath.Join(dir, r.Path), nil
		}
	}
	dir, err = resolve(c.Path, base, word)
	// it is nobody's city: what lies beside it belongs to it
	if err != nil && !within(c.Path, base) {
		return filepath.Join(base, word), nil
	}
	if err == nil {
		err = c.enclosed(base, word, dir)
	}
	return dir, err
}

// stamp gives the agents of topologies to the city, or to a rig, and returns the layers of their formulas.
func (d composer) stamp(entries []entry, r *Rig) []formula.Layer {
	var layers []formula.Layer
	var done []*pack
	d.whose = new(nameOf(r))
	defer func() { d.whose = nil }()
	for _, e := range entries {
		dir, err := d.place(d.city.folderOf(e.at), e.text)
		if err != nil {
			d.unread.of(r)
			d.unplaced(e.at, e.key, err.Error(), err)
			continue
		}
		if d.unread.files && !strings.Contains(e.text, "/") && !files.IsDir(dir) {
			d.unread.of(r)
			continue // it may be the name of a table in a file that could not be read
		}
		p := d.topology(dir, e.key, []reading{{dir, e.text, e.at}})
		if p == nil || p.partial {
			d.unread.of(r)
		}
		if p == nil {
			continue
		}
		if slices.Contains(done, p) {
			d.city.Warnings = append(d.city.Warnings,
				Problem{Origin: e.at, Key: e.key,
					Message: visible(fmt.Sprintf("%q is among these topologies already; "+
						"take it out", e.text))})
			continue
		}
		took := 0
		who := cityNames(p.tree())
		all := slices.DeleteFunc(p.tree(), func(q *pack) bool { return slices.Contains(done, q) })
		for _, q := range all {
			done = append(done, q)
			took += d.take(q, who, e, r)
			d.takeWatchdogs(q, who, e, r)
			d.provide(q)
			if q.Formulas.Dir != "" {
				layers = append(layers, layerOf(q, r))
			}
		}
		if took == 0 && hasAgents(all) {
			d.city.Warnings = append(d.city.Warnings,
				Problem{Origin: e.at, Key: e.key, Message: visible(nobodyFor(e.text, r))})
		}
	}
	return layers
}

func hasAgents(packs []*pack) bool {
	return slices.ContainsFunc(packs, func(p *pack) bool { return len(p.agents) > 0 })
}

func nobodyFor(topology string, r *Rig) string {
	if r == nil {
		return fmt.Sprintf("no agent of the topology %q is the city's: none has scope = \"city\" "+
			"or is in city_agents; it belongs to a rig", topology)
	}
	return fmt.Sprintf("all agents of the topology %q are the city's, and none is a rig's; it "+
		"belongs into [workspace]", topology)
}

func layerOf(p *pack, r *Rig) formula.Layer {
	l := formula.Layer{Dir: p.Formulas.Dir, Title: "topology " + p.Topology.Name, Root: p.dir}
	if r != nil {
		l.Rig = r.Name
	}
	return l
}

// cityNames are the agents that some topologies together call the city's; nil if they say nothing about whose an
// agent is.
func cityNames(packs []*pack) map[string]bool {
	var out map[string]bool
	for _, p := range packs {
		_, said := p.origins["topology.city_agents"]
		for _, a := range p.agents {
			said = said || a.Scope != ""
		}
		if said && out == nil {
			out = map[string]bool{}
		}
		for _, name := range p.Topology.CityAgents {
			out[name] = true
		}
	}
	return out
}

// isFor reports whether an agent of a topology is the city's, or a rig's, where who are the names of the city's.
func (a *Agent) isFor(who map[string]bool, r *Rig) bool {
	citys := a.Scope == "city" || a.Scope == "" && who[a.Name]
	return who == nil || citys == (r == nil)
}

// take copies the agents of one topology that belong to the city, or to a rig, and says how many.
func (d composer) take(p *pack, who map[string]bool, e entry, r *Rig) (n int) {
	c := d.city
	for i := range p.agents {
		a := p.agents[i]
		if !a.isFor(who, r) {
			continue
		}
		if n++; len(c.Agents) > keys.MaxAgents {
			return n // sizes says it
		}
		a.Topology, a.Origins, a.Env = p.dir, maps.Clone(a.Origins), maps.Clone(a.Env)
		if a.Pool != nil {
			of := *a.Pool
			a.Pool = &of
		}
		if r != nil {
			if at, written := a.Origins["dir"]; written {
				d.warnOnce(Problem{Origin: at, Key: "agents.dir",
					Message: "is not used where a rig has this topology: its agents work in the " +
						"rig's folder"})
			}
			a.Dir, a.Origins["dir"] = r.Name, e.at
		}
		c.Agents = append(c.Agents, a)
	}
	if !slices.Contains(c.stamped, p) {
		c.stamped = append(c.stamped, p)
	}
	return n
}

// provide adds the providers of a topology. What the city, or a topology before, says of one goes over it, key by key.
func (d composer) provide(p *pack) {
	c := d.city
	if d.provided[p] {
		return
	}
	if d.provided == nil {
		d.provided = map[*pack]bool{}
	}
	d.provided[p] = true
	for _, own := range p.providers {
		own.Origins, own.Env = maps.Clone(own.Origins), maps.Clone(own.Env)
		at := slices.IndexFunc(c.Providers, func(q Provider) bool { return q.Name == own.Name })
		if at < 0 {
			c.Providers = append(c.Providers, own)
			continue
		}
		own.over(&c.Providers[at], func(string) bool { return true })
		own.Origin = c.Providers[at].Origin
		c.Providers[at] = own
	}
}

// remotes checks the [topologies.X] tables when all files are read.
func (d composer) remotes() {
	c := d.city
	for i := range c.Remotes {
		r := &c.Remotes[i]
		if _, written := r.Origins["source"]; !written &&
			!d.failed("topologies."+r.Name+".source") {
			d.say(r.Origin, "topologies."+r.Name+".source", "is missing; every topology of this "+
				"kind needs one: source = \"…\"")
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

// Remotes reads which topologies a city keeps in repositories, whether or not they are fetched.
func (s Source) Remotes() (dir string, _ []topology.Want, _ error) {
	dir, err := Canonical(s.Dir)
	if err != nil {
		return dir, nil, fmt.Errorf("cannot read the city in %s: %w", dir, err)
	}
	s.Dir = dir
	data, err := files.ReadSource(filepath.Join(dir, FileName))
	if err != nil {
		return dir, nil, fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	d, root := s.begin(data)
	if root != nil {
		decoder{d}.gather(root, s.Files)
		composer{d}.remotes()
	}
	if len(d.problems) > 0 {
		return dir, nil, d.failure()
	}
	var out []topology.Want
	for i := range d.city.Remotes {
		out = append(out, d.city.want(&d.city.Remotes[i]))
	}
	return dir, out, nil
}
