package mixed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
)

// MarksFile is the file in the .gc folder that names the providers that might have sessions, except the default one.
const MarksFile = "session-providers"

var errDamaged = errors.New("the file is damaged")

// Marks returns the providers in the marks file of a city's .gc folder. If the file is damaged, it returns the readable
// names and an error.
func Marks(dir string) (names []string, err error) {
	data, err := disk.ReadFile(filepath.Join(dir, MarksFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the list of session providers in use: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		name, whole := strings.CutSuffix(line, "\n")
		switch {
		case !whole || !isName(name):
			err = fmt.Errorf("%s: %w", disk.Real(filepath.Join(dir, MarksFile)), errDamaged)
		case name != "" && !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, err
}

func isName(name string) bool {
	if _, path, ok := session.External(name); ok {
		return path != "" && utf8.ValidString(path) &&
			!strings.ContainsFunc(path, unicode.IsControl)
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}

// recover replaces a damaged marks file. The new file marks every provider that might have sessions, so that no running
// agent is started again.
func (p *Provider) recover(legible []string, damage error) ([]string, error) {
	_, unsafe := errors.AsType[*disk.UnsafeError](damage)
	if p.o.FindProviders == nil || !unsafe && !errors.Is(damage, errDamaged) {
		return nil, damage
	}
	names := append(legible, p.o.FindProviders()...)
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == p.o.DefaultProvider
	})
	if p.o.Observe {
		return names, nil
	}
	path := filepath.Join(p.o.Dir, MarksFile)
	aside, err := disk.SetAside(path)
	if err != nil {
		return nil, fmt.Errorf("%w; cannot move the file aside: %w", damage, err)
	}
	p.o.Logger.Warn("the record of session providers is damaged; listing all sessions",
		"reason", damage, "kept", disk.Real(aside), "asked", names)
	if len(names) > 0 {
		err = disk.Save(path, []byte(strings.Join(names, "\n")+"\n"), 0o600)
	}
	return names, err
}

// mark does not hold p.mu during the write, so that lookups need not wait for the disk.
func (p *Provider) mark(ctx context.Context, m *member) error {
	p.mu.Lock()
	m.starts++
	m.gen++
	marked := m.marked
	p.mu.Unlock()
	if marked {
		return nil
	}
	err := p.update(ctx, func() (change bool, done func(error)) {
		if m.marked {
			return false, nil
		}
		listed := m.listed
		// an unmarked provider has no sessions, so p.held is complete
		m.inUse, m.listed = true, true
		return true, func(err error) {
			if m.marked = err == nil; !m.marked {
				m.inUse, m.listed = false, listed
			}
		}
	})
	if err == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.starts--
	if proc.Exhausted(err) {
		err = session.Exhausted(err)
	}
	return fmt.Errorf("cannot record that the session provider %s is in use: %w", m.name,
		err)
}

// The mark is removed last, so that the next controller still lists the provider if this one dies.
func (p *Provider) unmark(ctx context.Context, m *member, q session.Provider, gen int) {
	idle := func() bool {
		return m.name != p.o.DefaultProvider && m.inUse && m.starts == 0 && m.gen == gen &&
			!p.o.Observe
	}
	p.mu.Lock()
	now := idle()
	p.mu.Unlock()
	if !now {
		return
	}
	if d, ok := q.(session.Dismisser); ok {
		if err := d.Dismiss(ctx); err != nil {
			p.o.Logger.Warn("cannot shut down an unused session provider",
				"provider", m.name, "err", err)
		}
	}
	err := p.update(ctx, func() (change bool, done func(error)) {
		if !idle() {
			return false, nil
		}
		m.inUse, m.marked = false, false
		return true, func(err error) { m.inUse = m.inUse || err != nil }
	})
	if err != nil {
		p.o.Logger.Warn("cannot record that a session provider is unused",
			"provider", m.name, "err", err)
	}
}

// update holds p.mu during change and done, but not during the write. Only one write runs at a time.
func (p *Provider) update(ctx context.Context,
	change func() (change bool, done func(error))) error {
	select {
	case p.writeToken <- struct{}{}:
		defer func() { <-p.writeToken }()
	case <-ctx.Done():
		return fmt.Errorf("an earlier write is still in progress: %w", context.Cause(ctx))
	}
	p.mu.Lock()
	changed, done := change()
	text := p.marks()
	p.mu.Unlock()
	if !changed {
		return nil
	}
	err := p.writeMarks(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	done(err)
	return err
}

// The caller must hold p.mu.
func (p *Provider) marks() string {
	var b strings.Builder
	for _, m := range p.order {
		if m.inUse && m.name != p.o.DefaultProvider {
			b.WriteString(m.name + "\n")
		}
	}
	return b.String()
}

func (p *Provider) writeMarks(text string) error {
	if p.o.Observe {
		return errors.New("a read-only provider cannot start sessions")
	}
	path := filepath.Join(p.o.Dir, MarksFile)
	if text == "" {
		return disk.RemoveAny(path)
	}
	return disk.Save(path, []byte(text), 0o600)
}
