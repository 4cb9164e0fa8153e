package config

import (
	"fmt"
	"gcity/config/files"
	"gcity/config/keys"
	"gcity/internal/toml"
	"strings"
	"time"
	"unicode"
)

// maxRigs limits the number of rigs, because loading checks every rig's folder.
const maxRigs = 1000

type rigChecker struct{ *loading }

func (d rigChecker) rigs() {
	c := d.city
	if len(c.Rigs) > maxRigs {
		d.addError(c.Rigs[maxRigs].Origin, "rigs",
			"there are %d rigs; a city can have at most %d", len(c.Rigs),
			maxRigs)
		return
	}
	names, taken := make(map[string]*Rig, len(c.Rigs)), make(map[string]*Rig, len(c.Rigs))
	var looking []*Rig
	began := time.Now()
	prefixes := map[string]*Rig{c.Prefix(): nil}
	for i := range c.Rigs {
		r := &c.Rigs[i]
		if r.Name != "" {
			if other := names[r.Name]; other != nil {
				d.addError(r.Origins["name"], "rigs.name",
					"another rig already has the name %q, at %s; choose a "+
						"different name", r.Name, other.Origins["name"])
				continue
			}
			names[r.Name] = r
			d.prefix(r, prefixes)
		}
		if r.Path != "" && d.folder(r) {
			looking = append(looking, r)
		}
		d.checkFormulas(r)
	}
	for _, r := range looking {
		d.checkedFolder(r, began, taken)
	}
	for i := range c.Agents {
		if names[c.Agents[i].Dir] != nil {
			c.Agents[i].Rig = c.Agents[i].Dir
		}
	}
}

func (d rigChecker) prefix(r *Rig, taken map[string]*Rig) {
	at, how, key := r.Origins["prefix"], "", "rigs.prefix"
	if r.Prefix == "" {
		if d.failed(key) {
			return
		}
		at, how = r.Origins["name"], fmt.Sprintf(", derived from the name %q,", r.Name)
		r.Prefix = prefixOf(r.Name)
	}
	other, clash := taken[strings.ToLower(r.Prefix)]
	switch {
	case !clash:
		taken[strings.ToLower(r.Prefix)] = r
	case other == nil:
		d.addError(at, key, "%q%s is the prefix of the city's own work; use a "+
			"different one, such as prefix = %q", r.Prefix, how, unusedPrefix(r.Name, taken))
	default:
		d.addError(at, key, "%q%s is the prefix of the rig %q at %s; use a "+
			"different one, such as prefix = %q", r.Prefix, how, other.Name,
			other.Origin, unusedPrefix(r.Name, taken))
	}
}

func unusedPrefix(name string, taken map[string]*Rig) string {
	name = strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
	for n := 2; n <= min(len(name), keys.MaxPrefix); n++ {
		if _, there := taken[name[:n]]; !there {
			return name[:n]
		}
	}
	for n := 2; ; n++ {
		p := fmt.Sprintf("%s%d", name[:min(len(name), 8)], n)
		if _, there := taken[p]; !there {
			return p
		}
	}
}

func prefixOf(name string) string {
	for _, end := range []string{"-go", "-py"} {
		if rest, ok := strings.CutSuffix(name, end); ok && rest != "" {
			name = rest
			break
		}
	}
	var parts []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool {
		return r == '-' || r == '_' || r == '.'
	}) {
		parts = append(parts, splitCamelCase(part)...)
	}
	if len(parts) == 1 {
		p := parts[0]
		if len(p) > 3 {
			p = p[:2]
		}
		return strings.ToLower(p)
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte(p[0])
	}
	return strings.ToLower(b.String()[:min(b.Len(), keys.MaxPrefix)])
}

func splitCamelCase(word string) []string {
	var out []string
	start := 0
	for i := 1; i < len(word); i++ {
		if unicode.IsUpper(rune(word[i])) && !unicode.IsUpper(rune(word[i-1])) {
			out, start = append(out, word[start:i]), i
		}
	}
	return append(out, word[start:])
}

func (d rigChecker) folder(r *Rig) bool {
	path, err := resolve(d.city.Path, d.city.folderOf(r.Origins["path"]), r.Path)
	if err != nil {
		d.addError(r.Origins["path"], "rigs.path", "%v", err)
		return false
	}
	r.Path = path
	files.StartCheck(path)
	return true
}

func (d rigChecker) checkedFolder(r *Rig, since time.Time, taken map[string]*Rig) {
	saw, _ := files.CheckFolder(r.Path, since)
	r.Problem = toml.Visible(saw.Problem)
	if other := taken[saw.Real]; other != nil {
		d.addError(r.Origins["path"], "rigs.path",
			"is already the folder of the rig %q, at %s; choose a different folder",
			other.Name, other.Origins["path"])
		return
	}
	taken[saw.Real] = r
}

func (d rigChecker) checkFormulas(r *Rig) {
	if r.FormulasDir == "" {
		return
	}
	path, err := resolve(d.city.Path, d.city.folderOf(r.Origins["formulas_dir"]), r.FormulasDir)
	if err != nil {
		d.addError(r.Origins["formulas_dir"], "rigs.formulas_dir", "%v", err)
		return
	}
	r.FormulasDir = path
}
