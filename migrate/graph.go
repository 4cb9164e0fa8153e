package migrate

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config"
	"gcity/config/packmodel"
	"gcity/internal/toml"
)

type pack struct {
	dir      string // absolute
	name     string
	manifest *source // nil = the file does not exist
	imports  []imported
	agents   []*agent
	inCity   bool // imported by the city itself, not only by a rig
	rel      string
	binding  string
}

type imported struct {
	binding string
	pack    *pack
	closed  bool // set by transitive = false, which omits the imports of the imported pack
}

type rig struct {
	value
	name    string
	imports []imported
}

func (c *conversion) read() error {
	city, err := c.open(filepath.Join(c.dir, config.FileName))
	if err != nil {
		return err
	}
	manifest := filepath.Join(c.dir, config.PackFile)
	if _, err := os.Stat(manifest); city == nil && err != nil {
		return fmt.Errorf("%s has neither a %s nor a %s; specify a city's folder", c.dir,
			config.FileName, config.PackFile)
	}
	if city == nil {
		city = &source{name: config.FileName}
		city.root = value{&toml.Node{Shape: toml.ShapeTable}, city}
		c.broken(config.PackFile, "the folder has no city.toml, so the city has no rigs")
	} else if len(packmodel.Marks(c.dir, city.root.Node)) == 0 &&
		len(packmodel.OfInvalid(c.dir, city.root.Node)) == 0 {
		return notPackModel(c.dir)
	}
	c.files = []*source{city}
	for _, file := range city.root.get("include").texts() {
		part, err := c.open(c.inCity(file))
		if err == nil && part == nil {
			err = fmt.Errorf("%s includes %s, which does not exist", config.FileName, file)
		}
		if err != nil {
			return err
		}
		c.files = append(c.files, part)
	}
	if c.site, err = c.open(filepath.Join(c.dir, ".gc", "site.toml")); err != nil {
		return err
	}
	if c.root, err = c.pack(c.dir, "", nil); err != nil {
		return err
	}
	if err := c.cityImports(); err != nil {
		return err
	}
	if err := c.readRigs(); err != nil {
		return err
	}
	return c.applyShared()
}

func notPackModel(dir string) error {
	says := "gcity can read it without conversion; `gcity --city %s config check` checks it"
	if _, err := config.Load(dir); err != nil {
		says = "correct the errors that `gcity --city %s config check` prints"
	}
	return fmt.Errorf("the city in %s is %w: "+says, dir, ErrNotPackModel, dir)
}

func (c *conversion) inCity(path string) string {
	path = strings.TrimPrefix(path, "//")
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.dir, path)
}

// pack reads each pack only once, and reports import cycles.
func (c *conversion) pack(dir, binding string, way []string) (*pack, error) {
	if i := slices.Index(way, dir); i >= 0 {
		names := make([]string, 0, len(way)-i+1)
		for _, step := range append(way[i:], dir) {
			names = append(names, c.displayPath(step))
		}
		return nil, fmt.Errorf("the imports form a cycle: %s; remove one of them",
			strings.Join(names, " → "))
	}
	if p := c.packs[dir]; p != nil {
		return p, nil
	}
	manifest, err := c.open(filepath.Join(dir, config.PackFile))
	if err != nil {
		return nil, err
	}
	if manifest == nil && dir != c.dir {
		return nil, fmt.Errorf("%s does not exist in %s", config.PackFile, c.displayPath(dir))
	}
	p := &pack{dir: dir, manifest: manifest, name: filepath.Base(dir), binding: binding}
	if manifest != nil {
		way = append(slices.Clone(way), dir)
		own := manifest.root.get("pack")
		p.name = cmp.Or(own.TextOf("name"), p.name)
		if p.imports, err = c.importsOf(manifest.root, dir, way); err != nil {
			return nil, err
		}
		more, err := c.included(own.get("includes"), dir, way)
		if err != nil {
			return nil, err
		}
		p.imports = append(p.imports, more...)
	}
	c.packs[dir] = p
	if dir != c.dir {
		c.order = append(c.order, p)
	}
	return p, c.readAgents(p)
}

