package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/config"
	"gcity/internal/toml"
)

const (
	maxFiles = 50_000
	maxBytes = 1 << 30
)

const rigSuffix = "-rigs"

const formulasSuffix = "-formulas"

// hiddenFiles is the folder for files below .gc in the original city. gcity keeps its own files there.
const hiddenFiles = "gc-files"

type layerCopy struct{ from, to string }

func (c *conversion) write() (err error) {
	parent := filepath.Dir(c.out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fmt.Errorf("cannot write to %s: %w", c.out, err)
	}
	if c.stage, err = os.MkdirTemp(parent, ".gcity-import-"); err != nil {
		return fmt.Errorf("cannot write to %s: %w", c.out, err)
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(c.stage) // the original error is more important
		}
	}()
	if err := os.Chmod(c.stage, 0o755); err != nil {
		return err
	}
	if err := c.copyAll(); err != nil {
		return err
	}
	for _, p := range c.allPacks() {
		if err := c.transform(p); err != nil {
			return fmt.Errorf("cannot convert %s: %w", c.displayPath(p.dir), err)
		}
	}
	for _, p := range c.formulaPacks {
		var b strings.Builder
		p.topologyTable(&b, formulasSuffix)
		fmt.Fprintf(&b, "\n[formulas]\ndir = %s\n",
			toml.Quote("//"+filepath.Join(p.rel, "formulas")))
		if err := writeFile(filepath.Join(c.stage, p.rel+formulasSuffix, config.TopologyFile),
			b.String()); err != nil {
			return err
		}
	}
	for to, from := range c.hidden {
		to = filepath.Join(c.stage, to)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := new(tree).copy(c, from, to); err != nil {
			return err
		}
	}
	for _, o := range c.overlays {
		if err := c.overlayLayer(o); err != nil {
			return err
		}
	}
	c.noteUnconverted()
	if err := c.check(); err != nil {
		return err
	}
	if err := os.Remove(c.out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot write to %s: %w", c.out, err)
	}
	if err := os.Rename(c.stage, c.out); err != nil {
		return fmt.Errorf("cannot write to %s: %w", c.out, err)
	}
	return nil
}

func (c *conversion) check() error {
	city, err := config.Load(c.stage)
	if invalid, ok := errors.AsType[*config.Error](err); ok {
		lines := make([]string, len(invalid.Problems))
		for i, p := range invalid.Problems {
			lines[i] = "  " + p.String() + lineAt(c.stage, p.Place)
		}
		return fmt.Errorf("the city cannot be converted in its current form; these parts of the "+
			"result would be invalid (lines and columns are those of the result, which was not "+
			"written):\n%s", strings.ReplaceAll(strings.Join(lines, "\n"), c.stage, c.out))
	}
	if err != nil {
		return err
	}
	c.Report.Agents = nil
	for i := range city.Agents {
		c.Report.Agents = append(c.Report.Agents, city.Agents[i].Qualified())
	}
	for _, p := range city.Warnings {
		if p.File == config.FileName || strings.Contains(p.File, "topology.toml") {
			p.File = filepath.Join(c.out, p.File)
			add := c.note
			if strings.Contains(p.Message, "cannot be started") {
				add = c.broken
			}
			add(p.Place.String(), "%s", strings.ReplaceAll(
				strings.TrimPrefix(p.Key+": "+p.Message, ": "), c.stage, c.out))
		}
	}
	if err := (cityWriter{c}).noteBroken(city); err != nil {
		return err
	}
	slices.Sort(c.Report.Automations)
	slices.Sort(c.Report.Formulas)
	c.Report.Automations = slices.Compact(c.Report.Automations)
	c.Report.Formulas = slices.Compact(c.Report.Formulas)
	c.Report.sort()
	return nil
}

// lineAt returns the text of the line at a place, on a line of its own; "" = the place is not a line that can be read.
func lineAt(dir string, at toml.Place) string {
	data, err := os.ReadFile(filepath.Join(dir, at.File))
	lines := strings.Split(string(data), "\n")
	if err != nil || at.Line < 1 || at.Line > len(lines) {
		return ""
	}
	return "\n      " + strings.TrimSpace(lines[at.Line-1])
}

func fileOf(place string) string {
	file, _, _ := strings.Cut(place, ":")
	return file
}

