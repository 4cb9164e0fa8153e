package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/internal/suggest"
)

// outputFollower prints the output of an agent's sessions, one after the other.
type outputFollower struct {
	followed
	e       *env.Env
	began   bool
	session string // ID of the session that was watched most recently; "" = unknown
	ended   bool   // that session has ended
	alone   bool   // no controller has been running so far
	noted   city.State
}

// follow continues with the agent's next session until the stream ends. If no controller has been running, it ends with
// the agent's session, because nothing restarts the agent.
func (w *outputFollower) follow(ctx context.Context, l *env.Link) error {
	w.alone = !l.Live && (w.alone || !w.began)
	for {
		before, first := w.session, !w.began
		if found, err := w.awaitSession(ctx, l); err != nil || !found {
			return err
		}
		w.began = true
		err := w.watch(ctx, l, first, !first && w.session == before)
		if !first && city.HasCode(err, city.Conflict) {
			err = nil // the session has already ended
		}
		if err != nil || ctx.Err() != nil || w.alone {
			return err
		}
		w.ended = true
	}
}

// awaitSession finds the session to watch. The first time, it does not wait for one.
func (w *outputFollower) awaitSession(ctx context.Context, l *env.Link) (found bool, err error) {
	for s, err := range l.Snapshots(ctx) {
		if ctx.Err() != nil || err != nil {
			return false, err
		}
		a, ok := s.Agent(w.agent)
		if !ok {
			return false, env.Unknown(s, w.agent, []suggest.Kind{suggest.Agent})
		}
		if a.Session != nil && (a.Session.ID != w.session || !w.ended) {
			w.session, w.ended, w.noted = a.Session.ID, false, ""
			return true, nil
		}
		if !w.began {
			return true, nil
		}
		w.noteState(a)
	}
	return false, nil
}

// noteState prints why the agent has no session, because the next one might never start.
func (w *outputFollower) noteState(a *city.Agent) {
	if a.Session != nil || a.State == city.Starting || a.State == w.noted {
		return
	}
	w.noted = a.State
	w.e.Note(fmt.Sprintf("agent %s has no session: its state is %s (%s); waiting for its next "+
		"session", w.agent, a.State, a.Reason))
}

func (w *outputFollower) watch(ctx context.Context, l *env.Link, first, resumed bool) error {
	if w.raw {
		return followRaw(ctx, w.e, l, w.followed)
	}
	text := ""
	if first {
		var err error
		if text, err = l.Output(ctx, w.agent, w.lines); err != nil {
			return err
		}
	}
	if !resumed {
		w.known = nil
	}
	p := &linePrinter{outputFollower: w, l: l, text: text, first: first, seen: resumed}
	defer p.finish()
	for frame, err := range l.Watch(ctx, w.agent) {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			if first && !p.seen {
				if text != "" {
					w.learn(strings.Split(strings.TrimRight(text, "\n"), "\n")...)
				}
				err = errors.Join(printOutput(ctx, w.e, l, text, w.followed), err)
			}
			return err
		}
		if resumed {
			if resumed = false; w.isReplaced(ctx, l) {
				return nil
			}
		}
		if err := p.print(ctx, frame); err != nil {
			return err
		}
	}
	if first && !p.seen {
		return printOutput(ctx, w.e, l, text, w.followed)
	}
	return nil
}

// isReplaced reports whether another session runs now. Its output does not continue the output of the session that
// awaitSession has found.
func (w *outputFollower) isReplaced(ctx context.Context, l *env.Link) bool {
	a, err := env.FindAgent(ctx, l.Control, w.agent)
	return err == nil && a.Session != nil && a.Session.ID != w.session
}

// linePrinter prints the output of one session as lines.
type linePrinter struct {
	*outputFollower
	l           *env.Link
	text        string // output before the first frame
	pending     string // unfinished line
	printsLines bool
	first, seen bool
	last        *polledScreen // nil if the provider sends output and not screens
}

func (p *linePrinter) print(ctx context.Context, frame city.Frame) error {
	if frame.Cols > 0 && frame.Rows > 0 {
		p.cols, p.rows = frame.Cols, frame.Rows
	}
	switch {
	case frame.Reset && !p.seen:
		p.seen = true
		p.text, p.pending = p.storedLines(p.text, frame)
		p.last = &polledScreen{p.linesOf(frame), p.pending == ""}
		lines, _ := p.finished(frame)
		p.learn(lines...)
		p.printsLines = p.pending != "" || len(frame.Data) == 0 ||
			bytes.HasSuffix(frame.Data, []byte("\n"))
		if p.text == "" && (p.pending != "" || !p.first) {
			return nil
		}
		return printOutput(ctx, p.e, p.l, p.text, p.followed)
	case frame.Reset && p.last != nil:
		p.pending = ""
		p.last.printNew(p.e, &p.followed, p.linesOf(frame))
	case frame.Reset: // this reader was too slow, or the connection was lost
		p.printMissed(frame)
	default:
		p.last = nil
		p.pending = p.writeLines(p.e, p.pending+string(frame.Data))
	}
	return p.e.OutputError()
}

// printMissed prints the finished lines of a session's retained output that follow the known lines.
func (p *linePrinter) printMissed(frame city.Frame) {
	var lines []string
	lines, p.pending = p.finished(frame)
	switch from, found := p.afterKnown(append(slices.Clip(lines), p.plain(p.pending))); {
	case !found:
		p.e.Sayf(skippedText)
		p.learn(lines...)
	case from > len(lines): // the provider polls, and the unfinished line has been printed
		p.pending = ""
	default:
		for _, line := range lines[from:] {
			p.writeLines(p.e, line+"\n")
		}
	}
	p.last = &polledScreen{p.linesOf(frame), p.pending == ""}
}

// finish prints an unfinished line. A program that draws the whole screen has no last line.
func (p *linePrinter) finish() {
	if p.printsLines && p.plain(p.pending) != "" {
		known := p.known
		p.writeLines(p.e, p.pending+"\n")
		p.known = known // after a reconnect, the agent may have finished the line
	}
}
