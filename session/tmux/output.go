package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/internal/screen"
	"gcity/session"
	"gcity/session/registry"
)

// bytes kept of a session's output
const maxOutput = 256 << 10

func clip(lines string) []byte {
	lines = strings.TrimRight(lines, "\n")
	if over := len(lines) - maxOutput; over > 0 {
		lines = lines[over:]
		_, lines, _ = strings.Cut(lines, "\n")
	}
	return bytes.ReplaceAll([]byte(lines), []byte("\n"), []byte("\r\n"))
}

// Output implements session.Provider. It returns an ended session's output until the next start.
func (p *Provider) Output(ctx context.Context, name string, lines int) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	const verb = "read the output of"
	e := p.reg.Find(name)
	if e == nil {
		return "", missing(verb, name)
	}
	e.mu.Lock()
	rec, known, x := e.rec, e.known, e.exit
	e.mu.Unlock()
	if !known {
		return "", missing(verb, name)
	}
	if x == nil || p.files.observe {
		out, err := p.tmux.capture(ctx, &rec, lines)
		if !isGone(err) {
			return out, explain(verb, name, err)
		}
	}
	raw, err := disk.ReadFile(p.files.path(name, outputFile(rec.ID)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fail(verb, name, session.ErrNotFound, "the output of the last session is no "+
			"longer available")
	}
	if err != nil {
		return "", fmt.Errorf("cannot %s %q: %w", verb, name, err)
	}
	cols, rows := rec.Cols, rec.Rows
	if x != nil && x.Cols > 0 && x.Rows > 0 {
		cols, rows = x.Cols, x.Rows
	}
	return screen.Text(raw, cols, rows, lines), nil
}

func (c *client) capture(ctx context.Context, rec *record, lines int) (string, error) {
	args := []string{"display-message", "-p", "-t", rec.target(), "#{pane_width} #{pane_height}",
		";",
		"capture-pane", "-p", "-e", "-t", rec.target()}
	if lines > 0 {
		args = append(args, "-S", strconv.Itoa(-lines))
	}
	out, err := c.run(ctx, nil, args...)
	if err != nil {
		return "", err
	}
	size, text, _ := strings.Cut(out, "\n")
	w, h, _ := strings.Cut(size, " ")
	return screen.Text(clip(text), max(1, number(w)), max(1, number(h)), lines), nil
}

// Capture implements session.Capturer. It returns at most the last 256 KiB.
func (p *Provider) Capture(ctx context.Context, name, id string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	const verb = "read the output of"
	e := p.reg.Find(name)
	if e == nil {
		return nil, missing(verb, name)
	}
	if rec, alive := e.life(); alive && rec.ID == id {
		out, err := p.tmux.run(ctx, nil, "capture-pane", "-p", "-e", "-S", "-", "-t", rec.target())
		if !isGone(err) {
			return clip(out), explain(verb, name, err)
		}
	}
	raw, err := disk.ReadFile(p.files.path(name, outputFile(id)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fail(verb, name, session.ErrNotFound, "the output of this session is no "+
			"longer available")
	}
	return raw, err
}

// Acknowledge implements session.Acknowledger. After a requested stop, it removes the session's folder.
func (p *Provider) Acknowledge(ctx context.Context, name, id string) error {
	e := p.reg.Find(name)
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	release, err := e.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	e.mu.Lock()
	rec, x := e.rec, e.exit
	known := e.known
	e.mu.Unlock()
	if !known || rec.ID != id || x == nil || x.Acked {
		return nil
	}
	fd, err := proc.Lock(p.files.path(name, startFile), time.Now().Add(lockTimeout))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot clean up after %q: %w", name, err)
	}
	if err == nil {
		defer proc.Close(fd)
	}
	acked := *x
	acked.Acked = true
	// if the ID has changed, another process has started a new session
	if now, _, err := p.files.recall(name); err == nil && now.ID == id {
		if x.Asked {
			p.files.removeFolder(name)
		} else if err := writeJSON(p.files.path(name, exitFile), &acked); err != nil {
			return fmt.Errorf("cannot record that the exit of %q was acknowledged: %w", name, err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.exit = &acked
	return nil
}

// SetMeta implements session.Marker.
func (p *Provider) SetMeta(ctx context.Context, name, key, value string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, rec, err := p.living("mark", name)
	if err != nil {
		return err
	}
	args := []string{"set-option", "-p", "-t", rec.target(), option(key), encodeMark(value)}
	if value == "" {
		args = []string{"set-option", "-p", "-u", "-t", rec.target(), option(key)}
	}
	_, err = p.tmux.run(ctx, nil, args...)
	return explain("mark", name, err)
}

// Meta implements session.Marker.
func (p *Provider) Meta(ctx context.Context, name, key string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	_, rec, err := p.living("read a mark of", name)
	if err != nil {
		return "", err
	}
	out, err := p.tmux.run(ctx, nil, "show-options", "-p", "-v", "-q", "-t", rec.target(),
		option(key))
	return decodeMark(strings.TrimSuffix(out, "\n")), explain("read a mark of", name, err)
}

// Usage implements session.Meter.
func (p *Provider) Usage(ctx context.Context) (map[string]session.Usage, error) {
	if p.ctx.Err() != nil {
		return nil, registry.ErrClosed
	}
	roots := make(map[int]proc.Root)
	all := make(map[string]session.Usage)
	names := make(map[int]string)
	for _, e := range p.reg.All() {
		if rec, ok := e.life(); ok && rec.lives(p.files.boot) {
			roots[rec.PID], names[rec.PID] = proc.Root{Start: rec.Start}, e.name
		}
	}
	trees, err := proc.WholeTrees(ctx, roots)
	if err != nil {
		return nil, fmt.Errorf("cannot measure the resource usage of the sessions: %w", err)
	}
	for pid, t := range trees {
		all[names[pid]] = session.Usage(t)
	}
	return all, nil
}
