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
	"gcity/internal/disk"
	"gcity/internal/ownership"
	"gcity/internal/toml"
	"gcity/overlay"
	"gcity/prompt"
)

const maxFragments = 200

type agentFileCache struct {
	files           map[string]prompt.File
	fileErrors      map[string]error
	fragments       map[string][]prompt.File // by folder
	parsed          map[string]*prompt.Template
	promptErrors    map[string]string // by the prompt's key
	topologyPrompts map[string]bool   // by the prompt's key
	overlays        map[string]overlay.Tree
	overlayErrors   map[string]error
	folderHashes    map[string]string
	unresponsive    map[string]bool
}

func newAgentFileCache() agentFileCache {
	return agentFileCache{files: map[string]prompt.File{}, fileErrors: map[string]error{},
		fragments: map[string][]prompt.File{}, parsed: map[string]*prompt.Template{},
		promptErrors: map[string]string{}, topologyPrompts: map[string]bool{},
		overlays: map[string]overlay.Tree{}, overlayErrors: map[string]error{},
		folderHashes: map[string]string{}, unresponsive: map[string]bool{}}
}

type agentFileReader struct{ *loading }

// checkResponds returns an error if a folder's file system does not respond. It must be called before the folder is
// read, because the read could block forever.
func (d agentFileReader) checkResponds(folder string) error {
	unresponsive, known := d.agentFiles.unresponsive[folder]
	if !known {
		_, ok := files.CheckFolder(folder, time.Now())
		unresponsive = !ok
		d.agentFiles.unresponsive[folder] = unresponsive
	}
	if unresponsive {
		return fmt.Errorf("%s does not respond; check what is mounted there, or use a "+
			"different path", folder)
	}
	return nil
}

func (d agentFileReader) read(a *Agent) {
	a.PromptTemplate, a.OverlayDir = d.pathOf(a, "prompt_template", a.PromptTemplate),
		d.pathOf(a, "overlay_dir", a.OverlayDir)
	if a.PromptTemplate != "" {
		d.prompt(a)
	} else if at, written := a.Origins["inject_fragments"]; written && len(a.InjectFragments) > 0 {
		d.addWarning(at, "agents.inject_fragments",
			"is ignored without a prompt; set prompt_template, or remove this key")
	}
	if a.OverlayDir != "" {
		d.overlay(a)
	}
}

func (d agentFileReader) warnUnusedFragments() {
	c := d.city
	if len(c.Workspace.GlobalFragments) == 0 || len(c.Agents) == 0 ||
		slices.ContainsFunc(c.Agents, func(a Agent) bool { return a.PromptTemplate != "" }) {
		return
	}
	const key = "workspace.global_fragments"
	d.addWarning(c.Origins[key], key, "is ignored, because no agent has a prompt; set "+
		"prompt_template for agents that need one, or remove this key")
}

func (d agentFileReader) pathOf(a *Agent, key, path string) string {
	if path == "" {
		return ""
	}
	out, err := d.city.PathOf(a, key, path)
	if err != nil {
		d.addMisuse(a, a.Origins[key], "agents."+key, "%v", err)
		return ""
	}
	return out
}

func (d agentFileReader) prompt(a *Agent) {
	appended := d.city.ownFragments(a)
	own := []string{filepath.Join(d.city.Path, "prompts", "shared"),
		filepath.Join(filepath.Dir(a.PromptTemplate), "shared")}
	folders := own
	if a.Topology != "" {
		folders = slices.Insert(slices.Clone(own), 0,
			filepath.Join(a.Topology, "prompts", "shared"))
	}
	name := strings.Join(slices.Concat([]string{a.PromptTemplate}, folders, appended), "\x00")
	t, known := d.agentFiles.parsed[name]
	if !known {
		t = d.parsePrompt(a, folders, appended)
		d.agentFiles.parsed[name], d.agentFiles.promptErrors[name] = t, a.Fault
		d.agentFiles.topologyPrompts[name] = t != nil && len(folders) > len(own) &&
			d.needsTopology(a, t, folders[0], own, appended)
	}
	// the error was reported for another agent with the same prompt
	if a.Prompt = t; t == nil && a.Fault == "" {
		a.Fault = d.agentFiles.promptErrors[name]
	}
	if d.agentFiles.topologyPrompts[name] {
		d.city.topologyPrompts[a.Qualified()] = true
	}
	if t != nil {
		d.warnUnsetValues(a, t)
	}
}

func (d agentFileReader) needsTopology(a *Agent, t *prompt.Template, shared string,
	own, appended []string) bool {
	if len(d.agentFiles.fragments[shared]) == 0 || slices.Contains(own, shared) {
		return false
	}
	var fragments []prompt.File
	for i, folder := range own {
		if !slices.Contains(own[:i], folder) {
			fragments = append(fragments, d.agentFiles.fragments[folder]...)
		}
	}
	alone, err := prompt.Parse(d.agentFiles.files[a.PromptTemplate], fragments, appended)
	return err != nil || alone.Hash() != t.Hash()
}

func (d agentFileReader) parsePrompt(a *Agent, folders, appended []string) *prompt.Template {
	main, err := d.source(a.PromptTemplate)
	if err != nil {
		d.addUnusable(a, "prompt_template", "cannot be read: ", err)
		return nil
	}
	var fragments []prompt.File
	for i, folder := range folders {
		if slices.Contains(folders[:i], folder) {
			continue
		}
		more, err := d.fragments(folder)
		if err != nil {
			d.addUnusable(a, "prompt_template", "cannot be rendered: ", err)
			return nil
		}
		fragments = append(fragments, more...)
	}
	return d.lenientPrompt(a, main, fragments, appended)
}