func (c *conversion) copyAll() error {
	skip := []string{filepath.Join(c.dir, ".gc")}
	for _, r := range c.rigs {
		if path := (cityWriter{c}).rigPath(r); filepath.IsAbs(path) && path != c.dir {
			skip = append(skip, path)
		}
	}
	t := &tree{skip: skip}
	if err := t.copy(c, c.dir, c.stage); err != nil {
		return err
	}
	for _, p := range c.order {
		if to := filepath.Join(c.stage, p.rel); !exists(to) {
			if err := t.copy(c, p.dir, to); err != nil {
				return err
			}
		}
	}
	return nil
}

type tree struct {
	skip  []string
	files int
	size  int64
}

func (t *tree) copy(c *conversion, from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("cannot read %s: %w", c.displayPath(path), err)
		}
		rel, _ := filepath.Rel(from, path)
		target := filepath.Join(to, rel)
		switch name := e.Name(); {
		case path != from && e.IsDir() && (name == ".git" || name == ".beads" || name == ".gc"),
			path != from && slices.Contains(t.skip, path):
			if e.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case e.IsDir():
			if err := removeEarlier(target); err != nil {
				return err
			}
			return os.MkdirAll(target, 0o755)
		case e.Type()&fs.ModeSymlink != 0:
			return t.link(c, from, path, target)
		case !e.Type().IsRegular():
			c.broken(c.displayPath(path), "is not a regular file and was not copied")
			return nil
		}
		return t.file(path, target)
	})
}

// link copies a symbolic link. A link out of the copied folder becomes a copy of its target.
func (t *tree) link(c *conversion, from, path, target string) error {
	to, err := os.Readlink(path)
	if err == nil && !filepath.IsAbs(to) && within(from, filepath.Join(filepath.Dir(path), to)) {
		if err := removeEarlier(target); err != nil {
			return err
		}
		return os.Symlink(to, target)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		c.broken(c.displayPath(path), "is a link to something outside the copied folder that is "+
			"not a regular file, so it was not copied")
		return nil
	}
	return t.file(path, target)
}

