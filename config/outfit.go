package config

import (
	"context"
	"errors"
	"fmt"
	"gcity/config/files"
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

// maxFragments is the maximum number of fragments in one folder.
const maxFragments = 200

// outfits caches prompts and overlays, so that each file and folder is read only once.
type outfits struct {
	files    map[string]prompt.File   // files by path
	failed   map[string]error         // errors of files, by path
	shared   map[string][]prompt.File // fragments by folder
	parsed   map[string]*prompt.Template
	faults   map[string]string // why prompts could not be parsed, by the prompt's key
	leaning  map[string]bool   // results of the method leans, by the prompt's key
	overlays map[string]overlay.Tree
	broken   map[string]error  // errors of overlays
	folders  map[string]string // hashes of folders for the revision, by path
	mute     map[string]bool   // whether a folder does not respond, by path
}

func newOutfits() outfits {
	return outfits{files: map[string]prompt.File{}, failed: map[string]error{},
		shared: map[string][]prompt.File{}, parsed: map[string]*prompt.Template{},
		faults: map[string]string{}, leaning: map[string]bool{},
		overlays: map[string]overlay.Tree{}, broken: map[string]error{},
		folders: map[string]string{}, mute: map[string]bool{}}
}

// outfitter reads the prompts and overlays of agents.
type outfitter struct{ *loading }

// answers returns an error if a folder does not respond. It checks each folder only once, before it is read,
// because a read from a hung file system may never return.
func (d outfitter) answers(folder string) error {
	mute, known := d.outfits.mute[folder]
	if !known {
		_, ok := files.CheckFolder(folder, time.Now())
		mute = !ok
		d.outfits.mute[folder] = mute
	}
	if mute {
		return fmt.Errorf("%s does not respond; check what is mounted there, or write another path",
			folder)
	}
	return nil
}

// outfit resolves the prompt and the files that an agent gets when it starts.
func (d outfitter) outfit(a *Agent) {
	a.PromptTemplate, a.OverlayDir = d.pathOf(a, "prompt_template", a.PromptTemplate),
		d.pathOf(a, "overlay_dir", a.OverlayDir)
	if a.PromptTemplate != "" {
		d.prompt(a)
	} else if at, written := a.Origins["inject_fragments"]; written && len(a.InjectFragments) > 0 {
		d.city.Warnings = append(d.city.Warnings,
			Problem{Origin: at, Key: "agents.inject_fragments",
				Message: "has no effect without a prompt; write prompt_template, or " +
					"remove this key"})
	}
	if a.OverlayDir != "" {
		d.overlay(a)
	}
}

// idleFragments adds a warning if the city has global fragments but no agent has a prompt.
func (d outfitter) idleFragments() {
	c := d.city
	if len(c.Workspace.GlobalFragments) == 0 || len(c.Agents) == 0 ||
		slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.PromptTemplate != "" }) {
		return
	}
	c.Warnings = append(c.Warnings, Problem{Origin: c.Origins["workspace.global_fragments"],
		Key: "workspace.global_fragments",
		Message: "has no effect, because no agent has a prompt; write prompt_template for agents " +
			"that need one, or remove this key"})
}

// pathOf returns the absolute path for a path in a key of an agent. The path is relative to the file with the key. If
// the path is invalid, pathOf returns "".
func (d outfitter) pathOf(a *Agent, key, path string) string {
	if path == "" {
		return ""
	}
	out, err := d.city.PathOf(a, key, path)
	if err != nil {
		misuse(d.loading, a, a.Origins[key], "agents."+key, err.Error())
		return ""
	}
	return out
}

// prompt parses an agent's prompt. A prompt that several agents share is parsed and reported only once.
func (d outfitter) prompt(a *Agent) {
	behind := d.city.ownFragments(a)
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
	// the error was reported for another agent with the same prompt
	if a.Prompt = t; t == nil && a.Fault == "" {
		a.Fault = d.outfits.faults[name]
	}
	if d.outfits.leaning[name] {
		d.city.leans[a.Qualified()] = true
	}
	if t != nil {
		d.unset(a, t)
	}
}

