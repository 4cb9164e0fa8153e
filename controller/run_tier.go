package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/mail"
	"gcity/watchdog"
)

// commandLimit is how long an escalate_command may take.
const commandLimit = time.Minute

// runTier begins an effect about watchdogs; not ok for any other.
func (r *runner) runTier(f effect) (ok bool) {
	switch f := f.(type) {
	case fxHeartbeat:
		r.within(muteLimit+time.Second, func(ctx context.Context) input { return r.heartbeat(ctx, f) })
	case fxEscalate:
		r.within(storeLimit+commandLimit, func(ctx context.Context) input { return r.escalate(ctx, f) })
	default:
		return false
	}
	return true
}

// heartbeat reads a heartbeat's file, which may be anything, anywhere, and need not answer.
func (r *runner) heartbeat(ctx context.Context, f fxHeartbeat) input {
	in := inHeartbeat{tier: f.tier, path: f.path}
	var (
		beat watchdog.Heartbeat
		read bool
		err  error
	)
	if !r.aside(ctx, "heartbeat of "+f.tier+" "+f.path, muteLimit, func() func() {
		at, ok, failed := readHeartbeat(f.path)
		return func() { beat, read, err = at, ok, failed }
	}) {
		err = errMute
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		in.problem, in.unread = fmt.Sprintf("its heartbeat, %s, %v", r.below(f.path), err), !read
	default:
		in.stamp, in.agents = beat.Stamp, beat.Agents
	}
	return in
}

// below is a path as a person of this city would write it.
func (r *runner) below(path string) string {
	if rel, err := filepath.Rel(r.c.o.Dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// tornAgain is how long after a heartbeat that makes no sense it is read again: whoever writes it may be about to.
const tornAgain = 100 * time.Millisecond

// readHeartbeat reads a heartbeat. One that is not written in one step may be met half done. read: what lies there was seen,
// whether or not it makes sense.
func readHeartbeat(path string) (beat watchdog.Heartbeat, read bool, err error) {
	for try := range 3 {
		if try > 0 {
			time.Sleep(tornAgain)
		}
		var data []byte
		if data, err = readBeat(path); err != nil {
			return beat, false, err
		}
		if beat, err = watchdog.Parse(data); err == nil || len(data) > watchdog.MaxHeartbeat {
			break
		}
	}
	return beat, true, err
}

func readBeat(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, unreadable(err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, watchdog.MaxHeartbeat+1))
	if err != nil {
		return nil, unreadable(err)
	}
	return data, nil
}

func unreadable(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// write puts a brief where its triage looks for it.
func (b *brief) write() error {
	if err := disk.MkdirAll(filepath.Dir(b.path), 0o700); err != nil {
		return fmt.Errorf("the facts of its beat cannot be written: %w", err)
	}
	if err := disk.Replace(b.path, b.data, 0o600); err != nil {
		return fmt.Errorf("the facts of its beat cannot be written: %w", err)
	}
	return nil
}

// escalate sends mail, and runs a command. The one does not wait for the other to succeed.
func (r *runner) escalate(ctx context.Context, f fxEscalate) input {
	in := inEscalated{tier: f.tier, call: f.call, ran: f.command != ""}
	in.events, in.err = r.write(ctx, f)
	if f.command == "" {
		return in
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandLimit, fmt.Errorf("it had not ended after %s", commandLimit))
	defer cancel()
	dir, env, err := agent.Place(f.in, "", r.c.o.Host)
	var res shell.Result
	if err == nil {
		env = append(append(env, f.env...), "GC_RUN="+r.c.o.Dir+":"+rand.Text())
		res, err = shell.Run(ctx, shell.Line{Text: f.command, Dir: dir, Env: env})
	}
	in.output = screen.Excerpt(res.Output)
	switch {
	case ctx.Err() != nil:
		in.failed = context.Cause(ctx).Error()
	case err != nil:
		in.failed = err.Error()
	case res.Code < 0:
		in.failed = "it was ended by a signal"
	case res.Code > 0:
		in.failed = fmt.Sprintf("exit %d", res.Code)
	}
	return in
}

func (r *runner) write(ctx context.Context, f fxEscalate) (told []events.Event, problem string) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	to, err := r.c.snap.Load().Address(f.to)
	if err != nil {
		return nil, err.Error()
	}
	letter := mail.Message{From: f.from, To: to, Subject: f.subject, Text: f.text}
	if err := mail.Check(letter); err != nil {
		return nil, err.Error()
	}
	in, ok := r.bead(ctx, fxBead{cmd: city.CreateBead{Bead: mail.New(letter)}}).(inBead)
	if ok && in.err != nil {
		return nil, in.err.Message
	}
	return in.events, ""
}
