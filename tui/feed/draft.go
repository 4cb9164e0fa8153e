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

// ConfigFile is the city's configuration as the control room edits it: copies of its files, so that nobody applies
// what is half written. A file goes by the name that places have, "teams/one.toml"; "" is the city.toml. Check,
// Plan and Replace are called from one goroutine at a time, and may read files; the others read none.
type ConfigFile interface {
	// Path is where a file is, absolute.
	Path(file string) string
	// Fixed says why a file is not edited from here, and where to change what it says; "" = it may be edited.
	Fixed(file string) string
	// Check says what is wrong with a text in the place of a file, each with its place, and on which of its lines
	// the first is: 0 = none of its own.
	Check(file string, data []byte) (problems []string, line int)
	// Plan says what a text that Check accepts would change now.
	Plan(ctx context.Context, file string, data []byte) (Plan, error)
	// Replace puts a text in the place of the one that was in a file. It fails if that has changed meanwhile.
	Replace(file string, was, now []byte) error
}

// Plan is what a configuration would change, were it in force now.
type Plan struct {
	Changes []Change // an agent each, those that stay as they are too, in any order
	// what else somebody should know before: that it would be held, what is doubtful in it
	Notes []string
}

// Change is what would become of one agent.
type Change struct {
	Agent string
	Pool  string // whose member it is, "" = of none
	// "stop", "fail", "drain", "restart", "start", "wait", "none"; others are shown as they are
	What string
	Why  string // for a person; of a restart the fields that differ
}

// FileLine is where something of the configuration is written.
type FileLine struct {
	File string // "" = the city.toml
	Line int    // 0 = nowhere in particular
}

// Draft is a configuration that is being edited.
type Draft struct {
	File string // of the configuration, "" = the city.toml
	Path string // of the copy
	was  []byte // the file when the copy was made
	Line int    // where to begin, 0 = anywhere
}

func (r *Runner) Discard(d DiscardDraft) {
	r.Spawn("draft", func(context.Context) {
		if err := disk.Remove(d.Path); err != nil {
			r.Log.Warn("a draft of the configuration stays behind", "error", err)
		}
	})
}

// planDeadline bounds the look at what a draft would change.
const planDeadline = 15 * time.Second

// EditDraft lets somebody edit a draft, a new one if there is none, and returns it.
func (r *Runner) EditDraft(ctx context.Context, o Terminal, what Edit) (d *Draft, err error) {
	if d = what.Draft; d == nil {
		if d, err = NewDraft(r.Config, what.At); err != nil {
			return nil, err
		}
	}
	p, err := Editor(ctx, o.Environ, d)
	if err != nil {
		return d, err
	}
	p.Cmd.Stdin = o.In
	return d, lend(ctx, o, p)
}

// Judge says what came of an edit, and of the editor.
func Judge(ctx context.Context, config ConfigFile, d *Draft, failed error) Edited {
	e := Edited{Draft: d, Err: failed}
	var err error
	if e.Data, err = disk.ReadFile(d.Path); err != nil {
		return Edited{Err: errors.Join(failed,
			fmt.Errorf("what was edited cannot be read: %w", err))}
	}
	if bytes.Equal(e.Data, d.was) {
		return Edited{Err: errors.Join(failed, disk.Remove(d.Path))}
	}
	if failed != nil {
		return e
	}
	if e.Problems, e.Line = config.Check(d.File, e.Data); len(e.Problems) > 0 {
		return e
	}
	ctx, cancel := context.WithTimeout(ctx, planDeadline)
	defer cancel()
	if e.Plan, err = config.Plan(ctx, d.File, e.Data); err != nil {
		e.Plan = Plan{Notes: []string{"What it would change cannot be told: " + err.Error()}}
	}
	return e
}

// draftAge is how old a draft has to be that nobody came back to before it is removed.
const draftAge = 7 * 24 * time.Hour

// SweepDrafts removes the drafts of a city's configuration that nobody came back to. What is no plain file, or has
// a name that no draft was given, stays.
func SweepDrafts(dir string) {
	dir = filepath.Join(dir, ".gc")
	entries, _ := disk.ReadDir(dir) // those that could be read
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		number := name[strings.LastIndexByte(name, '-')+1:]
		if !strings.HasPrefix(name, "edit-") || number == "" ||
			strings.Trim(number, "0123456789") != "" || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > draftAge {
			_ = disk.Remove(filepath.Join(dir, e.Name())) // one that cannot be removed is only old
		}
	}
}

// NewDraft copies a file of the configuration into the city's runtime folder, with a name that tells editors and
// people what it is.
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
		return nil, fmt.Errorf("cannot make a copy of the configuration to edit: %w", err)
	}
	_, err = f.Write(was)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot make a copy of the configuration to edit: %w",
			err), disk.Remove(f.Name()))
	}
	return &Draft{File: at.File, Path: f.Name(), was: was, Line: at.Line}, nil
}

// Enforce puts a draft in the configuration's place and has it read.
func (r *Runner) Enforce(e ApplyDraft) {
	r.Spawn("configuration", func(ctx context.Context) {
		res := Result{ID: e.ID, Title: "editing", Total: 1}
		if err := r.Config.Replace(e.Draft.File, e.Draft.was, e.Data); err != nil {
			res.Failures = []string{fmt.Sprintf("the configuration is not changed: %v; the edit "+
				"is kept in %s", err, e.Draft.Path)}
			r.Box.putResult(res)
			return
		}
		if err := disk.Remove(e.Draft.Path); err != nil {
			r.Log.Warn("a draft of the configuration stays behind", "error", err)
		}
		said, failed := r.do(ctx, city.Reload{})
		if failed != "" {
			res.Failures = []string{"the configuration is written, but not in force: " + failed}
		} else {
			res.Receipts = []string{"the configuration is edited: " + said.Message}
		}
		r.Box.putResult(res)
	})
}
