package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/config/keys"
	"gcity/internal/ownership"
	"gcity/overlay"
	"gcity/prompt"
)

// maxFragments is how many files with fragments one folder may have.
const maxFragments = 200

// outfits has what agents are told and given, each file and folder read once.
type outfits struct {
	files    map[string]prompt.File   // by path
	failed   map[string]error         // of files
	shared   map[string][]prompt.File // by folder
	parsed   map[string]*prompt.Template
	faults   map[string]string // why those parsed are nil
	leaning  map[string]bool   // of those parsed
	overlays map[string]overlay.Tree
	broken   map[string]error  // of overlays
	folders  map[string]string // what the revision knows of folders, by path
	mute     map[string]bool   // folders that were looked at, and whether they do not answer
}

func newOutfits() outfits {
	return outfits{files: map[string]prompt.File{}, failed: map[string]error{},
		shared: map[string][]prompt.File{}, parsed: map[string]*prompt.Template{},
		faults: map[string]string{}, leaning: map[string]bool{},
		overlays: map[string]overlay.Tree{}, broken: map[string]error{},
		folders: map[string]string{}, mute: map[string]bool{}}
}

// answers looks whether a folder answers at all, once, before it is read: to read does not come to an end otherwise.
func (d *decoder) answers(folder string) error {
	mute, known := d.outfits.mute[folder]
	if !known {
		_, ok := lookAt(folder, time.Now())
		mute = !ok
		d.outfits.mute[folder] = mute
	}
	if mute {
		return fmt.Errorf("%s does not answer; look at what is mounted there, or write "+
			"another path", folder)
	}
	return nil
}

// outfit finds what an agent is told and given at its start.
func (d *decoder) outfit(a *Agent) {
	a.PromptTemplate, a.OverlayDir = d.pathOf(a, "prompt_template", a.PromptTemplate),
		d.pathOf(a, "overlay_dir", a.OverlayDir)
	if a.PromptTemplate != "" {
		d.prompt(a)
	} else if at, written := a.Origins["inject_fragments"]; written && len(a.InjectFragments) > 0 {
		d.city.Warnings = append(d.city.Warnings,
			Problem{Origin: at, Key: "agents.inject_fragments",
				Message: "says what follows the prompt, and there is none; write " +
					"prompt_template, or take it out"})
	}
	if a.OverlayDir != "" {
		d.overlay(a)
	}
}

// idleFragments warns of fragments for every prompt where there is none.
func (d *decoder) idleFragments() {
	c := d.city
	if len(c.Workspace.GlobalFragments) == 0 || len(c.Agents) == 0 ||
		slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.PromptTemplate != "" }) {
		return
	}
	c.Warnings = append(c.Warnings, Problem{Origin: c.Origins["workspace.global_fragments"],
		Key: "workspace.global_fragments",
		Message: "says what follows every prompt, and no agent has one; write prompt_template " +
			"for those that are to be told something, or take it out"})
}

// pathOf is what a path of an agent comes to, by the file that says it; "" if that cannot be.
func (d *decoder) pathOf(a *Agent, key, path string) string {
	if path == "" {
		return ""
	}
	out, err := d.city.PathOf(a, key, path)
	if err != nil {
		misuse(d, a, a.Origins[key], "agents."+key, err.Error())
		return ""
	}
	return out
}

// prompt parses what an agent is told. The same of several agents is parsed, and complained about, once.
func (d *decoder) prompt(a *Agent) {
	behind := d.city.behind(a)
	own := []string{filepath.Join(d.city.Path, "prompts", "shared"),
		filepath.Join(filepath.Dir(a.PromptTemplate), "shared")}
	folders := own
	if a.Topology != "" {
		folders = slices.Insert(slices.Clone(own), 0,
			filepath.Join(a.Topology, "prompts", "shared"))
	}
	name := strings.Join(slices.Concat([]string{a.PromptTemplate}, folders, behind), "\x00")
	t, known := d.outfits.parsed[name]
	if !known {
		t = d.parsePrompt(a, folders, behind)
		d.outfits.parsed[name], d.outfits.faults[name] = t, a.Fault
		d.outfits.leaning[name] = t != nil && len(folders) > len(own) &&
			d.leans(a, t, folders[0], own, behind)
	}
	if a.Prompt = t; t == nil && a.Fault == "" { // said of another agent that has the same prompt
		a.Fault = d.outfits.faults[name]
	}
	if d.outfits.leaning[name] {
		d.city.leans[a.Qualified()] = true
	}
	if t != nil {
		d.unset(a, t)
	}
}