func (t *tree) file(path, target string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if t.files, t.size = t.files+1, t.size+info.Size(); t.files > maxFiles || t.size > maxBytes {
		return fmt.Errorf("the city has more than %d files or %d MB; move files that do not "+
			"belong to it elsewhere", maxFiles, maxBytes>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := removeEarlier(target); err != nil {
		return err
	}
	return os.WriteFile(target, data, info.Mode().Perm()&0o755|0o200)
}

// removeEarlier removes a file or link of an earlier overlay layer. Without this, a write would follow the link.
func removeEarlier(target string) error {
	was, err := os.Lstat(target)
	if errors.Is(err, fs.ErrNotExist) || err == nil && was.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(target)
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

func (c *conversion) transform(p *pack) error {
	at := filepath.Join(c.stage, p.rel)
	remove, _ := filepath.Glob(filepath.Join(p.dir, "agents", "*", "agent.toml"))
	for _, name := range []string{config.PackFile, "packs.lock", "pack.lock"} {
		remove = append(remove, filepath.Join(p.dir, name))
	}
	if p == c.root {
		for _, s := range c.files {
			if s.path != "" && within(c.dir, s.path) {
				remove = append(remove, s.path)
			}
		}
	}
	for _, file := range slices.AppendSeq(remove, maps.Values(automationFiles(p))) {
		rel, _ := filepath.Rel(p.dir, file)
		if err := os.Remove(filepath.Join(at, rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, step := range []func(*pack) error{c.prompts, c.shared, c.orders, c.formulas} {
		if err := step(p); err != nil {
			return err
		}
	}
	if p == c.root {
		return writeFile(filepath.Join(at, config.FileName), cityWriter{c}.text())
	}
	c.Report.Topologies = append(c.Report.Topologies, p.rel)
	return c.topologies(p)
}

func (c *conversion) prompts(p *pack) error {
	for _, a := range p.agents {
		if !a.plain() {
			continue
		}
		rel, _ := filepath.Rel(p.dir, a.prompt)
		path := filepath.Join(c.stage, p.rel, rel)
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if escaped := bytes.ReplaceAll(data, []byte("{{"), []byte("{{`{{`}}")); len(escaped) !=
			len(data) &&
			!bytes.Contains(data, []byte("{{`{{`}}")) {
			if err := os.WriteFile(path, escaped, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *conversion) shared(p *pack) error {
	folders := []string{"template-fragments", filepath.Join("prompts", "shared")}
	for _, folder := range folders {
		for _, file := range fragmentFiles(filepath.Join(p.dir, folder)) {
			data, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name := filepath.Base(file)
			for _, to := range []string{p.rel, ""} {
				if err := c.fragment(filepath.Join(to, "prompts", "shared", name), data,
					p != c.root); err != nil {
					return err
				}
			}
		}
	}
	for _, a := range p.agents {
		if a.folder == "" {
			continue
		}
		for _, file := range fragmentFiles(filepath.Join(a.folder, "template-fragments")) {
			rel, _ := filepath.Rel(p.dir, a.folder)
			data, err := os.ReadFile(file)
			if err == nil {
				err = c.fragment(filepath.Join(p.rel, rel, "shared", filepath.Base(file)), data,
					false)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func fragmentFiles(dir string) []string {
	var out []string
	for _, pattern := range []string{"*.template.md", "*.md.tmpl"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		out = append(out, found...)
	}
	return out
}

// fragment writes a fragment file. It replaces an existing file unless keep is true.
func (c *conversion) fragment(rel string, data []byte, keep bool) error {
	path := filepath.Join(c.stage, rel)
	if was, err := os.ReadFile(path); err == nil && (keep || bytes.Equal(was, data)) {
		if !bytes.Equal(was, data) {
			c.note(rel, "several packs have a fragment file with this name; the city's file, or "+
				"else the first one, is used for all")
		}
		return nil
	}
	return writeFile(path, string(data))
}

func (c *conversion) topologies(p *pack) error {
	e := emitter{conversion: c, base: p.dir, rel: p.rel, pack: p}
	var b strings.Builder
	p.topologyTable(&b, "")
	programs{c}.providers(&b, p)
	for _, a := range p.agents {
		out, scope := e.agent(a), a.scope()
		if scope == "" && p.scoped() {
			scope = "city"
			if p.inRigs(c) && !p.inCity {
				scope = "rig"
			}
		}
		out.main.text("scope", scope)
		out.write(&b, "agents")
	}
	if err := writeFile(filepath.Join(c.stage, p.rel, config.TopologyFile), b.String()); err !=
		nil || !p.twoLevels(c) {
		return err
	}
	e.rel = p.rel + rigSuffix
	b.Reset()
	p.topologyTable(&b, rigSuffix)
	for _, a := range p.agents {
		if a.scope() == "" {
			out := e.agent(a)
			out.main.text("scope", "rig")
			out.write(&b, "agents")
		}
	}
	text := strings.ReplaceAll(b.String(), "{{.ConfigDir}}",
		"{{.CityRoot}}/"+filepath.ToSlash(p.rel))
	return writeFile(filepath.Join(c.stage, e.rel, config.TopologyFile), text)
}

func (p *pack) twoLevels(c *conversion) bool {
	open := slices.ContainsFunc(p.agents, func(a *agent) bool { return a.scope() == "" })
	return p.inCity && p.inRigs(c) && p.scoped() && open
}

func (p *pack) inRigs(c *conversion) bool {
	return slices.ContainsFunc(c.rigs, func(r *rig) bool {
		return slices.Contains(c.flat(r.imports), p)
	})
}

func (p *pack) scoped() bool {
	return slices.ContainsFunc(p.agents, func(a *agent) bool { return a.scope() != "" })
}

func (p *pack) topologyTable(b *strings.Builder, suffix string) {
	t := &table{}
	t.text("name", p.name+suffix)
	t.number("schema", 1)
	t.text("version", p.manifest.root.get("pack").get("version").text())
	t.write(b, "[topology]")
}

func (c *conversion) overlayLayer(o layerCopy) error {
	t := &tree{}
	if filepath.Base(filepath.Dir(o.from)) != "per-provider" {
		t.skip = []string{filepath.Join(o.from, "per-provider")}
	}
	return t.copy(c, o.from, filepath.Join(c.stage, o.to))
}

func (c *conversion) noteUnconverted() {
	if exists(filepath.Join(c.dir, ".beads")) {
		c.note(".beads", "the work was not converted; use `bd export` and `gcity bead "+
			"import` to move it")
	}
	if exists(filepath.Join(c.dir, ".gc", "events.jsonl")) {
		c.note(".gc", "the original city's sessions, logs and mail were not converted")
	}
}
