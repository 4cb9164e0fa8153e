package perform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/agent"
	"gcity/formula"
	"gcity/hooks"
	"gcity/internal/disk"
	"gcity/internal/redact"
	"gcity/internal/shell"
	"gcity/overlay"
	"gcity/session"
)

const (
	equipLimit  = 20 * time.Second
	copyLimit   = equipLimit - 2*time.Second // so a slow folder does not count as unresponsive
	maxCopies   = maxHung / 2                // leaves calls for other folders
	gitLimit    = 5 * time.Second
	renderLimit = 5 * time.Second
)

// The kernel accepts arguments of less than 128 KiB, and the command line is one argument of the shell.
const (
	maxGiven = 100 << 10
	maxTyped = 4000 // bytes per line; terminals pass at most 4,095 to a program
)

var errSlowCopy = fmt.Errorf("the time limit of %s has passed; the next start copies the "+
	"remaining files", copyLimit)

// folderTurns lets one start at a time prepare a folder.
type folderTurns struct {
	mu       sync.Mutex
	byFolder map[string]chan struct{} // contains a token while a start has its turn
}

func (t *folderTurns) of(folder string) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byFolder == nil {
		t.byFolder = map[string]chan struct{}{}
	}
	if t.byFolder[folder] == nil {
		t.byFolder[folder] = make(chan struct{}, 1)
	}
	return t.byFolder[folder]
}

// troubles are problems that do not prevent the start.
func (sr *sessions) prepareFolder(ctx context.Context, w *agent.Want) (summary string,
	troubles []string,
	err error) {
	if w.Overlay == "" && len(w.Hooks) == 0 {
		return "", nil, nil
	}
	// A start that waits must not occupy one of the maxHung calls.
	for _, free := range []chan struct{}{sr.folders.of(w.Spec.Dir), sr.copies} {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		case <-ctx.Done():
			return "", nil, fmt.Errorf("the working folder %s was not prepared, because other "+
				"starts were still preparing theirs: %w", w.Spec.Dir, context.Cause(ctx))
		}
	}
	// A hung call outlives its start. Calls are named after the folder, so the next start cannot write to the folder at
	// the same time.
	type result struct {
		summary  string
		troubles []string
		err      error
	}
	r, ok := inBackground(ctx, sr.base, "folder "+w.Spec.Dir, equipLimit, func() (r result) {
		ctx, cancel := context.WithTimeoutCause(ctx, sr.copyLimit, errSlowCopy)
		defer cancel()
		r.summary, r.troubles, r.err = sr.copyFiles(ctx, w)
		return r
	})
	if !ok {
		return "", nil, fmt.Errorf("the working folder %s or the agent's overlay does not respond",
			w.Spec.Dir)
	}
	if r.err != nil {
		r.err = fmt.Errorf("cannot copy the agent's overlay: %w", r.err)
	}
	return r.summary, r.troubles, r.err
}

// Merged hooks do not count as a local change to a copied file.
func (sr *sessions) copyFiles(ctx context.Context, w *agent.Want) (summary string,
	troubles []string,
	err error) {
	var put overlay.Report
	records := overlay.Records{Dir: filepath.Join(sr.w.Dir, ".gc", "overlays"), City: sr.w.Dir}
	if w.Overlay != "" {
		put, err = overlay.Apply(ctx, w.Overlay, w.Spec.Dir, records)
	}
	var parts []string
	if text := put.String(); text != "" {
		parts = append(parts, text)
	}
	added := hooks.Install(w.Spec.Dir, w.Hooks)
	if len(added.Written) > 0 {
		parts = append(parts, "hooks written: "+strings.Join(added.Written, ", "))
	}
	both := slices.DeleteFunc(slices.Clone(added.Written), func(file string) bool {
		return !slices.Contains(put.Written, file)
	})
	if len(both) > 0 {
		err = errors.Join(err, overlay.RecordCopied(w.Spec.Dir, records, both))
	}
	return strings.Join(parts, "; "), added.Problems, err
}

