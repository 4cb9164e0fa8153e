package tmux

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/registry"
)

type pane struct {
	id         string
	pid        int
	dead       bool
	cols, rows int
	activity   time.Time // of the pane's last output, in whole seconds
	marks      map[string]string
}

type viewers struct {
	count int
	typed time.Time
}

type snapshot struct {
	// by tmux session name; a user of tmux can add panes to an agent's session
	panes   map[string][]pane
	viewers map[string]viewers
}

func statusMarks() []string {
	return []string{session.ReadyMark, session.DrainMark, session.DrainByMark, session.DrainAckMark}
}

// List implements session.Provider. It calls tmux once.
func (p *Provider) List(ctx context.Context) ([]session.Status, error) {
	if p.ctx.Err() != nil {
		return nil, registry.ErrClosed
	}
	suspects, err := p.refresh(ctx)
	if err != nil {
		return nil, err
	}
	for _, e := range suspects {
		rec, _ := e.life()
		p.reg.Async(func() { p.recordEnd(e, rec.ID, true) })
	}
	entries := p.reg.All()
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.name, b.name) })
	list := make([]session.Status, 0, len(entries))
	for _, e := range entries {
		if st, ok := e.status(); ok {
			list = append(list, st)
		}
	}
	return list, nil
}

func (p *Provider) refresh(ctx context.Context) (suspects []*entry, err error) {
	select {
	case <-p.looking:
		defer func() { p.looking <- struct{}{} }()
	case <-ctx.Done():
		return nil, fmt.Errorf("cannot list the sessions: an earlier call is still in progress: %w",
			context.Cause(ctx))
	}
	if err := p.tmux.checkMoved(); err != nil {
		return nil, fmt.Errorf("cannot list the sessions: %w", err)
	}
	// scan first: a recorded session that is missing in the later snapshot has ended
	if err := p.scan(); err != nil {
		return nil, err
	}
	entries := p.reg.All()
	if len(entries) == 0 {
		return nil, nil
	}
	v, err := p.snapshot(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot list the sessions: %w", err)
	}
	for _, e := range entries {
		if p.compare(e, v) {
			suspects = append(suspects, e)
		}
	}
	return suspects, nil
}

func (p *Provider) scan() error {
	info, err := disk.Lstat(p.files.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list the sessions: %w", err)
	}
	if p.scanned.Equal(info.ModTime()) {
		return nil
	}
	folders, err := disk.ReadDir(p.files.dir)
	if err != nil {
		return fmt.Errorf("cannot read the sessions' folder: %w", err)
	}
	unstarted := false
	for _, f := range folders {
		if !f.IsDir() || p.reg.Find(f.Name()) != nil {
			continue
		}
		rec, x, err := p.files.recall(f.Name())
		if proc.Exhausted(err) {
			return fmt.Errorf("cannot read the sessions' records: %w", err)
		}
		if err != nil {
			unstarted = unstarted || !p.files.clearUnstarted(f.Name())
			continue
		}
		e := p.reg.Entry(f.Name())
		e.begin(rec, x)
		p.files.noteRequest(e)
		p.noteServer(p.files.serverOf(&rec))
		p.watch(e)
	}
	if !unstarted {
		p.scanned = info.ModTime()
	}
	return nil
}

const fieldSep = "|"

// snapshot asks tmux for one session, or for all if rec is nil. Without a server, the result is empty.
func (p *Provider) snapshot(ctx context.Context, rec *record) (snapshot, error) {
	panes, clients := []string{"list-panes", "-a"}, []string{"list-clients"}
	if rec != nil {
		session := "=" + mangle(rec.Name)
		panes, clients = []string{"list-panes", "-s", "-t", session},
			[]string{"list-clients", "-t", session}
	}
	v := snapshot{panes: map[string][]pane{}, viewers: map[string]viewers{}}
	format := []string{"p", "#{pane_id}", "#{pane_pid}", "#{pane_dead}", "#{pid}",
		"#{window_width}", "#{window_height}", "#{window_activity}"}
	for _, key := range statusMarks() {
		format = append(format, "#{"+option(key)+"}")
	}
	format = append(format, "#{session_name}")
	client := []string{"c", "#{client_control_mode}", "#{client_readonly}", "#{client_created}",
		"#{client_activity}", "#{session_name}"}
	panes = append(panes, "-F", strings.Join(format, fieldSep), ";")
	out, err := p.tmux.run(ctx, nil, slices.Concat(panes, clients,
		[]string{"-F", strings.Join(client, fieldSep)})...)
	if isGone(err) {
		return v, nil
	}
	if err != nil {
		return v, err
	}
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), fieldSep)
		switch {
		case fields[0] == "p" && len(fields) == len(format):
			name := fields[len(fields)-1]
			v.panes[name] = append(v.panes[name], readPane(fields))
			p.noteServer(number(fields[4]))
		case fields[0] == "c" && len(fields) == len(client) && fields[1] == "0" && fields[2] == "0":
			w := v.viewers[fields[5]]
			w.count++
			if typed := number(fields[4]); typed > number(fields[3]) {
				w.typed = latest(time.Now(), w.typed, time.Unix(int64(typed), 0))
			}
			v.viewers[fields[5]] = w
		}
	}
	return v, nil
}