// importsOf reads the imports of a table. Paths are relative to base.
func (c *conversion) importsOf(in value, base string, way []string) ([]imported, error) {
	var out []imported
	imports := in.get("imports")
	if imports.Node == nil {
		return nil, nil
	}
	if imports.Shape == toml.ShapeArray && in != in.src.root {
		return c.bound(imports), nil
	}
	if imports.Shape != toml.ShapeTable {
		return nil, fmt.Errorf("%s: imports is not a table; use [imports.NAME]", imports.place())
	}
	for _, v := range imports.kids() {
		from := v.TextOf("source")
		if v.Shape != toml.ShapeTable || from == "" {
			return nil, fmt.Errorf("%s: the import %q has no source", v.place(), v.Key)
		}
		p, err := c.find(v, base, v.Key, from, way)
		if err != nil {
			return nil, err
		}
		if p != nil {
			out = append(out, imported{v.Key, p, v.TextOf("transitive") == "false"})
		}
	}
	return out, nil
}

// bound returns the imports of the city that a list in a rig names.
func (c *conversion) bound(list value) (out []imported) {
	for _, name := range list.texts() {
		i := slices.IndexFunc(c.root.imports, func(i imported) bool { return i.binding == name })
		if i < 0 {
			c.broken(list.place(), "the city has no import %q; it was omitted", name)
			continue
		}
		out = append(out, c.root.imports[i])
	}
	return out
}

// find returns the pack that an import names. A relative path is relative to base. If the pack exists only in a
// repository, find adds a note and returns nil.
func (c *conversion) find(at value, base, binding, from string, way []string) (*pack, error) {
	dir := from
	switch {
	case remote(from):
		if dir = cached(c.dir, binding); dir == "" && ownPack(binding, from) {
			c.note(at.place(), "the import %s is a part of Gas City itself and was "+
				"not converted; gcity does not need it", binding)
			return nil, nil
		}
		if dir == "" {
			c.broken(at.place(), "the import %s is in a repository (%s) and was not "+
				"converted; copy the pack into the city, use its folder as source, and "+
				"convert again", binding, from)
			return nil, nil
		}
	case strings.HasPrefix(from, "//"):
		dir = c.inCity(from)
	case !filepath.IsAbs(from):
		dir = filepath.Join(base, from)
	}
	real, err := config.Canonical(dir)
	if err != nil {
		c.broken(at.place(), "the import %s names %s, which does not exist, so it was "+
			"not converted; correct the folder and convert again", binding, dir)
		return nil, nil
	}
	p, err := c.pack(real, binding, way)
	if err != nil && !strings.Contains(err.Error(), ": ") {
		err = fmt.Errorf("%s: the import %q cannot be used: %w", at.place(), binding,
			err)
	}
	return p, err
}

// ownPack reports whether an import contains parts of Gas City itself, such as its work store.
func ownPack(binding, from string) bool {
	return (binding == "core" || binding == "bd") && strings.Contains(from, "/gascity")
}

func remote(from string) bool {
	return strings.Contains(from, "://") || strings.HasPrefix(from, "git@") ||
		strings.HasPrefix(from, "github.com/")
}

func cached(city, binding string) string {
	for _, folder := range []string{".gc/cache/packs", ".gc/packs", ".gc/cache/imports"} {
		dir := filepath.Join(city, folder, binding)
		if _, err := os.Stat(filepath.Join(dir, config.PackFile)); err == nil {
			return dir
		}
	}
	return ""
}

func (c *conversion) included(list value, base string, way []string) ([]imported, error) {
	var out []imported
	for _, from := range list.oneOrMore() {
		if c.namedPack(from) {
			c.broken(list.place(), "the pack %s is in a repository and was not converted; "+
				"copy it into the city, import it by its folder, and convert again", from)
			continue
		}
		binding := filepath.Base(from)
		p, err := c.find(list, base, binding, from, way)
		if err != nil {
			return nil, err
		}
		if p != nil {
			out = append(out, imported{binding, p, false})
		}
	}
	return out, nil
}

