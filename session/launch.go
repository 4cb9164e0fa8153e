package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/internal/redact"
	"gcity/internal/shell"
	"gcity/internal/span"
)

// NeedsSettling reports whether a started session needs Settle. A provider marks any other session as ready as soon as
// it starts.
func NeedsSettling(s *Spec) bool {
	return len(s.Setup) > 0 || s.SetupScript != "" || s.Ready.Needed() || s.Nudge != ""
}

// Launch runs PreStart, starts the session, and waits until it is ready. If a step after the start fails, Launch stops
// the session. The optional function finish completes the Spec after PreStart.
func Launch(ctx context.Context, p Provider, s Spec, finish func(*Spec) error) (Status, error) {
	if err := s.runAll(ctx, "pre_start", s.PreStart); err != nil {
		return Status{}, err
	}
	if finish != nil {
		if err := finish(&s); err != nil {
			return Status{}, err
		}
	}
	status, err := p.Start(ctx, s)
	if err != nil || !NeedsSettling(&s) {
		return status, err
	}
	if err := s.settleOrStop(ctx, p); err != nil {
		return Status{}, err
	}
	status.Ready = true
	return status, nil
}

// Settle continues the start of a session if a controller died during the start. It runs setup, waits for readiness,
// types the first nudge and sets the ready mark. If a step fails, Settle stops the session unless ctx was canceled with
// ErrLeave. If the previous controller had already started to type the nudge, Settle does not type it and returns an
// explanation as problem.
func Settle(ctx context.Context, p Provider, s Spec) (problem string, err error) {
	if m, ok := p.(Marker); ok && s.Nudge != "" {
		// if the mark cannot be read, a second nudge is better than none
		if id, err := m.Meta(ctx, s.Name, PromptMark); err == nil && id == s.ID {
			s.Nudge = ""
			problem = "the first prompt was not typed again, because the previous controller " +
				"had already started to type it; if the agent has not received it, run `gcity " +
				"agent restart " + s.Agent + "`"
		}
	}
	return problem, s.settleOrStop(ctx, p)
}

func (s *Spec) settleOrStop(ctx context.Context, p Provider) error {
	err := s.settle(ctx, p)
	if err == nil || errors.Is(context.Cause(ctx), ErrLeave) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopLimit)
	defer cancel()
	if stopErr := p.Stop(ctx, s.Name, 0); stopErr != nil {
		return fmt.Errorf("%w; and the session could not be stopped: %w", err, stopErr)
	}
	return err
}

const (
	stopLimit = 10 * time.Second
	pollFirst = 10 * time.Millisecond
	pollMost  = 250 * time.Millisecond
	lastLines = 5

	// slowReady is how long a start waits before it reports what it is waiting for
	slowReady = 2 * time.Second
)

func (s *Spec) settle(ctx context.Context, p Provider) error {
	if err := s.runAll(ctx, "session_setup", s.Setup); err != nil {
		return err
	}
	if s.SetupScript != "" {
		if err := s.runAll(ctx, "session_setup_script",
			[]string{shell.Quote(s.SetupScript)}); err != nil {
			return err
		}
	}
	if err := s.await(ctx, p); err != nil {
		return err
	}
	if s.Nudge != "" {
		if err := s.mark(ctx, p, PromptMark, s.ID); err != nil {
			return fmt.Errorf("cannot mark the agent as prompted: %w", err)
		}
		if err := p.Send(ctx, s.Name, s.Nudge); err != nil {
			return fmt.Errorf("cannot type the first nudge: %w", err)
		}
	}
	if err := s.mark(ctx, p, ReadyMark, "1"); err != nil {
		return fmt.Errorf("cannot mark the agent as ready: %w", err)
	}
	return nil
}

func (s *Spec) mark(ctx context.Context, p Provider, key, value string) error {
	m, ok := p.(Marker)
	if !ok {
		return nil
	}
	if err := m.SetMeta(ctx, s.Name, key, value); !errors.Is(err, ErrUnsupported) {
		return err
	}
	return nil
}

// runAll runs shell lines in order. GC_RUN lets a later controller find processes that the lines leave behind.
func (s *Spec) runAll(ctx context.Context, what string, lines []string) error {
	for _, line := range lines {
		env := append(slices.Clip(s.Env), "GC_RUN="+s.City+":"+s.ID)
		done := reportSlow(ctx, what, line)
		res, err := shell.Run(ctx, shell.Line{Text: line, Dir: s.Dir, Env: env})
		done()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if res.Code != 0 {
			err := fmt.Errorf("%s %q failed with exit code %d", what, line, res.Code)
			if text := tail(string(res.Output)); text != "" {
				return fmt.Errorf("%w: %s", err, text)
			}
			return err
		}
	}
	return nil
}

