package controller

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"gcity/agent"
	"gcity/config/edit"
	"gcity/internal/disk"
	"gcity/internal/screen"
	"gcity/internal/shell"
	"gcity/pool"
	"gcity/session"
)

const (
	checksAtOnce = 16
)

// check runs a pool's check. Its time begins when one of the few places is free: a check that hangs delays others, and
// costs them nothing.
func (r *runner) check(f fxCheck) {
	r.wg.Go(func() {
		select {
		case r.checks <- struct{}{}:
		case <-r.ctx.Done():
			return
		}
		in := r.checkNow(f.pool)
		<-r.checks
		r.deliver(in)
	})
}

func (r *runner) checkNow(p *agent.Pool) inChecked {
	ctx, cancel := context.WithTimeoutCause(r.ctx, p.CheckTimeout, fmt.Errorf("it had not ended after check_timeout = %s", p.CheckTimeout))
	defer cancel()
	in := inChecked{pool: p.Name, check: p.Check}
	if err := r.home(); err != nil {
		in.err, in.kind = err, "folder"
		return in
	}
	if p.MakeDir {
		if err := disk.MkdirIn(r.c.o.Dir, p.Dir, 0o755); err != nil {
			in.err, in.kind = fmt.Errorf("its folder cannot be made: %w", err), "folder"
			return in
		}
	}
	began := time.Now()
	res, err := shell.Run(ctx, shell.Line{
		Text: p.Check, Dir: p.Dir, Env: append(slices.Clip(p.Env), "GC_RUN="+r.c.o.Dir+":"+rand.Text()), Split: true,
	})
	in.took, in.output = time.Since(began), screen.Excerpt(res.Output)
	switch {
	case ctx.Err() != nil:
		in.err, in.kind = context.Cause(ctx), "time"
	case err != nil:
		in.err, in.kind = err, "start"
	case res.Code < 0:
		in.err, in.kind = errors.New("it was ended by a signal"), "signal"
	case res.Code > 0:
		in.err, in.kind = fmt.Errorf("it exited %d", res.Code), fmt.Sprint("exit ", res.Code)
	case res.StdoutDropped > 0: // what is left could read as another number
		in.kind = "flood"
		in.err = fmt.Errorf("it printed more than %d KiB; a check prints one whole number", shell.MaxOutput>>10)
	default:
		if in.value, in.err = pool.Parse(res.Stdout); in.err != nil {
			in.kind = "output"
		}
	}
	return in
}

// mark writes a session's drain marks.
func (r *runner) mark(ctx context.Context, f fxMark) input {
	in := inMarked{agent: f.agent, session: f.id, drain: f.drain}
	m, ok := r.c.o.Provider.(session.Marker)
	if !ok {
		in.err = session.ErrUnsupported
		return in
	}
	in.err = session.SetDrain(ctx, m, f.session, f.drain)
	return in
}

// scale writes an override.
func (r *runner) scale(f fxScale) input {
	return inScaled{scale: f, err: edit.SetOverride(r.c.o.At, f.pool, f.size)}
}
