package migrate

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/config"
	"gcity/config/files"
	"gcity/formula"
	"gcity/internal/toml"
)

func automationFiles(p *pack) map[string]string {
	out := map[string]string{}
	for _, folder := range []string{"formulas/orders", "formulas/automations", "orders"} {
		dir := filepath.Join(p.dir, folder)
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			name := e.Name()
			switch {
			case e.IsDir():
				for _, file := range []string{"order.toml", "automation.toml"} {
					if path := filepath.Join(dir, name, file); exists(path) {
						out[name] = path
					}
				}
			case strings.HasSuffix(name, ".toml"):
				name = strings.TrimSuffix(strings.TrimSuffix(name, ".toml"), ".order")
				out[name] = filepath.Join(dir, e.Name())
			}
		}
	}
	return out
}

func formulaFiles(p *pack) map[string]string {
	out := map[string]string{}
	entries, _ := os.ReadDir(filepath.Join(p.dir, "formulas"))
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".toml")
		if !ok || e.IsDir() {
			continue
		}
		plain := strings.TrimSuffix(name, ".formula")
		if _, twice := out[plain]; twice && plain != name {
			continue // keep the file without .formula in its name, because it has the newer format
		}
		out[plain] = filepath.Join(p.dir, "formulas", e.Name())
	}
	return out
}

func (c *conversion) hasFormulas(p *pack) bool {
	return len(automationFiles(p)) > 0 || len(formulaFiles(p)) > 0
}

func (c *conversion) orders(p *pack) error {
	files := automationFiles(p)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		s, err := c.open(files[name])
		if err != nil {
			return err
		}
		to := filepath.Join(c.stage, p.rel, "formulas", "automations", name, "automation.toml")
		text := c.automation(p, name, s)
		if text == "" {
			continue
		}
		if _, err := automation.Parse(to, []byte(text), time.UTC); err != nil {
			c.broken(s.name, "the order %s was omitted: %s", name, reason(err))
			continue
		}
		if err := writeFile(to, text); err != nil {
			return err
		}
		c.Report.Automations = append(c.Report.Automations, name)
	}
	return nil
}

func reason(err error) string {
	if all, ok := err.(toml.Problems); ok && len(all) > 0 {
		return strings.TrimPrefix(all[0].Key+": "+all[0].Message, ": ")
	}
	return err.Error()
}

func (c *conversion) automation(p *pack, name string, s *source) string {
	v := s.root.get("order")
	if v.Node == nil {
		v = s.root.get("automation")
	}
	if !v.isTable() {
		c.broken(s.name, "has no [order], so it was omitted")
		return ""
	}
	if !validName().MatchString(name) {
		c.broken(s.name, "%q is not a valid name for an automation; it was omitted", name)
		return ""
	}
	t, vars := &table{}, &table{}
	for _, kid := range v.kids() {
		switch kid.Key {
		case "trigger", "gate":
			t.set("gate", render(kid.Node))
		case "exec", "check":
			t.text(kid.Key, orderLine(p, s, kid.Text))
		case "pool":
			c.orderPool(p, kid, t)
		case "vars":
			for _, v := range kid.Kids {
				vars.set(v.Key, render(v))
			}
		case "description", "formula", "interval", "schedule", "on", "timeout", "enabled",
			"timezone", "catch_up":
			t.set(kid.Key, render(kid.Node))
		default:
			c.unknownKey(kid, "the order "+name, "orders", "")
		}
	}
	var b strings.Builder
	t.write(&b, "[automation]")
	vars.write(&b, "[automation.vars]")
	return b.String()
}

func (c *conversion) orderPool(p *pack, v value, t *table) {
	pool, ok := c.renamed(p, v.Text)
	if !ok {
		pool, ok = c.renamed(c.root, v.Text)
	}
	if !ok {
		c.broken(v.place(), "unknown agent %q; the pool of the order was omitted", v.Text)
		return
	}
	t.text("pool", pool)
}

