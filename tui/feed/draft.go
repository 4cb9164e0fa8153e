package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"gcity/city"
	"gcity/internal/disk"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ConfigFile gives access to the city's configuration for editing. Users edit copies, so that a half-written file is
// never applied. The file name "" stands for city.toml. Check, Plan and Replace are called from one goroutine at a
// time. Only these methods may read files.
type ConfigFile interface {
	// Path returns the absolute path of a file.
	Path(file string) string
	// ReadOnlyReason returns the reason why a file cannot be edited here, and where to change it, or "".
	ReadOnlyReason(file string) string
	// Check checks data as the new content of a file. It returns the problems with their positions, and the line of the
	// first problem. The line is 0 if that problem is in another file.
	Check(file string, data []byte) (problems []string, line int)
	// Plan returns the changes that would result now from replacing the content of a file with data. The data must have
	// passed Check.
	Plan(ctx context.Context, file string, data []byte) (Plan, error)
	// Replace replaces the old content of a file with the updated content. It fails if the file's current content is
	// not the old content.
	Replace(file string, old, updated []byte) error
}

// Plan lists the changes that a configuration would cause if it were applied now.
type Plan struct {
	Changes []Change // one per agent, including unchanged agents, in any order
	// changed settings of the city, its pools, rigs, watchdogs and restart policies
	Settings []string
	Notes    []string
}

// Change is the planned effect on one agent.
type Change struct {
	Agent string
	Pool  string // its pool; "" = none
	// "stop", "fail", "drain", "restart", "start", "wait" or "none"; other values are shown unchanged
	Kind string
	Why  string // reason shown to the user
}

// FileLine is a position in the configuration.
type FileLine struct {
	File string // "" = city.toml
	Line int    // 0 = no specific line
}

// Draft is a configuration that is being edited.
type Draft struct {
	File     string // "" = city.toml
	Path     string // path of the copy
	original []byte
	Line     int // line for the editor; 0 = the beginning
}

func (d DiscardDraft) start(r *Runner) {
	r.Spawn("draft", func(context.Context) {
		if err := disk.Remove(d.Path); err != nil {
			r.Log.Warn("cannot remove a draft of the configuration", "error", err)
		}
	})
}

const planDeadline = 15 * time.Second

// EditDraft runs the editor on the edit's draft, or on a new draft if it has none. It returns the draft.
func (r *Runner) EditDraft(ctx context.Context, o Terminal, e Edit) (d *Draft, err error) {
	if d = e.Draft; d == nil {
		if d, err = NewDraft(r.Config, e.At); err != nil {
			return nil, err
		}
	}
	p, err := Editor(ctx, o.Environ, d)
	if err != nil {
		return d, err
	}
	p.Cmd.Stdin = o.In
	return d, runInForeground(ctx, o, p)
}

// CheckDraft checks an edited draft and returns the result. If the file has changed on disk, it first merges the
// changes into the draft. If the draft is unchanged, it removes the draft's file.
func CheckDraft(ctx context.Context, config ConfigFile, d *Draft, editorErr error) Edited {
	e := Edited{Draft: d, Err: editorErr}
	var err error
	if e.Data, err = disk.ReadFile(d.Path); err != nil {
		return Edited{Err: errors.Join(editorErr,
			fmt.Errorf("cannot read the edited file: %w", err))}
	}
	if bytes.Equal(e.Data, d.original) {
		return Edited{Err: errors.Join(editorErr, disk.Remove(d.Path))}
	}
	if editorErr != nil {
		return e
	}
	merged, conflict := false, 0
	if now, changed := changedOnDisk(config, d); changed {
		merged = true
		e.Data, conflict = merge(d.original, e.Data, now)
		if bytes.Equal(e.Data, now) {
			return Edited{Err: disk.Remove(d.Path)}
		}
		if e.Err = disk.WriteFile(d.Path, e.Data, 0o600); e.Err != nil {
			return e // the draft still has its old content, so it keeps its original
		}
		e.Draft = &Draft{File: d.File, Path: d.Path, original: now, Line: d.Line}
	}
	if conflict > 0 {
		e.Line, e.Problems = conflict, []string{"The file on disk has changed in lines that you " +
			"edited. The draft contains both versions: keep one of them."}
		return e
	}
	if e.Problems, e.Line = config.Check(d.File, e.Data); len(e.Problems) > 0 {
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, planDeadline)
	defer cancel()
	if e.Plan, err = config.Plan(ctx, d.File, e.Data); err != nil {
		e.Plan = Plan{Notes: []string{"The plan is unknown: " + err.Error()}}
	}
	if merged {
		e.Plan.Notes = append(e.Plan.Notes, "The file on disk has changed since you opened it. "+
			"Your edit now includes these changes.")
	}
	return e
}

