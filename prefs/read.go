package prefs

import (
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/detach"
	"gcity/internal/toml"
)

func (p *Prefs) read(t toml.Table) {
	t.WarnUnknown("theme", "columns", "reduced_motion", "mouse", "ascii", "fps", "confirm",
		"on_hangup", "detach_keys", "keys", "trust")
	p.Theme = oneOf(t, "theme", "", append(p.themeNames(), Auto))
	p.Columns = columns(t)
	p.ReducedMotion = t.Flag("reduced_motion", false)
	p.MouseOff = !t.Flag("mouse", true)
	p.ASCII = ascii(t)
	if t.Has("fps") {
		p.FPS = t.Number("fps", 1, 120)
	}
	p.Confirm = oneOf(t, "confirm", AskUsual, []string{AskUsual, AskAlways, AskNever})
	p.OnHangup = oneOf(t, "on_hangup", GoHeadless, []string{GoHeadless, StopCity, LeaveCity})
	leave, err := detach.Parse(t.Text("detach_keys"))
	if err != nil {
		t.Wrong("detach_keys", "%v; %s is used instead", err, leave)
	}
	p.Detach = leave
	if own, ok := t.Table("trust"); ok {
		p.TrustFolders = trustFolders(own)
	}
	if keys, ok := t.Table("keys"); ok {
		p.Keys = bindings(keys, "")
	}
}

func trustFolders(t toml.Table) []string {
	t.WarnUnknown("folders")
	var out []string
	for i, folder := range t.Texts("folders") {
		if !filepath.IsAbs(folder) && !strings.HasPrefix(folder, "~/") {
			t.WrongItem("folders", i, "%q is neither absolute nor below ~/, and is ignored", folder)
			continue
		}
		out = append(out, folder)
	}
	return out
}

func (p *Prefs) themeNames() []string {
	names := make([]string, len(p.Themes))
	for i := range p.Themes {
		names[i] = p.Themes[i].Name
	}
	return names
}

func oneOf(t toml.Table, key, fallback string, known []string) string {
	text := t.Text(key)
	switch {
	case text == "":
		return fallback
	case slices.Contains(known, text):
		return text
	}
	if near := toml.Meant(text, known); near != "" {
		t.Wrong(key, "unknown value %q; did you mean %q?", text, near)
	} else {
		t.Wrong(key, "unknown value %q; the values are %s", text, toml.List(known))
	}
	return fallback
}

func columns(t toml.Table) []string {
	var out []string
	known := Columns()
	for i, name := range t.Texts("columns") {
		switch near := toml.Meant(name, known); {
		case slices.Contains(out, name):
			t.WrongItem("columns", i, "%q is listed twice", name)
		case slices.Contains(known, name):
			out = append(out, name)
		case near != "":
			t.WrongItem("columns", i, "unknown column %q; did you mean %q?", name, near)
		default:
			t.WrongItem("columns", i, "unknown column %q; the columns are %s",
				name, toml.List(known))
		}
	}
	if len(out) > 0 && !slices.Contains(out, "name") {
		t.Warn("columns", `does not contain "name", which identifies the agent; it is added as `+
			"the first column")
		out = slices.Insert(out, 0, "name")
	}
	return out
}

func ascii(t toml.Table) *bool {
	const key = "ascii"
	switch t.Kind(key) {
	case "", "a string":
		oneOf(t, key, "auto", []string{"auto"})
		return nil
	}
	on := t.Flag(key, false)
	return &on
}

// bindings returns the key bindings in a table. An action's ID can be one quoted TOML key or a dotted key.
func bindings(t toml.Table, above string) []Binding {
	var out []Binding
	for _, name := range t.Keys() {
		b := Binding{Action: above + name, Position: t.Place(name).String()}
		switch t.Kind(name) {
		case "a table":
			sub, _ := t.Table(name)
			out = append(out, bindings(sub, b.Action+".")...)
			continue
		case "a list":
			b.Keys = t.Texts(name)
			if len(b.Keys) == 0 && !t.Empty(name) {
				continue // the items are not strings, which was already reported
			}
		case "a string", "a whole number": // the key 5 needs no quotes
			if text, _ := t.Scalar(name); text != "" {
				b.Keys = []string{text}
			}
		default:
			t.Wrong(name, "must be a key in quotes, like \"ctrl+r\", or a list of such keys; \"\" "+
				"removes the binding")
			continue
		}
		out = append(out, b)
	}
	return out
}
