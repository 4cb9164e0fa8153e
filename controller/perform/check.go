package perform

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/config/edit"
	"gcity/controller/effect"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/internal/span"
	"gcity/pool"
	"gcity/session"
)

const (
	checksAtOnce = 16
)

// The timeout begins when a slot is free.
func (r *Runner) check(f effect.CheckPool) {
	r.wg.Go(func() {
		select {
		case r.checks <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		in := r.checkNow(f.Pool)
		<-r.checks
		r.deliver(in)
	})
}

func (r *Runner) checkNow(p *agent.Pool) effect.PoolChecked {
	ctx, cancel := context.WithTimeoutCause(r.ctx, p.CheckTimeout,
		fmt.Errorf("timed out after check_timeout = %s", span.Text(p.CheckTimeout)))
	defer cancel()
	in := effect.PoolChecked{Pool: p.Name, Check: p.Check}
	if err := r.w.checkFolder(); err != nil {
		in.Err, in.Kind = err, "folder"
		return in
	}
	if err := r.prepareCheckFolder(ctx, p.Dir, p.MakeDir); err != nil {
		in.Err, in.Kind = err, "folder"
		return in
	}
	if err := r.mayRun(ctx, "agent "+p.Name); err != nil {
		in.Err, in.Kind = err, "trust"
		return in
	}
	began := time.Now()
	res, err := shell.Run(ctx, shell.Line{
		Text: p.Check, Dir: p.Dir, Env: append(slices.Clip(p.Env),
			"GC_RUN="+r.w.Dir+":"+rand.Text()), Split: true,
	})
	in.Took, in.Output = time.Since(began), screen.Excerpt(res.Output)
	switch {
	case ctx.Err() != nil:
		in.Err, in.Kind = context.Cause(ctx), "time"
	case err != nil:
		in.Err, in.Kind = err, "start"
	case res.Code < 0:
		in.Err, in.Kind = errors.New("the check was killed by "+res.Signal), "signal"
	case res.Code > 0:
		in.Err, in.Kind = fmt.Errorf("the check failed with exit code %d", res.Code),
			fmt.Sprint("exit ", res.Code)
	case res.StdoutDropped > 0: // a truncated number would be a different number
		in.Kind = "flood"
		in.Err = fmt.Errorf("the check printed more than %d KiB; a check must print one "+
			"whole number",
			shell.MaxOutput>>10)
	default:
		if in.Value, in.Err = pool.Parse(res.Stdout); in.Err != nil {
			in.Kind = "output"
		}
	}
	return in
}

// prepareCheckFolder creates the folder if create is set. It returns an error if the folder does not respond, because
// each check in such a folder would leave a process that cannot be killed.
func (b *base) prepareCheckFolder(ctx context.Context, dir string, create bool) error {
	name := fmt.Sprintf("folder of checks %s %t", dir, create)
	err, ok := inBackground(ctx, b, name, hungLimit, func() error {
		if create {
			return disk.MkdirIn(b.w.Dir, dir, 0o755)
		}
		_, _ = os.Stat(dir) // the shell reports the error
		return nil
	})
	switch {
	case !ok:
		return fmt.Errorf("the check's folder %w", errUnresponsive)
	case err != nil:
		return fmt.Errorf("cannot create the check's folder: %w", err)
	}
	return nil
}

func (sr *sessions) mark(ctx context.Context, f effect.MarkDrain) effect.Input {
	in := effect.DrainMarked{Agent: f.Agent, Session: f.ID, Drain: f.Drain}
	m, ok := sr.w.Provider.(session.Marker)
	if !ok {
		in.Err = session.ErrUnsupported
		return in
	}
	in.Err = session.SetDrain(ctx, m, f.Session, f.Drain)
	return in
}

func (r *Runner) scale(f effect.Scale) effect.Input {
	return effect.Scaled{Scale: f, Err: edit.SetOverride(r.w.At, f.Pool, f.Size)}
}

// editError adds to the error of a suspension how to freeze an agent if the disk is full, possibly because of the agent
// itself.
func editError(f effect.Edit, err error) error {
	if !f.On || !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return city.Errorf(city.Unavailable, "nothing was suspended: %v; meanwhile, `gcity agent kill "+
		"--signal STOP NAME` freezes an agent", err)
}
