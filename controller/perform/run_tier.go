package perform

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
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/mail"
	"gcity/watchdog"
)

const commandLimit = time.Minute

func (r *Runner) runTier(f effect.Effect) (ok bool) {
	switch f := f.(type) {
	case effect.ReadHeartbeat:
		start(r.base, hungLimit+time.Second, f, r.heartbeat)
	case effect.Escalate:
		start(r.base, storeLimit+commandLimit, f, r.escalate)
	default:
		return false
	}
	return true
}

// The path can name any kind of file, so the read can block forever.
func (r *Runner) heartbeat(ctx context.Context, f effect.ReadHeartbeat) effect.Input {
	in := effect.HeartbeatRead{Tier: f.Tier, Path: f.Path}
	type result struct {
		watchdog.Heartbeat
		read bool
		err  error
	}
	beat, ok := inBackground(ctx, r.base, "heartbeat of "+f.Tier+" "+f.Path, hungLimit,
		func() (b result) {
			b.Heartbeat, b.read, b.err = readHeartbeat(f.Path)
			return b
		})
	if !ok {
		beat.err = errUnresponsive
	}
	switch {
	case errors.Is(beat.err, fs.ErrNotExist):
	case beat.err != nil:
		in.Problem, in.ReadFailed = fmt.Sprintf("its heartbeat, %s, %v", below(r.w.Dir, f.Path),
			beat.err),
			!beat.read
	default:
		in.Stamp, in.Agents = beat.Stamp, beat.Agents
	}
	return in
}

func below(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// The first read may have seen an incomplete file.
const tornAgain = 100 * time.Millisecond

// The agent might not replace the file atomically, so the content can be incomplete.
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

func writeBrief(b *effect.Brief) error {
	if err := disk.MkdirAll(filepath.Dir(b.Path), 0o700); err != nil {
		return fmt.Errorf("cannot write the file that describes the check: %w", err)
	}
	if err := disk.Replace(b.Path, b.Data, 0o600); err != nil {
		return fmt.Errorf("cannot write the file that describes the check: %w", err)
	}
	return nil
}

func (r *Runner) escalate(ctx context.Context, f effect.Escalate) effect.Input {
	in := effect.Escalated{Tier: f.Tier, Call: f.Call, Ran: f.Command != ""}
	in.Events, in.Err = r.sendMail(ctx, f)
	if f.Command == "" {
		return in
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commandLimit,
		fmt.Errorf("timed out after %s", commandLimit))
	defer cancel()
	dir, env, err := agent.CommandEnvironment(f.In, "", r.w.Host)
	if err == nil {
		err = r.mayRun(ctx, "watchdog "+f.Tier)
	}
	var res shell.Result
	if err == nil {
		env = append(append(env, f.Env...), "GC_RUN="+r.w.Dir+":"+rand.Text())
		for i := range f.In.Watchdogs {
			if w := &f.In.Watchdogs[i]; w.Qualified() == f.Tier {
				env = append(env, "GC_PACK_DIR="+f.In.ConfigDir(w.Origin))
			}
		}
		res, err = shell.Run(ctx, shell.Line{Text: f.Command, Dir: dir, Env: env})
	}
	in.Output = screen.Excerpt(res.Output)
	switch {
	case ctx.Err() != nil:
		in.Failed = context.Cause(ctx).Error()
	case err != nil:
		in.Failed = err.Error()
	case res.Code < 0:
		in.Failed = "killed by " + res.Signal
	case res.Code > 0:
		in.Failed = fmt.Sprintf("exit %d", res.Code)
	}
	return in
}

func (r *Runner) sendMail(ctx context.Context, f effect.Escalate) (sent []events.Event,
	problem string) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	to, err := r.w.Snapshot().Address(f.To)
	if err != nil {
		return nil, err.Error()
	}
	letter := mail.Message{From: f.From, To: to, Subject: f.Subject, Text: f.Text}
	if err := mail.Check(letter); err != nil {
		return nil, err.Error()
	}
	create := city.CreateBead{Bead: mail.ToBead(letter)}
	in, ok := r.work.bead(ctx, effect.ChangeBead{Cmd: create}).(effect.BeadChanged)
	if ok && in.Err != nil {
		return nil, in.Err.Message
	}
	return in.Events, ""
}
