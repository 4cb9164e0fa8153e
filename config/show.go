package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gcity/config/keys"
	"gcity/config/placeholder"
	"gcity/internal/redact"
	"gcity/internal/span"
	"gcity/internal/toml"
)

// TOML returns the effective configuration as one file, with origins as comments. Secrets are ***.
func (c *City) TOML() string {
	body := printer{City: c}.tables()
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, revision %.12s\n", toml.Quote(c.Path), c.Revision)
	for _, p := range c.cityTopologies {
		fmt.Fprintf(&b, "# with agents of the topology %s, %s\n", p.Topology.Name,
			toml.Quote(p.file))
	}
	open := printer{City: c.Revealed()}
	for _, line := range (printer{City: c}).omittedParts(body != open.tables()) {
		fmt.Fprintf(&b, "# %s\n", toml.Visible(line))
	}
	b.WriteString(body)
	return b.String()
}

// Revealed returns a copy that shows secrets. Its output is only for the city's owner.
func (c *City) Revealed() *City {
	open := *c
	open.showSecrets = true
	return &open
}

type printer struct {
	*City
	merged []Provider // see mergedTables
}

func (c printer) tables() string {
	var b strings.Builder
	s := keys.City()
	c.merged = c.mergedTables()
	for _, t := range s.Tables[""] {
		switch {
		case t.Status != keys.Supported || t.Path == "patches" || t.Redundant:
		case t.Path == "providers":
			c.writeNamed(&b, s, t)
		case t.Kind == keys.Table:
			all := withoutApplied(s, t.Path, c.rows(s, t.Path, place{c.City}))
			if len(all) > 0 {
				fmt.Fprintf(&b, "\n[%s]\n", t.Path)
				writeRows(&b, "", all)
			}
			for _, inner := range s.Tables[t.Path] {
				c.writeElements(&b, s, inner)
				c.writeInner(&b, s, inner)
			}
		default:
			c.writeElements(&b, s, t)
		}
	}
	return b.String()
}

func (c printer) writeNamed(b *strings.Builder, s keys.Schema, t *keys.Key) {
	for i := range c.merged {
		p := &c.merged[i]
		if p.IgnorePreset && presetNamed(p.Name) != nil {
			fmt.Fprintf(b, "\n[[patches.providers]]\n")
			writeRows(b, "", append([]row{{"name", toml.Quote(p.Name), p.Origin.String()},
				{"_replace", "true", p.Origins["_replace"].String()}},
				c.rows(s, t.Path+".*", place{p})...))
			continue
		}
		fmt.Fprintf(b, "\n[%s.%s]\n", t.Path, tomlKey(p.Name))
		writeRows(b, "", c.rows(s, t.Path+".*", place{p}))
	}
}

// mergedTables returns one [providers] table for each name: the one that applies to the first agent with this provider.
func (c printer) mergedTables() (out []Provider) {
	users := map[string]*Agent{}
	for i := range slices.Backward(c.Agents) {
		for _, name := range c.possibleProviders(&c.Agents[i]) {
			users[name] = &c.Agents[i]
		}
	}
	for _, name := range c.declaredProviders(nil) {
		a := cmp.Or(users[name], &Agent{})
		if t := c.providerTable(a, name); t.Name != "" {
			out = append(out, t)
		}
	}
	return out
}

// possibleProviders returns the agent's provider, or all presets if the machine determines the provider.
func (c printer) possibleProviders(a *Agent) []string {
	switch key, name := c.programKey(a); key {
	case byAgentProvider, byWorkspaceProvider:
		return []string{name}
	case "":
		return presetNames()
	}
	return nil
}

// providerNote returns a comment for an agent to which a printed provider does not apply, or "".
func (c printer) providerNote(a *Agent) string {
	for _, name := range c.possibleProviders(a) {
		var printed map[string]Origin
		if t := tableNamed(c.merged, name); t != nil {
			printed = t.Origins
		}
		if !maps.Equal(c.providerTable(a, name).Origins, printed) {
			return fmt.Sprintf("its provider %s has other values than in this file; "+
				"`gcity config explain %s` shows them", name, a.Qualified())
		}
	}
	return ""
}

func (c printer) writeInner(b *strings.Builder, s keys.Schema, t *keys.Key) {
	if t.Kind != keys.Table || t.Status != keys.Supported {
		return
	}
	for path := range c.Origins {
		if strings.HasPrefix(path, t.Path+".") {
			fmt.Fprintf(b, "\n[%s]\n", t.Path)
			writeRows(b, "", c.rows(s, t.Path, place{c.City}))
			return
		}
	}
}

func (c printer) writeElements(b *strings.Builder, s keys.Schema, list *keys.Key) {
	for _, p := range c.elements(list.Path) {
		fmt.Fprintf(b, "\n[[%s]]\n", list.Path)
		all := withoutApplied(s, list.Path, c.rows(s, list.Path, p))
		if a, ok := p.table.(*Agent); ok {
			var notes []string
			all, notes = c.movedRows(a, all)
			for _, line := range notes {
				fmt.Fprintf(b, "# %s\n", line)
			}
		}
		writeRows(b, "", all)
	}
}