// noteBroken reports the automations of the converted city that cannot run, for example because a pack's pool is only
// in the city, and its order also in a rig.
func (c cityWriter) noteBroken(city *config.City) error {
	runtime, err := os.MkdirTemp("", "gcity-import-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(runtime) }() // a temporary folder that remains does no harm
	builtIn, err := formula.System(runtime)
	if err != nil {
		return err
	}
	var scanner automation.Scanner
	layers := append([]formula.Layer{builtIn}, city.Layers()...)
	found := scanner.Scan(layers, city.AutomationOptions(), time.Now())
	for _, b := range found.Broken {
		rel, _ := filepath.Rel(c.stage, b.Source)
		c.broken(filepath.Join(c.out, rel), "the automation %s cannot run: %s", b.Scoped(),
			reason(b.Problems))
	}
	return nil
}

// orderLine converts an order's shell line. Variables for folders become paths relative to the automation's folder.
func orderLine(p *pack, s *source, line string) string {
	from, _ := filepath.Rel(p.dir, filepath.Dir(s.path))
	up := "$AUTOMATION_DIR/../../.."
	for _, name := range []string{"PACK_DIR", "GC_PACK_DIR"} {
		line = strings.NewReplacer("${"+name+"}", up, "$"+name, up).Replace(line)
	}
	own := up + "/" + filepath.ToSlash(from)
	return strings.NewReplacer("${ORDER_DIR}", own, "$ORDER_DIR", own).Replace(line)
}

func (c *conversion) formulas(p *pack) error {
	files := formulaFiles(p)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := c.formula(p, name, files[name])
		if err != nil {
			return err
		}
		dir := filepath.Join(c.stage, p.rel, "formulas")
		if err := os.RemoveAll(filepath.Join(dir, filepath.Base(files[name]))); err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if err := writeFile(filepath.Join(dir, name+formula.Suffix), text); err != nil {
			return err
		}
		c.Report.Formulas = append(c.Report.Formulas, name)
	}
	return nil
}

// formula returns a formula in gcity's format, or "" if it has no equivalent.
func (c *conversion) formula(p *pack, name, path string) (string, error) {
	s, err := c.open(path)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	text := string(data)
	if s.extended() {
		text = c.merged(p, s, name)
	}
	f, err := formula.Parse(name+formula.Suffix, []byte(text))
	if err != nil {
		c.broken(s.name, "the formula %s was omitted: %s", name, reason(err))
		return "", nil
	}
	for _, kid := range s.root.kids() {
		if !slices.Contains([]string{"formula", "description", "version", "vars", "steps",
			"extends", descriptionFile}, kid.Key) {
			c.note(kid.place(), "%s in the formula %s has no effect", kid.Key, f.Name)
		}
	}
	for _, step := range s.root.tables("steps") {
		for _, kid := range step.kids() {
			if !slices.Contains([]string{"id", "title", "description", "needs", "depends_on",
				descriptionFile}, kid.Key) {
				add, effect := c.note, "has no effect"
				if changed, ok := stepChanges[kid.Key]; ok {
					add, effect = c.broken, changed
				}
				add(kid.place(), "%s in a step of the formula %s %s", kid.Key, f.Name, effect)
			}
		}
	}
	return text, nil
}

// stepChanges says what becomes of a step without a key that controls it.
var stepChanges = map[string]string{
	"assignee":  "has no effect, so any agent can do and close the step",
	"children":  "has no effect, so those steps are missing; make them steps of the formula",
	"condition": "has no effect, so the step is always done",
	"check":     "has no effect, so the step is not checked",
	"gate":      "has no effect, so the step does not wait",
	"retry":     "has no effect, so the step is done only once",
}

