package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/session"
)

const version = 1

type record struct {
	Version int       `json:"version"`
	Name    string    `json:"name"` // "" = no session
	Agent   string    `json:"agent"`
	City    string    `json:"city"`
	ID      string    `json:"id"`
	Boot    string    `json:"boot"`
	Started time.Time `json:"started"`
	Cols    int       `json:"cols"`
	Rows    int       `json:"rows"`
	Idle    bool      `json:"idle,omitempty"` // the session has an idle timeout
	// processes of the session have been seen on this machine
	Local bool `json:"local,omitempty"`
	Asked bool `json:"asked,omitempty"` // a stop has been requested
	// the next controller undoes a start that is not complete
	Starting    bool                `json:"starting,omitempty"`
	Marks       map[string]string   `json:"marks,omitempty"`
	Fingerprint session.Fingerprint `json:"fingerprint"`
	Exit        *session.Exit       `json:"exit,omitempty"`
}

func newRecord(s *session.Spec, boot string) record {
	r := record{
		Version: version, Name: s.Name, Agent: s.Agent, City: s.City, ID: s.ID, Boot: boot,
		Started: time.Now(),
		Cols:    s.Cols, Rows: s.Rows, Idle: s.Idle, Marks: map[string]string{},
		Fingerprint: s.Fingerprint,
	}
	if r.Cols < 1 || r.Rows < 1 {
		r.Cols, r.Rows = 80, 24
	}
	if !session.NeedsSettling(s) {
		r.Marks[session.ReadyMark] = "1"
	}
	return r
}

func (r record) with(key, value string) record {
	r.Marks = maps.Clone(r.Marks)
	if r.Marks == nil {
		r.Marks = map[string]string{}
	}
	if r.Marks[key] = value; value == "" {
		delete(r.Marks, key)
	}
	return r
}

func (p *Provider) path(name string) string { return filepath.Join(p.o.Dir, name+".json") }

func (p *Provider) write(r record) error { return p.save(r, disk.Replace) }

// save writes a record. The record of a new session must be synced: a power failure could otherwise leave an empty
// file, and the provider could not be opened.
func (p *Provider) save(r record,
	replace func(path string, data []byte, perm fs.FileMode) error) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := replace(p.path(r.Name), append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot write its record: %w", err)
	}
	return nil
}

func (p *Provider) remove(name string) error {
	if err := disk.RemoveAny(p.path(name)); err != nil {
		return fmt.Errorf("cannot remove the record of %q: %w", name, err)
	}
	return nil
}

// readRecords fails if it cannot read a record, because gcity could otherwise start that session again.
func readRecords(dir string) ([]record, error) {
	files, err := disk.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the records of the script's sessions: %w", err)
	}
	var all []record
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok || strings.HasPrefix(name, ".") {
			continue
		}
		data, err := disk.ReadFile(filepath.Join(dir, f.Name()))
		var r record
		if err == nil {
			err = json.Unmarshal(data, &r)
		}
		if err == nil && (r.Version != version || r.Name != name || r.ID == "") {
			err = fmt.Errorf("its version (%d), its session name (%q) or its ID is invalid",
				r.Version, r.Name)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot use the session record %s: %w; stop the session "+
				"and remove the file", filepath.Join(dir, f.Name()), err)
		}
		all = append(all, r)
	}
	return all, nil
}

// SetMeta implements session.Marker.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	e, release, err := p.lock(ctx, name)
	if err != nil {
		return err
	}
	defer release()
	ctx, done := p.yielding(ctx, name, e)
	defer done()
	if _, err := p.living("mark", name); err != nil {
		return err
	}
	if value == "" {
		err = p.do(ctx, action{"mark", "remove-meta"}, name, []string{key}, nil)
	} else {
		err = p.do(ctx, action{"mark", "set-meta"}, name, []string{key}, []byte(value))
	}
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	next := e.rec.with(key, value)
	if err := p.write(next); err != nil {
		return fmt.Errorf("cannot set a mark of %q: %w", name, err)
	}
	e.rec = next
	return nil
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	e, err := p.living("read a mark of", name)
	if err != nil {
		return "", err
	}
	out, known, err := p.call(ctx, "get-meta", name, []string{key}, nil)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read a mark of %q: %w", name, err)
	case known:
		return strings.TrimSuffix(string(out), "\n"), nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.rec.Marks[key], nil
}

func commonPrefix(names []string) string {
	if len(names) == 0 {
		return ""
	}
	first, last := slices.Min(names), slices.Max(names)
	n := 0
	for n < len(first) && n < len(last) && first[n] == last[n] {
		n++
	}
	return first[:n]
}