func readPane(f []string) pane {
	out := pane{
		id: f[1], pid: number(f[2]), dead: f[3] == "1", cols: number(f[5]),
		rows:  number(f[6]),
		marks: map[string]string{},
	}
	if at := number(f[7]); at > 0 {
		out.activity = time.Unix(int64(at), 0)
	}
	for i, key := range statusMarks() {
		if v := decodeMark(f[8+i]); v != "" {
			out.marks[key] = v
		}
	}
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// paneIn returns the agent's pane. ok is false if it is not one of these.
func (r *record) paneIn(panes []pane) (own pane, ok bool) {
	i := slices.IndexFunc(panes, func(q pane) bool { return q.id == r.Pane && q.pid == r.PID })
	if i < 0 {
		return pane{}, false
	}
	return panes[i], true
}

// compare updates a session from a snapshot. suspect means that the session seems to have ended. For an observer,
// compare records the exit immediately instead.
func (p *Provider) compare(e *entry, v snapshot) (suspect bool) {
	name := mangle(e.name)
	rec, alive := e.life()
	shown, mine := rec.paneIn(v.panes[name])
	if !mine && slices.ContainsFunc(v.panes[name], func(q pane) bool { return !q.dead }) {
		rec, alive = p.reload(e)
		shown, mine = rec.paneIn(v.panes[name])
	}
	if !alive {
		if mine && shown.dead && !p.files.observe {
			p.reg.Async(func() { p.tmux.remove(p.ctx, &rec) })
		}
		return false
	}
	if mine && !shown.dead && !rec.died(p.files.boot) {
		p.files.forgetRequest(e)
		e.mu.Lock()
		shrunk := e.rec.ID == rec.ID && v.viewers[name].count == 0 && e.ownViewers == 0 &&
			(shown.cols != rec.Cols || shown.rows != rec.Rows)
		e.pane, e.views = shown, v.viewers[name]
		e.mu.Unlock()
		if shrunk && !p.files.observe {
			p.reg.Async(func() { p.resize(&rec) })
		}
		return false
	}
	if p.files.observe {
		x := p.files.lost(&rec)
		if mine {
			x = p.tmux.presumedEnd(p.ctx, &rec)
		}
		e.finish(rec.ID, x)
		return false
	}
	return true
}

func (p *Provider) reload(e *entry) (rec record, alive bool) {
	release, ok := e.lock.TryLock()
	if !ok {
		return e.life()
	}
	defer release()
	if rec, x, err := p.files.recall(e.name); err == nil {
		e.begin(rec, x)
		p.watch(e)
	}
	return e.life()
}

func option(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
	}
	if strings.IndexFunc(key, func(r rune) bool { return !plain(r) }) < 0 {
		return "@gc-" + key
	}
	return fmt.Sprintf("@gx-%x", key)
}

// tmux neither expands nor truncates the result
func encodeMark(value string) string { return "=" + url.QueryEscape(value) }

func decodeMark(s string) string {
	rest, ok := strings.CutPrefix(s, "=")
	if !ok {
		return ""
	}
	value, err := url.QueryUnescape(rest)
	if err != nil {
		return ""
	}
	return value
}

// Look implements session.Looker. It calls tmux at most once.
func (p *Provider) Look(ctx context.Context, name string) (session.Status, error) {
	const verb = "look at"
	if p.ctx.Err() != nil {
		return session.Status{}, registry.ErrClosed
	}
	e := p.reg.Find(name)
	if e == nil {
		return session.Status{}, missing(verb, name)
	}
	if rec, alive := e.life(); alive {
		v, err := p.snapshot(ctx, &rec)
		if err != nil {
			return session.Status{}, fmt.Errorf("cannot %s %q: %w", verb, name, err)
		}
		if p.compare(e, v) {
			p.reg.Async(func() { p.recordEnd(e, rec.ID, true) })
		}
	}
	st, ok := e.status()
	if !ok {
		return st, missing(verb, name)
	}
	return st, nil
}