func (c *conversion) merged(p *pack, s *source, name string) string {
	vars, steps := map[string]*toml.Node{}, []*toml.Node{}
	var walk func(s *source, depth int)
	walk = func(s *source, depth int) {
		extends := s.root.get("extends")
		for _, base := range extends.oneOrMore() {
			from := c.formulaNamed(p, base)
			if from == nil || depth > 16 {
				c.broken(extends.place(), "the formula %q, which %s extends, is unknown or nested "+
					"too deeply", base, name)
				continue
			}
			walk(from, depth+1)
		}
		for _, kid := range s.root.get("vars").kids() {
			vars[kid.Key] = variable(kid.Node)
		}
		for _, v := range s.root.tables("steps") {
			step := c.described(v)
			i := slices.IndexFunc(steps, func(o *toml.Node) bool {
				return o.TextOf("id") == step.TextOf("id")
			})
			if i >= 0 {
				steps[i] = step
			} else {
				steps = append(steps, step)
			}
		}
	}
	walk(s, 0)
	var b strings.Builder
	for _, key := range []string{"formula", "description", "version"} {
		if n := c.described(s.root).Get(key); n != nil {
			fmt.Fprintf(&b, "%s = %s\n", key, render(n))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		writeNode(&b, "[vars."+bare(key)+"]", vars[key], "description", "required", "default")
	}
	for _, n := range steps {
		writeNode(&b, "[[steps]]", n, "id", "title", "description", "needs", "depends_on")
	}
	return b.String()
}

// variable returns the table of a variable. In Gas City, its value can be the default instead.
func variable(n *toml.Node) *toml.Node {
	if n.Shape == toml.ShapeTable {
		return n
	}
	fallback := *n
	fallback.Key = "default"
	return &toml.Node{Key: n.Key, Shape: toml.ShapeTable, At: n.At, Kids: []*toml.Node{&fallback}}
}

// descriptionFile is the key of formulas and steps for a file that contains the description.
const descriptionFile = "description_file"

// extended reports whether a formula extends another one, has a description in a file, or has a variable that is only a
// default. gcity does not have these forms.
func (s *source) extended() bool {
	return s.root.get("extends").Node != nil ||
		slices.ContainsFunc(append(s.root.tables("steps"), s.root),
			func(v value) bool { return v.Get(descriptionFile) != nil }) ||
		slices.ContainsFunc(s.root.get("vars").kids(),
			func(v value) bool { return v.Shape != toml.ShapeTable })
}

// described returns a formula or a step with the description that its file contains.
func (c *conversion) described(v value) *toml.Node {
	file := v.get(descriptionFile)
	if file.Node == nil {
		return v.Node
	}
	data, err := files.ReadSource(filepath.Join(filepath.Dir(v.src.path), file.Text))
	if err != nil {
		c.broken(file.place(), "the description cannot be read: %s", err)
		return v.Node
	}
	kids := slices.DeleteFunc(slices.Clone(v.Kids), func(k *toml.Node) bool {
		return k.Key == "description"
	})
	return &toml.Node{Key: v.Key, Shape: v.Shape, At: v.At, Kids: append(kids, &toml.Node{
		Key: "description", Shape: toml.ShapeString, Text: string(data), At: file.At})}
}

func writeNode(b *strings.Builder, header string, n *toml.Node, keys ...string) {
	t := &table{}
	for _, key := range keys {
		if kid := n.Get(key); kid != nil {
			t.set(key, render(kid))
		}
	}
	b.WriteString("\n" + header + "\n")
	for _, key := range t.keys {
		b.WriteString(key + " = " + t.values[key] + "\n")
	}
}

// formulaNamed searches the pack, then its imports, then all packs.
func (c *conversion) formulaNamed(p *pack, name string) *source {
	for _, q := range slices.Concat([]*pack{p}, c.flat(p.imports), c.order, []*pack{c.root}) {
		if path, ok := formulaFiles(q)[name]; ok {
			if s, err := c.open(path); err == nil {
				return s
			}
		}
	}
	return nil
}