func (c printer) elements(path string) []place {
	switch path {
	case "agents":
		return places(c.Agents)
	case "rigs":
		return places(c.Rigs)
	case "watchdogs":
		return places(c.Watchdogs)
	case "automations.overrides":
		return places(c.overrides)
	}
	return nil
}

func places[T any](tables []T) (out []place) {
	for i := range tables {
		out = append(out, place{&tables[i]})
	}
	return out
}

type row struct{ key, value, origin string }

func (c printer) row(s keys.Schema, path string) row {
	return row{path, c.shown(place{c.City}.field(s.ByPath[path])), c.Origins[path].String()}
}

func (c printer) rows(s keys.Schema, table string, p place) []row {
	var out []row
	a, _ := p.table.(*Agent)
	for _, k := range s.Tables[table] {
		if k.Path == "agents.pool" && a.Pool != nil {
			for _, r := range c.rows(s, k.Path, p) {
				out = append(out, row{k.Name() + "." + r.key, r.value, r.origin})
			}
		}
		if k.Status != keys.Supported || !k.HasValue() {
			continue
		}
		origins, name := p.origins(k)
		field := p.field(k)
		if env, ok := field.(*map[string]string); ok {
			for _, v := range slices.Sorted(maps.Keys(*env)) {
				value := toml.Quote(redact.Value((*env)[v]))
				switch {
				case c.showSecrets:
					value = toml.Quote((*env)[v])
				case redact.Name(v):
					value = `"***"`
				}
				out = append(out, row{k.Name() + "." + tomlKey(v), value,
					origins[name+"."+v].String()})
			}
			continue
		}
		value, origin := c.shown(field), origins[name]
		switch {
		case k.Path == "rigs.prefix" && origin.File == "":
			origin.File = "derived from the name"
		case k.Path == "agents.session_setup_script":
			value = toml.Quote(c.scriptFromHere(a))
		}
		if k.Kind == keys.Millis {
			value = strconv.FormatInt(field.(*time.Duration).Milliseconds(), 10)
		}
		if origin.File == "" && k.Def == "" && k.Path != "workspace.name" {
			continue
		}
		out = append(out, row{k.Name(), value, origin.String()})
	}
	return out
}

func (c printer) scriptFromHere(a *Agent) string {
	at, written := a.Origins["session_setup_script"]
	if !written {
		at = a.Origin
	}
	script, folder := a.SessionSetupScript, c.folderOf(at)
	path, err := placeholder.Expand(script, c.vars(a))
	if err != nil || path == "" || filepath.IsAbs(path) || folder == c.Path {
		return script
	}
	if rel, err := filepath.Rel(c.Path, folder); err == nil && filepath.IsLocal(rel) {
		return "//" + rel + "/" + script
	}
	return folder + "/" + script
}

// shown formats a value as TOML. It hides secrets, which command lines can contain, unless showSecrets is set.
func (c printer) shown(field any) string {
	v := reflect.ValueOf(field).Elem()
	if v.Kind() == reflect.Pointer {
		v = v.Elem() // invalid if the value is not set
	}
	switch v.Kind() {
	case reflect.String:
		text := v.String()
		if !c.showSecrets {
			text = redact.Text(text)
		}
		return toml.Quote(text)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Int64:
		return toml.Quote(span.Text(time.Duration(v.Int())))
	case reflect.Slice:
		all := v.Interface().([]string)
		if !c.showSecrets {
			all = redact.Args(all)
		}
		items := make([]string, len(all))
		for i, s := range all {
			items[i] = toml.Quote(s)
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return ""
}

func writeRows(b *strings.Builder, indent string, rows []row) {
	const widest = 56
	width := 0
	for _, r := range rows {
		if n := utf8.RuneCountInString(r.key) + utf8.RuneCountInString(r.value); n <= widest {
			width = max(width, n)
		}
	}
	for _, r := range rows {
		pad := max(0, width-utf8.RuneCountInString(r.key)-utf8.RuneCountInString(r.value))
		line := indent + r.key + " = " + r.value
		if r.origin != "" {
			line += strings.Repeat(" ", pad) + "  # " + r.origin
		}
		b.WriteString(line + "\n")
	}
}

func tomlKey(s string) string {
	bare := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		""
	return cmp.Or(map[bool]string{true: s}[bare], toml.Quote(s))
}

// Explain describes an agent, pool or rig with all effective values. The error is ErrNoAgent or ErrAmbiguous.
func (c *City) Explain(name string) (string, error) {
	var parts []string
	a, member, err := c.find(name)
	if err == nil {
		parts = append(parts, printer{City: c}.explainAgent(a, member))
	}
	r := c.Rig(name)
	if r != nil {
		parts = append(parts, printer{City: c}.explainRig(r))
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n"), nil
	}
	if errors.Is(err, ErrNoAgent) {
		err = c.missing(name)
	}
	return "", err
}