// PromptOf returns the prompt that an agent would receive now, or "". If discreet is set, PromptOf replaces secrets.
func PromptOf(ctx context.Context, w *agent.Want, discreet bool) (string, error) {
	d := w.Prompt.Draft
	if d == nil {
		return "", nil
	}
	v := d.Values
	if d.Template.Mentions("Branch") {
		v.Branch, v.DefaultBranch = branches(ctx, w)
	}
	if discreet {
		v.Env = maps.Clone(v.Env)
		for name, value := range v.Env {
			if v.Env[name] = redact.Value(value); redact.Name(name) {
				v.Env[name] = "***"
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, renderLimit)
	defer cancel()
	text, err := d.Template.Render(ctx, v)
	if err != nil {
		return "", fmt.Errorf("its prompt %w", err)
	}
	return strings.ReplaceAll(text, "\r\n", "\n"), nil
}

func branches(ctx context.Context, w *agent.Want) (current, main string) {
	ctx, cancel := context.WithTimeout(ctx, gitLimit)
	defer cancel()
	git := func(args ...string) string {
		env := append(w.Spec.Env[:len(w.Spec.Env):len(w.Spec.Env)], "GIT_TERMINAL_PROMPT=0",
			"GIT_OPTIONAL_LOCKS=0")
		got, err := shell.Call(ctx, shell.Program{Path: "git", Args: args, Dir: w.Spec.Dir,
			Env: env, MaxStdout: 4 << 10})
		if err != nil || got.Code != 0 {
			return ""
		}
		return strings.TrimSpace(string(got.Stdout))
	}
	current = git("symbolic-ref", "--quiet", "--short", "HEAD")
	main = strings.TrimPrefix(git("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"),
		"origin/")
	if main == "" {
		main = "main"
	}
	return current, main
}

func (sr *sessions) addPrompt(ctx context.Context, w *agent.Want, s *session.Spec) error {
	text, err := PromptOf(ctx, w, false)
	if err != nil || strings.TrimSpace(text) == "" {
		return err
	}
	given := s.Command
	switch w.Prompt.Mode {
	case "arg", "flag":
		given = withArgument(s.Command, w.Prompt.Flag, w.Prompt.Mode, text)
		if len(given) > maxGiven {
			if text, err = sr.toFile(w.Name, text); err == nil {
				given = withArgument(s.Command, w.Prompt.Flag, w.Prompt.Mode, text)
			}
		}
		s.Ready.Echo = session.EchoOf(text)
	case "typed":
		if len(text) > maxGiven || longestLine(text) > maxTyped {
			text, err = sr.toFile(w.Name, text)
		}
		s.Nudge = strings.TrimRight(strings.TrimRight(text, "\n")+"\n\n"+s.Nudge, "\n")
	}
	s.Command = given
	return err
}

// Text with a leading dash must not be parsed as a flag, also not after another flag.
func withArgument(command, flag, mode, text string) string {
	if strings.HasPrefix(text, "-") {
		text = "\n" + text
	}
	if mode == "flag" {
		command += " " + flag
	}
	return command + " " + shell.Quote(text)
}

func longestLine(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		n = max(n, len(line))
	}
	return n
}

func (sr *sessions) toFile(name, text string) (string, error) {
	file := filepath.Join(sr.w.Dir, ".gc", "prompts", session.Encode(name)+".md")
	err := disk.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = disk.Replace(file, []byte(text), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("the prompt is too long to be passed directly, and it cannot be "+
			"written to a file: %w", err)
	}
	return "Read the whole file " + file + " before you do anything else. It describes your role " +
		"and your task.", nil
}

// Rigs with unusable folders are skipped, because that problem is reported for the rig.
func (au *automations) linkFormulas(ctx context.Context, layers []formula.Layer,
	rigs []agent.Rig) (trouble []string) {
	link := func(name, scope, dir string, layers []formula.Layer) {
		err, ok := inBackground(ctx, au.base, name, hungLimit, func() error {
			return linkInto(dir, layers)
		})
		if !ok {
			err = fmt.Errorf("a folder %w; existing links are kept", errUnresponsive)
		}
		if err != nil {
			trouble = append(trouble, fmt.Sprintf("cannot link the formulas of %s: %v", scope,
				err))
		}
	}
	link("formulas", "the city", au.w.Dir, layersFor("", layers))
	for i := range rigs {
		if rig := &rigs[i]; rig.Problem == "" {
			link("formulas of "+rig.Name, "rig "+rig.Name, rig.Path, layersFor(rig.Name, layers))
		}
	}
	return trouble
}

func layersFor(rig string, layers []formula.Layer) []formula.Layer {
	return slices.DeleteFunc(slices.Clone(layers), func(l formula.Layer) bool {
		return l.Rig != "" && l.Rig != rig
	})
}

func linkInto(dir string, layers []formula.Layer) error {
	winners, err := formula.Resolve(layers)
	if err == nil {
		_, err = formula.Link(filepath.Join(dir, ".beads", "formulas"), winners)
	}
	return err
}