func (d agentFileReader) warnUnsetValues(a *Agent, t *prompt.Template) {
	names := append(prompt.Names(), slices.Sorted(maps.Keys(a.Env))...)
	for _, f := range t.Fields() {
		if f.Tested || slices.Contains(names, f.Name) {
			continue
		}
		msg := fmt.Sprintf("{{.%s}} is neither a prompt value nor set in the env of %s, so it "+
			"stays empty", f.Name, a.Qualified())
		if near := keys.Suggest(f.Name, names); near != "" {
			msg += fmt.Sprintf("; did you mean {{.%s}}?", near)
		}
		w := toml.At(Origin{File: f.File, Line: f.Line, Column: 1}, "", "%s", msg)
		if !slices.ContainsFunc(d.city.Warnings, func(p Problem) bool {
			return p.Place == w.Place
		}) {
			d.city.Warnings = append(d.city.Warnings, w)
		}
	}
}

func (d agentFileReader) source(path string) (prompt.File, error) {
	if err := d.agentFiles.fileErrors[path]; err != nil {
		return prompt.File{}, err
	}
	if f, known := d.agentFiles.files[path]; known {
		return f, nil
	}
	if err := d.checkResponds(filepath.Dir(path)); err != nil {
		d.agentFiles.fileErrors[path] = err
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
		d.agentFiles.fileErrors[path] = err
		return prompt.File{}, err
	}
	d.hashes[path] = files.Sum(data)
	f := prompt.File{Name: d.city.displayPath(path), Text: string(data)}
	d.agentFiles.files[path] = f
	return f, nil
}

func (d agentFileReader) fragments(folder string) ([]prompt.File, error) {
	if known, ok := d.agentFiles.fragments[folder]; ok {
		return known, nil
	}
	if err := d.checkResponds(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		d.agentFiles.folderHashes[folder] = ""
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
	d.agentFiles.folderHashes[folder] = strings.Join(names, "\x00")
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
	d.agentFiles.fragments[folder] = out
	return out, nil
}

func (d agentFileReader) overlay(a *Agent) {
	t, known := d.agentFiles.overlays[a.OverlayDir]
	if !known {
		var err error
		if t, err = d.scanOverlay(a.OverlayDir); err != nil {
			d.agentFiles.folderHashes[a.OverlayDir] = ""
			d.agentFiles.overlayErrors[a.OverlayDir] = err
		}
		d.agentFiles.overlays[a.OverlayDir] = t
		for _, folder := range t.Folders {
			d.agentFiles.folderHashes[folder] = t.Hash
		}
	}
	a.OverlayHash = t.Hash
	switch err := d.agentFiles.overlayErrors[a.OverlayDir]; {
	case err == nil:
	case errors.Is(err, errNoOverlay):
		d.warnOnce(toml.At(a.Origins["overlay_dir"], "agents.overlay_dir",
			"%v; nothing is copied into the working folder", err))
		a.OverlayDir = ""
	default:
		d.addUnusable(a, "overlay_dir", "cannot be used: ", err)
	}
}

func (d *loading) addStartProblem(a *Agent, at Origin, key, format string, args ...any) {
	p := toml.At(at, key, format, args...)
	if a.Fault == "" {
		a.Fault = p.String()
	}
	p.Message += "; the agent cannot be started"
	d.warnOnce(p)
}

func (d agentFileReader) addUnusable(a *Agent, key, what string, err error) {
	_, file := errors.AsType[files.ForeignOwner](err)
	_, folder := errors.AsType[*ownership.Fault](err)
	if file || folder {
		d.addError(a.Origins[key], "agents."+key, "%s%v", what, err)
		return
	}
	d.addStartProblem(a, a.Origins[key], "agents."+key, "%s%v", what, err)
}

// addMisuse adds an error if the agent comes from a fetched topology, because the problem might be an attack.
// Otherwise, it adds a start problem.
func (d *loading) addMisuse(a *Agent, at Origin, key, format string, args ...any) {
	if within(filepath.Join(d.city.Path, ".gc", "topologies"), a.Topology) {
		d.addError(at, key, format, args...)
		return
	}
	d.addStartProblem(a, at, key, format, args...)
}

func (d agentFileReader) lenientPrompt(a *Agent, main prompt.File, more []prompt.File,
	appended []string) *prompt.Template {
	at := a.Origins["prompt_template"]
	t, notes, err := prompt.Lenient(main, more, appended)
	if err != nil {
		d.addStartProblem(a, at, "agents.prompt_template", "cannot be used: %v", err)
		return nil
	}
	for _, n := range notes {
		if n.File != "" {
			where := Origin{File: n.File, Line: n.Line, Column: n.Column}
			d.warnOnce(toml.At(where, "", "%s (used at %s)", n.Message, at))
			continue
		}
		key, from := "agents.inject_fragments", a.Origins["inject_fragments"]
		if slices.Contains(d.city.Workspace.GlobalFragments, n.Appended) {
			key = "workspace.global_fragments"
			from = d.city.Origins[key]
		}
		d.warnOnce(toml.At(from, key, "%s", n.Message))
	}
	return t
}

var errNoOverlay = errors.New("does not exist")

func (d agentFileReader) scanOverlay(folder string) (overlay.Tree, error) {
	if err := d.checkResponds(folder); err != nil {
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

func isTemplate(name string) bool {
	return !disk.IsEditorFile(name) &&
		(strings.HasSuffix(name, ".md.tmpl") || strings.HasSuffix(name, ".template.md"))
}