// reportSlow reports a line of a step that takes long. The caller must call done after the line has ended.
func reportSlow(ctx context.Context, what, line string) (done func()) {
	reported := make(chan struct{})
	slow := time.AfterFunc(slowReady, func() {
		defer close(reported)
		why := fmt.Sprintf("runs %s %q", what, redact.Text(line))
		if by, ok := ctx.Deadline(); ok {
			why += "; the start fails at " + by.Format(time.TimeOnly) + " if that has not ended"
		}
		Progress(ctx, why)
	})
	return func() {
		if !slow.Stop() {
			<-reported
			Progress(ctx, "")
		}
	}
}

func (s *Spec) await(ctx context.Context, p Provider) error {
	if !s.Ready.Needed() {
		return nil
	}
	limit := s.Ready.Deadline
	if limit <= 0 {
		limit = DefaultReadyDeadline
	}
	most := max(limit, s.LastDeadline())
	ctx, cancel := context.WithTimeout(ctx, most+s.Ready.Delay)
	defer cancel()
	w := &readyWait{s: s, p: p}
	delay, poll := time.NewTimer(s.Ready.Delay), time.NewTimer(0)
	slow, expired := time.NewTimer(slowReady), time.NewTimer(limit+s.Ready.Delay)
	late, overdue := false, false
	if s.Ready.Prefix == "" && len(s.Dialogs) == 0 {
		poll.Stop()
	}
	for wait := pollFirst; ; {
		select {
		case <-delay.C:
			if late = s.Ready.Delay > 0; late && w.isBlank() && w.reported == nil {
				Progress(ctx, "has printed nothing yet; counts as ready after "+
					span.Text(limit+s.Ready.Delay)+" at the latest")
			}
		case <-slow.C:
			if w.reported == nil {
				Progress(ctx, s.Ready.waits(limit))
			}
		case <-poll.C:
			poll.Reset(wait)
			wait = min(2*wait, pollMost)
			if ready, err := w.isReady(ctx); ready || err != nil {
				return err
			}
			if w.open != nil || w.loading { // another question can follow
				late = false
				delay.Reset(s.Ready.Delay)
			}
		case <-expired.C:
			switch overdue = true; {
			case w.asked:
			case w.loading || s.Ready.Delay > 0 && w.open == nil:
				return nil // a later version may look like this when it is ready
			default:
				return w.timeoutError(limit)
			}
		case <-ctx.Done():
			if s.Ready.Prefix == "" && w.open == nil ||
				!errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return context.Cause(ctx)
			}
			return w.timeoutError(most)
		}
		if late && w.open == nil && (overdue || !w.loading && !w.isBlank()) {
			return nil
		}
	}
}

func (r Ready) waits(limit time.Duration) string {
	switch {
	case r.Prefix == "":
		return fmt.Sprintf("counts as ready %s after it starts", span.Text(r.Delay))
	case r.Delay > 0:
		return fmt.Sprintf("waits for a line on its screen that begins with %q, for at most %s",
			r.Prefix, span.Text(r.Delay))
	}
	return fmt.Sprintf("waits for a line on its screen that begins with %q; the start fails "+
		"after %s without one", r.Prefix, span.Text(limit))
}

// ended returns an error if the session has ended, and nil if its state is unknown. The parameters are the result of
// LookAt.
func (s *Spec) ended(st Status, err error) error {
	switch {
	case errors.Is(err, ErrNotFound) || err == nil && st.ID != s.ID:
		return errors.New("the agent exited before it was ready")
	case err != nil || st.Alive:
		return nil
	case st.Exit != nil && st.Exit.Signal != "":
		return fmt.Errorf("the agent was killed by %s before it was ready", st.Exit.Signal)
	case st.Exit != nil:
		return fmt.Errorf("the agent exited with code %d before it was ready", st.Exit.Code)
	}
	return errors.New("the agent exited before it was ready")
}

// LookAt returns the status of one session. A live session takes precedence over an ended one. If there is neither, the
// error is ErrNotFound.
func LookAt(ctx context.Context, p Provider, name string) (found Status, err error) {
	if l, ok := p.(Looker); ok {
		return l.Look(ctx, name)
	}
	all, err := p.List(ctx)
	if err != nil {
		return found, err
	}
	return Named(all, name)
}

// Named returns the status of a session from a list, like LookAt.
func Named(all []Status, name string) (found Status, err error) {
	err = fmt.Errorf("cannot get the status of %q: %w", name, ErrNotFound)
	for _, st := range all {
		if st.Name == name && (err != nil || st.Alive) {
			found, err = st, nil
		}
	}
	return found, err
}

func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " ⏎ ")
}