// leans says whether a prompt is another one, or none, without the fragments of a topology. All files are read already.
func (d *decoder) leans(a *Agent, t *prompt.Template, shared string, own, behind []string) bool {
	if len(d.outfits.shared[shared]) == 0 || slices.Contains(own, shared) {
		return false
	}
	var fragments []prompt.File
	for i, folder := range own {
		if !slices.Contains(own[:i], folder) {
			fragments = append(fragments, d.outfits.shared[folder]...)
		}
	}
	alone, err := prompt.Parse(d.outfits.files[a.PromptTemplate], fragments, behind)
	return err != nil || alone.Hash() != t.Hash()
}

// parsePrompt reads and parses a prompt; nil if it cannot be.
func (d *decoder) parsePrompt(a *Agent, folders, behind []string) *prompt.Template {
	main, err := d.source(a.PromptTemplate)
	if err != nil {
		cannotUse(d, a, "prompt_template", "cannot be read: ", err)
		return nil
	}
	var fragments []prompt.File
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue
		}
		more, err := d.fragments(folder)
		if err != nil {
			cannotUse(d, a, "prompt_template", "cannot be put together: ", err)
			return nil
		}
		fragments = append(fragments, more...)
	}
	return lenientPrompt(d, a, main, fragments, behind)
}

// unset warns of values that a prompt names and nobody sets: they are empty.
func (d *decoder) unset(a *Agent, t *prompt.Template) {
	names := append(prompt.Names(), slices.Sorted(maps.Keys(a.Env))...)
	for _, f := range t.Fields() {
		if f.Tested || slices.Contains(names, f.Name) {
			continue
		}
		msg := fmt.Sprintf("{{.%s}} is neither a value of prompts nor in the env of %s, and "+
			"is left empty", f.Name, a.Qualified())
		if near := keys.Suggest(f.Name, names); near != "" {
			msg += fmt.Sprintf("; did you mean {{.%s}}?", near)
		}
		w := Problem{Origin: Origin{File: f.File, Line: f.Line, Column: 1}, Message: visible(msg)}
		if !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool {
			return p.Origin == w.Origin
		}) {
			d.city.Warnings = append(d.city.Warnings, w)
		}
	}
}

// behind are the fragments that follow an agent's prompt, each once.
func (c *City) behind(a *Agent) []string {
	var out []string
	for _, name := range slices.Concat(c.Workspace.GlobalFragments, a.InjectFragments) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// source reads a file of a prompt, which is a source of the configuration from then on.
func (d *decoder) source(path string) (prompt.File, error) {
	if err := d.outfits.failed[path]; err != nil {
		return prompt.File{}, err
	}
	if f, known := d.outfits.files[path]; known {
		return f, nil
	}
	if err := d.answers(filepath.Dir(path)); err != nil {
		d.outfits.failed[path] = err
		return prompt.File{}, err
	}
	if !slices.Contains(d.city.Sources, path) {
		d.city.Sources = append(d.city.Sources, path)
	}
	data, err := ReadSource(path)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", path, p.Err)
		}
		d.outfits.failed[path] = err
		return prompt.File{}, err
	}
	d.hashes[path] = sum(data)
	f := prompt.File{Name: d.city.shownPath(path), Text: string(data)}
	d.outfits.files[path] = f
	return f, nil
}

