package mixed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/disk"
	"gcity/session"
)

// MarksFile, in the city's .gc folder, names the providers besides the home that may hold sessions, one a line.
const MarksFile = "session-providers"

func readMarks(dir string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, MarksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("which session providers are in use cannot be read: %w", err)
	}
	var names []string
	for line := range strings.Lines(string(data)) {
		name := strings.TrimRight(line, "\n")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// mark writes down that a provider is in use, before it is.
func (p *Provider) mark(m *member) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.starts++
	m.gen++
	if m.inUse {
		return nil
	}
	m.inUse = true
	if err := p.writeMarks(); err != nil {
		m.inUse = false
		m.starts--
		return fmt.Errorf("that the session provider %s is in use cannot be written down: %w", m.name, err)
	}
	m.listed = true // it held none: whatever it will have comes by us
	return nil
}

// unmark is for a provider that a look at its gen has found empty. It is told first, and the mark goes after: a successor
// of a controller that dies between the two looks there again.
func (p *Provider) unmark(ctx context.Context, m *member, q session.Provider, gen int) {
	idle := func() bool {
		return m.name != p.o.Home && m.inUse && m.starts == 0 && m.gen == gen && !p.o.Observe
	}
	p.mu.Lock()
	now := idle()
	p.mu.Unlock()
	if !now {
		return
	}
	if d, ok := q.(session.Dismisser); ok {
		if err := d.Dismiss(ctx); err != nil {
			p.o.Logger.Warn("a session provider that is in use no more cannot be let go of", "provider", m.name, "err", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !idle() {
		return
	}
	m.inUse = false
	if err := p.writeMarks(); err != nil {
		m.inUse = true
		p.o.Logger.Warn("that a session provider is in use no more cannot be written down", "provider", m.name, "err", err)
	}
}

// writeMarks writes who is in use. Under p.mu.
func (p *Provider) writeMarks() error {
	if p.o.Observe {
		return errors.New("who only looks on starts nothing")
	}
	var b strings.Builder
	for _, m := range p.order {
		if m.inUse && m.name != p.o.Home {
			b.WriteString(m.name + "\n")
		}
	}
	path := filepath.Join(p.o.Dir, MarksFile)
	if b.Len() == 0 {
		err := os.Remove(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	return disk.WriteFile(path, []byte(b.String()), 0o600)
}
