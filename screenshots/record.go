package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gcity/api/client"
	"gcity/beads"
	"gcity/city"
	"gcity/internal/disk"
)

// length is the duration of a recording.
const length = 110 * time.Second

var cues = []struct {
	at time.Duration
	do city.Command
}{
	{6 * time.Second, city.Fire{Automation: "delivery", By: "operator"}},
	{30 * time.Second, city.Nudge{Agent: "scribe", Text: "the wind has taken the vane"}},
	{62 * time.Second, city.Release{Agent: "acrobat"}},
}

type recorder struct {
	city *client.Client
	wg   sync.WaitGroup

	mu    sync.Mutex
	tape  recording
	known map[string]bool
	err   error
}

func record(ctx context.Context, bin, demo, file string) (err error) {
	box, err := os.MkdirTemp("", "demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(box)) }()
	folder := filepath.Join(box, "demo")
	if err := os.CopyFS(folder, os.DirFS(demo)); err != nil {
		return err
	}
	ctl := exec.CommandContext(ctx, bin, "--headless", "--city", folder)
	ctl.Env = environ("PATH=/usr/local/bin:/usr/bin:/bin", "HOME="+box, "GCITY_TRUST=all")
	ctl.Cancel = func() error { return ctl.Process.Signal(syscall.SIGTERM) }
	if err := ctl.Start(); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, ctl.Process.Signal(syscall.SIGTERM), ctl.Wait())
	}()
	client, err := dial(ctx, folder)
	if err != nil {
		return err
	}
	defer client.Close()
	r := &recorder{city: client, known: map[string]bool{}}
	if err := r.listen(ctx); err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	clean, err := r.tape.anonymous(folder, "/srv/demo", box, "/home/you", `"host":"`+host+`"`,
		`"host":"devbox"`)
	if err != nil {
		return err
	}
	return clean.save(file)
}

func dial(ctx context.Context, folder string) (*client.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		path, err := disk.SocketPath(filepath.Join(folder, ".gc", "controller.sock"))
		if err != nil {
			return nil, err
		}
		client, err := client.Dial(path)
		if err == nil {
			return client, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the demo city did not start: %w", err)
		case <-again.C:
		}
	}
}

func (r *recorder) listen(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	r.tape = recording{Began: time.Now(), Frames: map[string][]timedFrame{},
		Words: map[string][]words{}, Runs: map[string][]printed{},
		About: map[string][]timedEvent[*about]{}}
	r.wg.Go(func() { r.states(ctx) })
	r.wg.Go(func() { r.events(ctx) })
	r.wg.Go(func() { r.work(ctx) })
	r.wg.Go(func() { r.cues(ctx) })
	r.wg.Wait()
	r.tape.Ended = time.Now()
	return r.err
}

func (r *recorder) note(f func(t *recording, at time.Time)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.tape, time.Now())
}

func (r *recorder) fail(ctx context.Context, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() == nil && r.err == nil {
		r.err = err
	}
}

func (r *recorder) states(ctx context.Context) {
	for s, err := range r.city.Snapshots(ctx) {
		if err != nil {
			r.fail(ctx, err)
			return
		}
		r.note(func(t *recording, at time.Time) {
			t.States = append(t.States, timedEvent[*state]{at, s})
		})
		for _, a := range s.Agents {
			if a.Session != nil && r.first(a.Session.ID) {
				r.wg.Go(func() { r.terminal(ctx, a.Name) })
			}
			if r.first(a.Name) {
				r.wg.Go(func() { r.about(ctx, a.Name) })
			}
		}
		for _, a := range s.Automations {
			if a.Last != nil && a.Last.ID != "" && r.first(a.Last.ID) {
				r.wg.Go(func() { r.run(ctx, a.Last.ID) })
			}
		}
	}
}

func (r *recorder) first(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[id]
	r.known[id] = true
	return !known
}

func (r *recorder) events(ctx context.Context) {
	for e, err := range r.city.Events(ctx, 0) {
		if err != nil {
			r.fail(ctx, err)
			return
		}
		r.note(func(t *recording, _ time.Time) { t.Events = append(t.Events, e) })
		if strings.HasPrefix(e.Type, "agent.") {
			r.wg.Go(func() { r.about(ctx, e.Subject) })
		}
	}
}

func (r *recorder) work(ctx context.Context) {
	var before []work
	for _, err := range r.city.Events(ctx, 0) {
		if err != nil {
			r.fail(ctx, err)
			return
		}
		all, err := r.city.Beads(ctx, beads.Query{Limit: -1})
		if err != nil {
			r.fail(ctx, err)
			return
		}
		if !slices.EqualFunc(before, all, work.Same) {
			before = all
			r.note(func(t *recording, at time.Time) {
				t.Work = append(t.Work, timedEvent[[]work]{at, all})
			})
		}
	}
}

func (r *recorder) terminal(ctx context.Context, agent string) {
	end := timedFrame{End: true}
	for f, err := range r.city.Watch(ctx, agent) {
		if err != nil {
			end.Why = err.Error()
			break
		}
		f.Data = slices.Clone(f.Data)
		r.note(func(t *recording, at time.Time) {
			t.Frames[agent] = append(t.Frames[agent], timedFrame{At: at, Frame: f})
		})
	}
	if ctx.Err() != nil {
		return
	}
	last, err := r.city.Output(ctx, agent, 500)
	r.note(func(t *recording, at time.Time) {
		end.At = at
		t.Frames[agent] = append(t.Frames[agent], end)
		if err == nil {
			t.Words[agent] = append(t.Words[agent], words{at, last})
		}
	})
}

func (r *recorder) about(ctx context.Context, agent string) {
	a, err := r.city.Inspect(ctx, agent)
	if err != nil {
		return // the agent was removed in the meantime
	}
	r.note(func(t *recording, at time.Time) {
		t.About[agent] = append(t.About[agent], timedEvent[*about]{at, a})
	})
}

func (r *recorder) run(ctx context.Context, id string) {
	for p, err := range r.city.RunOutput(ctx, id) {
		if err != nil {
			break
		}
		r.note(func(t *recording, at time.Time) {
			t.Runs[id] = append(t.Runs[id], printed{At: at, Piece: p})
		})
	}
	if ctx.Err() == nil {
		r.note(func(t *recording, at time.Time) {
			t.Runs[id] = append(t.Runs[id], printed{At: at, End: true})
		})
	}
}

func (r *recorder) cues(ctx context.Context) {
	for _, c := range cues {
		timer := time.NewTimer(time.Until(r.tape.Began.Add(c.at)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		body, err := city.Encode(c.do)
		if err != nil {
			r.fail(ctx, err)
			return
		}
		receipt, err := r.city.Do(ctx, c.do)
		if err != nil {
			r.fail(ctx, fmt.Errorf("%s %s: %w", c.do.Verb(), c.do.Target(), err))
			return
		}
		r.note(func(t *recording, at time.Time) {
			t.Said = append(t.Said, sentCommand{at, c.do.Verb(), c.do.Target(), body, receipt})
		})
	}
}