// changedOnDisk returns the current content of the edited file, and reports whether the draft was made from another
// content.
func changedOnDisk(config ConfigFile, d *Draft) (now []byte, changed bool) {
	now, err := os.ReadFile(config.Path(d.File))
	return now, err == nil && !bytes.Equal(now, d.original)
}

const draftAge = 7 * 24 * time.Hour

// SweepDrafts removes abandoned drafts of a city's configuration.
func SweepDrafts(dir string) {
	dir = filepath.Join(dir, ".gc")
	entries, _ := disk.ReadDir(dir) // continue with the readable entries
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		number := name[strings.LastIndexByte(name, '-')+1:]
		if !strings.HasPrefix(name, "edit-") || number == "" ||
			strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > draftAge {
			_ = disk.Remove(filepath.Join(dir, e.Name())) // try again next time
		}
	}
}

// NewDraft copies a configuration file to the city's runtime folder.
func NewDraft(config ConfigFile, at FileLine) (*Draft, error) {
	path, own := config.Path(at.File), config.Path("")
	was, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot edit the configuration: %w", err)
	}
	SweepDrafts(filepath.Dir(own))
	name := "edit-*"
	if at.File != "" {
		base := filepath.Base(path)
		name = "edit-" + strings.ReplaceAll(strings.TrimSuffix(base, filepath.Ext(base)), "*",
			"_") + "-*"
	}
	name = strings.Replace(name, "*", strconv.FormatUint(rand.Uint64(), 10), 1) + filepath.Ext(own)
	f, err := disk.OpenFile(filepath.Join(filepath.Dir(own), ".gc", name),
		os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot copy the configuration for editing: %w", err)
	}
	_, err = f.Write(was)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot copy the configuration for editing: %w",
			err), disk.Remove(f.Name()))
	}
	return &Draft{File: at.File, Path: f.Name(), original: was, Line: at.Line}, nil
}

// start replaces the configuration with the draft and reloads it.
func (e ApplyDraft) start(r *Runner) {
	r.Spawn("configuration", func(ctx context.Context) {
		const title = "editing"
		if err := r.Config.Replace(e.Draft.File, e.Draft.original, e.Data); err != nil {
			r.report(e.ID, title, "", fmt.Sprintf("the configuration is unchanged: %v; the edit "+
				"is kept in %s", err, e.Draft.Path))
			if _, changed := changedOnDisk(r.Config, e.Draft); changed {
				again := CheckDraft(ctx, r.Config, e.Draft, nil)
				r.Mailbox.Put(func(n *News) { n.Edited = &again })
			}
			return
		}
		if err := disk.Remove(e.Draft.Path); err != nil {
			r.Log.Warn("cannot remove a draft of the configuration", "error", err)
		}
		o := r.sendCommand(ctx, city.Reload{})
		failed := o.failed
		if failed != "" {
			failed = "the configuration was written, but the reload failed: " + failed
		}
		// the controller may have applied the file already, so the reload may have changed nothing
		effect := strings.TrimPrefix(o.receipt.Message, "nothing changed: ")
		r.report(e.ID, title, "the configuration was edited: "+effect, failed)
	})
}