// leans reports whether a prompt depends on the fragments of a topology. It uses only files that were already read.
func (d outfitter) leans(a *Agent, t *prompt.Template, shared string, own, behind []string) bool {
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

// parsePrompt reads and parses a prompt. It returns nil if the prompt is invalid.
func (d outfitter) parsePrompt(a *Agent, folders, behind []string) *prompt.Template {
	main, err := d.source(a.PromptTemplate)
	if err != nil {
		cannotUse(d.loading, a, "prompt_template", "cannot be read: ", err)
		return nil
	}
	var fragments []prompt.File
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue
		}
		more, err := d.fragments(folder)
		if err != nil {
			cannotUse(d.loading, a, "prompt_template", "cannot be rendered: ", err)
			return nil
		}
		fragments = append(fragments, more...)
	}
	return lenientPrompt(d.loading, a, main, fragments, behind)
}

// unset adds a warning about each value in a prompt that is not set, and therefore empty.
func (d outfitter) unset(a *Agent, t *prompt.Template) {
	names := append(prompt.Names(), slices.Sorted(maps.Keys(a.Env))...)
	for _, f := range t.Fields() {
		if f.Tested || slices.Contains(names, f.Name) {
			continue
		}
		msg := fmt.Sprintf("{{.%s}} is neither a value of prompts nor in the env of %s, so it "+
			"stays empty", f.Name, a.Qualified())
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

// source reads a file that a prompt uses, and adds it to the sources of the configuration.
func (d outfitter) source(path string) (prompt.File, error) {
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
	data, err := files.ReadSource(path)
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("%s: %w", path, p.Err)
		}
		d.outfits.failed[path] = err
		return prompt.File{}, err
	}
	d.hashes[path] = files.Sum(data)
	f := prompt.File{Name: d.city.called(path), Text: string(data)}
	d.outfits.files[path] = f
	return f, nil
}

func (d outfitter) fragments(folder string) ([]prompt.File, error) {
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
		return nil, fmt.Errorf("has %d fragments; at most %d are allowed", len(names), maxFragments)
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

func (d outfitter) overlay(a *Agent) {
	t, known := d.outfits.overlays[a.OverlayDir]
	if !known {
		var err error
		if t, err = scanOverlay(d.loading, a.OverlayDir); err != nil {
			d.outfits.folders[a.OverlayDir] = "" // the folder does not exist yet
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
		caution(d.loading, Problem{Origin: a.Origins["overlay_dir"], Key: "agents.overlay_dir",
			Message: visible(err.Error() + "; nothing is copied into the working folder")})
		a.OverlayDir = ""
	default:
		cannotUse(d.loading, a, "overlay_dir", "cannot be used: ", err)
	}
}

// fault records a warning that one agent cannot be started. The rest of the city is not affected.
func fault(d *loading, a *Agent, at Origin, key, msg string) {
	p := Problem{Origin: at, Key: visible(key), Message: visible(msg)}
	if a.Fault == "" {
		a.Fault = p.String()
	}
	p.Message += "; the agent cannot be started"
	caution(d, p)
}

// cannotUse records a problem with a file that an agent needs. It is an error if another user can change the file.
func cannotUse(d *loading, a *Agent, key, what string, err error) {
	_, file := errors.AsType[files.Foreign](err)
	_, folder := errors.AsType[*ownership.Fault](err)
	if file || folder {
		d.say(a.Origins[key], "agents."+key, what+err.Error())
		return
	}
	fault(d, a, a.Origins[key], "agents."+key, what+err.Error())
}

// misuse records a problem with a path or a template. In a fetched topology the problem is an error, because it may be
// an attack. Otherwise it is a warning.
func misuse(d *loading, a *Agent, at Origin, key, msg string) {
	if within(filepath.Join(d.city.Path, ".gc", "topologies"), a.Topology) {
		d.say(at, key, msg)
		return
	}
	fault(d, a, at, key, msg)
}

func caution(d *loading, p Problem) {
	if !slices.Contains(d.city.Warnings, p) {
		d.city.Warnings = append(d.city.Warnings, p)
	}
}

// lenientPrompt parses a prompt, and adds a warning for each part that cannot be used.
func lenientPrompt(d *loading, a *Agent, main prompt.File, more []prompt.File,
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
			msg := fmt.Sprintf("%s (used at %s)", n.Message, at)
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

// errNoOverlay is the error for an overlay folder that does not exist.
var errNoOverlay = errors.New("does not exist")

// scanOverlay reads an overlay. It first checks that the folder responds.
func scanOverlay(d *loading, folder string) (overlay.Tree, error) {
	if err := (outfitter{d}).answers(folder); err != nil {
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

// isTemplate reports whether a file name is valid for a fragment.
func isTemplate(name string) bool {
	return strings.HasSuffix(name, ".md.tmpl") || strings.HasSuffix(name, ".template.md")
}
