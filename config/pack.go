package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config/files"

	"gcity/config/keys"
	"gcity/internal/toml"
	"gcity/topology"
)

// File names of a topology. Each topology has exactly one of these files.
const (
	TopologyFile = topology.File
	PackFile     = topology.PackFile
)

const packNeeds = "a topology needs [topology] with name and schema"

type pack struct {
	dir  string
	file string

	Topology packTable
	Formulas Formulas // the folder as written, later made absolute; "" = none

	agents    []Agent
	providers []Provider
	watchdogs []Watchdog
	origins   map[string]Origin
	below     []*pack // included topologies, in order
	partial   bool    // an included topology could not be read
}

type packTable struct {
	Name, Version        string
	RequiresGC           string `key:"requires_gc"`
	Schema               int
	Includes, CityAgents []string
}

// withIncludes returns a topology and all topologies that it includes, the included ones first.
func (p *pack) withIncludes() []*pack {
	var out []*pack
	var walk func(p *pack)
	walk = func(p *pack) {
		if slices.Contains(out, p) {
			return
		}
		for _, b := range p.below {
			walk(b)
		}
		out = append(out, p)
	}
	walk(p)
	return out
}

// contains reports whether q is the topology p, or is included in it.
func (p *pack) contains(q *pack) bool { return slices.Contains(p.withIncludes(), q) }

type packRef struct {
	dir, name string
	at        Origin
}

// topology reads the topology in dir and those that it includes. It returns nil after an error. chain contains the
// references that lead to this topology; the last one refers to dir.
func (d composer) topology(dir, key string, chain []packRef) *pack {
	ref := chain[len(chain)-1]
	if i := slices.IndexFunc(chain[:len(chain)-1], func(r packRef) bool {
		return r.dir == dir
	}); i >= 0 {
		var steps []string
		for _, r := range chain[i:] {
			steps = append(steps, fmt.Sprintf("%s (%s)", d.city.displayPath(r.dir), r.at))
		}
		d.addError(ref.at, key, "contains a cycle: %s; remove one of these references",
			strings.Join(steps, " → "))
		return nil
	}
	if p, done := d.packs[dir]; done {
		if i, lost := d.topologyProblems[dir]; lost {
			d.noteRig(i)
		}
		return p
	}
	p := d.openPack(dir, key, ref)
	if p != nil {
		for _, entry := range p.Topology.Includes {
			at := p.origins["topology.includes"]
			below, err := d.topologyDir(p.dir, entry)
			if err != nil {
				d.addTopologyError(at, "topology.includes", err.Error(), err)
				p.partial = true
				continue
			}
			b := d.topology(below, "topology.includes",
				append(slices.Clone(chain), packRef{below, entry, at}))
			if b != nil {
				p.below = append(p.below, b)
			}
			p.partial = p.partial || b == nil || b.partial
		}
		d.checkAgentNames(p)
	}
	if d.packs == nil {
		d.packs = map[string]*pack{}
	}
	d.packs[dir] = p
	return p
}

func (d composer) openPack(dir, key string, ref packRef) *pack {
	path, data, err := d.packFile(dir)
	if err != nil {
		d.addTopologyError(ref.at, key, dir, fmt.Errorf("the topology %q cannot be read: %w",
			ref.name, err))
		return nil
	}
	d.city.topologyDirs = append(d.city.topologyDirs, dir)
	d.hashes[path] = files.Sum(data)
	if d.packSchema.ByPath == nil {
		d.packSchema = keys.Topology(d.schema)
	}
	p := &pack{dir: dir, file: d.city.displayPath(path), origins: map[string]Origin{},
		Formulas: Formulas{Dir: "formulas"}}
	file, lines, schema, own := d.file, d.lines, d.schema, d.city
	defer func() { d.file, d.lines, d.schema, d.city = file, lines, schema, own }()
	d.schema, d.city = d.packSchema, &City{Path: own.Path, Origins: map[string]Origin{}}
	before := len(d.problems)
	root := decoder(d).parseFile(p.file, data, packNeeds)
	if root == nil {
		return nil
	}
	decoder(d).table(root, "", place{p})
	decoder(d).sortByPosition(0)
	own.Warnings = append(own.Warnings, d.city.Warnings...)
	p.agents, p.providers, p.watchdogs = d.city.Agents, d.city.Providers, d.city.Watchdogs
	d.required(root, p)
	if len(d.problems) > before {
		d.markCauses(before)
		return nil
	}
	d.packFormulas(p)
	return p
}