// shownPath is a path as origins have it.
func (c *City) shownPath(path string) string {
	if rel, err := filepath.Rel(c.Path, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// fragments reads a folder of fragments, which need not exist.
func (d *decoder) fragments(folder string) ([]prompt.File, error) {
	if known, ok := d.outfits.shared[folder]; ok {
		return known, nil
	}
	if err := d.answers(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		d.outfits.folders[folder] = ""
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isTemplate(e.Name()) {
			names = append(names, e.Name())
		}
	}
	d.outfits.folders[folder] = strings.Join(names, "\x00")
	if len(names) > maxFragments {
		return nil, fmt.Errorf("has %d fragments; %d are the most", len(names), maxFragments)
	}
	var out []prompt.File
	for _, name := range names {
		f, err := d.source(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	d.outfits.shared[folder] = out
	return out, nil
}

// overlay reads an agent's overlay.
func (d *decoder) overlay(a *Agent) {
	t, known := d.outfits.overlays[a.OverlayDir]
	if !known {
		var err error
		if t, err = scanOverlay(d, a.OverlayDir); err != nil {
			d.outfits.folders[a.OverlayDir] = "" // until it is there
			d.outfits.broken[a.OverlayDir] = err
		}
		d.outfits.overlays[a.OverlayDir] = t
		for _, folder := range t.Folders {
			d.outfits.folders[folder] = t.Hash
		}
	}
	a.OverlayHash = t.Hash
	switch err := d.outfits.broken[a.OverlayDir]; {
	case err == nil:
	case errors.Is(err, errNoOverlay):
		caution(d, Problem{Origin: a.Origins["overlay_dir"], Key: "agents.overlay_dir",
			Message: visible(err.Error() + "; nothing is put into the working folder")})
		a.OverlayDir = ""
	default:
		cannotUse(d, a, "overlay_dir", "cannot be used: ", err)
	}
}

// HooksOf are the kinds of hook files that an agent gets.
func (c *City) HooksOf(a *Agent) []string {
	if a.HooksInstalled {
		return nil
	}
	if _, written := a.Origins["install_agent_hooks"]; written {
		return a.InstallAgentHooks
	}
	return c.Workspace.InstallAgentHooks
}

// SessionOf is what the sessions of an agent are called, by its qualified name; of one that is not declared, what
// they would be called.
func (c *City) SessionOf(name string) string {
	for i := range c.Agents {
		a := &c.Agents[i]
		if a.Qualified() == name && a.SessionName != "" {
			return a.SessionName
		}
	}
	if m, ok := c.members[name]; ok {
		return m.session
	}
	a := &Agent{Name: name}
	if rig, inner, ok := strings.Cut(name, "/"); ok {
		a.Rig, a.Name = rig, inner
	}
	session, err := c.sessionName(a)
	if err != nil {
		return ""
	}
	return session
}

// PrefixOf is what the ids of work of a rig begin with, of the city if it is of none.
func (c *City) PrefixOf(rig string) string {
	if r := c.Rig(rig); r != nil {
		return r.Prefix
	}
	return c.Prefix()
}

// fault notes something that only one agent needs and that cannot be used. It is a warning, and the agent cannot be
// started: the rest of the city is not held up by it.
func fault(d *decoder, a *Agent, at Origin, key, msg string) {
	p := Problem{Origin: at, Key: visible(key), Message: visible(msg)}
	if a.Fault == "" {
		a.Fault = p.String()
	}
	p.Message += "; the agent cannot be started"
	caution(d, p)
}

// cannotUse is fault for files that one agent needs. What another user can change is refused.
func cannotUse(d *decoder, a *Agent, key, what string, err error) {
	_, file := errors.AsType[foreign](err)
	_, folder := errors.AsType[*ownership.Fault](err)
	if file || folder {
		d.say(a.Origins[key], "agents."+key, what+err.Error())
		return
	}
	fault(d, a, a.Origins[key], "agents."+key, what+err.Error())
}

// misuse is fault for paths and templates. Those of a fetched topology are refused: they may lead out of its copy.
func misuse(d *decoder, a *Agent, at Origin, key, msg string) {
	if within(filepath.Join(d.city.Path, ".gc", "topologies"), a.Topology) {
		d.say(at, key, msg)
		return
	}
	fault(d, a, at, key, msg)
}

// caution adds a warning, each once.
func caution(d *decoder, p Problem) {
	if !slices.Contains(d.city.Warnings, p) {
		d.city.Warnings = append(d.city.Warnings, p)
	}
}

// lenientPrompt parses a prompt, with a warning for each part of it that cannot be used.
func lenientPrompt(d *decoder, a *Agent, main prompt.File, more []prompt.File,
	behind []string) *prompt.Template {
	at := a.Origins["prompt_template"]
	t, notes, err := prompt.Lenient(main, more, behind)
	if err != nil {
		fault(d, a, at, "agents.prompt_template", "cannot be used: "+err.Error())
		return nil
	}
	for _, n := range notes {
		if n.File != "" {
			where := Origin{File: n.File, Line: n.Line, Column: n.Column}
			msg := fmt.Sprintf("%s (asked for at %s)", n.Message, at)
			caution(d, Problem{Origin: where, Message: visible(msg)})
			continue
		}
		key, from := "agents.inject_fragments", a.Origins["inject_fragments"]
		if slices.Contains(d.city.Workspace.GlobalFragments, n.Behind) {
			key = "workspace.global_fragments"
			from = d.city.Origins[key]
		}
		caution(d, Problem{Origin: from, Key: key, Message: visible(n.Message)})
	}
	return t
}

// errNoOverlay says that an overlay's folder is not there.
var errNoOverlay = errors.New("does not exist")

// scanOverlay reads an overlay. It looks first whether the folder answers at all.
func scanOverlay(d *decoder, folder string) (overlay.Tree, error) {
	if err := d.answers(folder); err != nil {
		return overlay.Tree{}, err
	}
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return overlay.Tree{}, fmt.Errorf("%s %w", folder, errNoOverlay)
	}
	t, err := overlay.Scan(context.Background(), folder)
	if err != nil {
		return t, fmt.Errorf("%s %w", folder, err)
	}
	return t, nil
}

// isTemplate says whether a file's name is that of a fragment.
func isTemplate(name string) bool {
	return strings.HasSuffix(name, ".md.tmpl") || strings.HasSuffix(name, ".template.md")
}