func (c *conversion) namedPack(name string) bool {
	return slices.ContainsFunc(c.files, func(s *source) bool {
		return s.root.get("packs").get(name).Node != nil
	})
}

func (c *conversion) cityImports() error {
	for _, s := range c.files {
		more, err := c.importsOf(s.root, c.dir, []string{c.dir})
		if err != nil {
			return err
		}
		c.root.imports = append(c.root.imports, more...)
		w := s.root.get("workspace")
		for _, key := range []string{"includes", "topologies", "packs", "topology", "pack"} {
			if more, err = c.included(w.get(key), c.dir, []string{c.dir}); err != nil {
				return err
			}
			c.root.imports = append(c.root.imports, more...)
		}
	}
	for _, p := range c.flat(c.root.imports) {
		p.inCity = true
	}
	return nil
}

func (c *conversion) readRigs() error {
	for _, s := range c.files {
		for _, v := range s.root.tables("rigs") {
			r := &rig{name: v.TextOf("name"), value: v}
			if r.name == "" {
				return fmt.Errorf("%s: the rig has no name", v.place())
			}
			if slices.ContainsFunc(c.rigs, func(o *rig) bool { return o.name == r.name }) {
				return fmt.Errorf("%s: another rig has the name %q", v.place(), r.name)
			}
			var err error
			if r.imports, err = c.importsOf(v, c.dir, []string{c.dir}); err != nil {
				return err
			}
			for _, key := range []string{"includes", "topologies"} {
				more, err := c.included(v.get(key), c.dir, []string{c.dir})
				if err != nil {
					return err
				}
				r.imports = append(r.imports, more...)
			}
			c.rigs = append(c.rigs, r)
		}
	}
	return c.readDefaults()
}

func (c *conversion) readDefaults() error {
	for _, s := range append(slices.Clone(c.files), c.root.manifest) {
		if s == nil {
			continue
		}
		v := s.root.get("defaults").get("rig")
		if v.get("imports").Node == nil {
			continue
		}
		list, err := c.importsOf(v, c.dir, []string{c.dir})
		if err != nil {
			return err
		}
		c.place(c.flat(list))
		var words []string
		for _, p := range c.flat(list) {
			words = append(words, p.rel)
		}
		if len(words) == 0 {
			continue // importsOf has noted the imports that it could not convert
		}
		c.note(v.get("imports").place(), "gcity does not add packs to new rigs; add "+
			"topologies = %s to each new rig", quoteAll(words))
	}
	return nil
}

// flat returns all imported packs without duplicates. A pack comes before the packs that import it.
func (c *conversion) flat(imports []imported) []*pack {
	var out []*pack
	var walk func(list []imported)
	walk = func(list []imported) {
		for _, i := range list {
			if !i.closed && i.pack != nil {
				walk(i.pack.imports)
			}
			if i.pack != c.root && !slices.Contains(out, i.pack) {
				out = append(out, i.pack)
			}
		}
	}
	walk(imports)
	return out
}

// place chooses the folders of packs in the converted city. A pack inside the city keeps its folder, and any other pack
// goes to topologies/NAME.
func (c *conversion) place(list []*pack) {
	for _, p := range list {
		if p.rel != "" {
			continue
		}
		if within(c.dir, p.dir) && !within(filepath.Join(c.dir, ".gc"), p.dir) {
			p.rel, _ = filepath.Rel(c.dir, p.dir)
			continue
		}
		for _, q := range c.order {
			if rel, err := filepath.Rel(q.dir, p.dir); err == nil && q != p && q.rel != "" &&
				within(q.dir, p.dir) {
				p.rel = filepath.Join(q.rel, rel)
			}
		}
		for n := 1; p.rel == ""; n++ {
			rel := filepath.Join("topologies", p.name)
			if n > 1 {
				rel = fmt.Sprintf("%s-%d", rel, n)
			}
			if !slices.ContainsFunc(c.order, func(q *pack) bool {
				return q.rel == rel
			}) && !exists(filepath.Join(c.dir, rel)) {
				p.rel = rel
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