func (d composer) packFile(dir string) (path string, data []byte, err error) {
	path = filepath.Join(dir, TopologyFile)
	data, err = decoder(d).read(path)
	other := filepath.Join(dir, PackFile)
	if errors.Is(err, fs.ErrNotExist) {
		if more, packErr := decoder(d).read(other); packErr == nil ||
			!errors.Is(packErr, fs.ErrNotExist) {
			path, data, err = other, more, packErr
		}
	} else if _, packErr := files.ReadSource(other); packErr == nil {
		err = fmt.Errorf("%s has both %s and %s; keep only one", dir, TopologyFile, PackFile)
	}
	d.city.Sources = append(d.city.Sources, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.city.Sources = append(d.city.Sources, other) // watch both: either can be created later
		err = fmt.Errorf("there is no %s (or %s) in %s", TopologyFile, PackFile, dir)
		if copied, ok := strings.CutPrefix(dir, filepath.Join(d.city.Path, ".gc", "topologies")+
			string(filepath.Separator)); ok {
			name, _, _ := strings.Cut(copied, string(filepath.Separator))
			err = fmt.Errorf("%w; if the repository has one there, run `gcity topology fetch %s`",
				err, name)
		}
	case err == nil && d.size+len(data) > files.MaxSize:
		err = fmt.Errorf("the files are larger than %d MB in total", files.MaxSize>>20)
	}
	return path, data, err
}

func (d composer) required(root *toml.Node, p *pack) {
	t := root.Get("topology")
	if t == nil {
		t = root.Get("pack")
	}
	if t == nil {
		d.addError(Origin{File: p.file}, "topology",
			`is missing; every topology must start with [topology], name = "…" and schema = 1`)
		return
	}
	for name, like := range map[string]string{"name": `"…"`, "schema": "1"} {
		if t.Get(name) == nil {
			d.problem(t.At, "topology."+name, "is missing; every topology needs one: %s = %s", name,
				like)
		}
	}
}

func (d composer) packFormulas(p *pack) {
	at, written := p.origins["formulas.dir"]
	path, err := resolve(p.dir, p.dir, p.Formulas.Dir)
	if strings.HasPrefix(p.Formulas.Dir, "//") {
		path, err = resolve(d.city.Path, p.dir, p.Formulas.Dir)
	}
	if err == nil {
		err = d.city.enclosed(p.dir, p.Formulas.Dir, path)
	}
	if err != nil {
		d.addError(at, "formulas.dir", "%v", err)
		return
	}
	if p.Formulas.Dir = path; !written && !files.IsDir(path) {
		p.Formulas.Dir = ""
	}
}

func (d composer) checkAgentNames(p *pack) {
	var names []string
	seen := map[string]*Agent{}
	all := p.withIncludes()
	for _, q := range all {
		replaced := q.replacedAgents(all, nil, nil)
		for i := range q.agents {
			a := &q.agents[i]
			names = append(names, a.Name)
			if q == p && a.Name != "" {
				if first := seen[a.Name]; first != nil {
					d.addError(a.Origins["name"], "agents.name",
						"another agent in this topology already has the name %q, at "+
							"%s; choose a different name", a.Name, first.Origins["name"])
				}
				seen[a.Name] = a
			}
			if a.Scope == "rig" && !replaced[a.Name] &&
				slices.Contains(p.Topology.CityAgents, a.Name) {
				d.addError(p.origins["topology.city_agents"], "topology.city_agents",
					"lists %q, but its scope is \"rig\", at %s; remove one of the two",
					a.Name, a.Origins["scope"])
			}
		}
	}
	d.checkWatched(p, names)
	for _, name := range p.Topology.CityAgents {
		if slices.Contains(names, name) || p.partial {
			continue
		}
		d.addError(p.origins["topology.city_agents"], "topology.city_agents",
			"this topology has no agent %q%s", name, keys.DidYouMean(name, names))
	}
}
