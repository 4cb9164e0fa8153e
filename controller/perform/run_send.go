package perform

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/internal/screen"
	"gcity/session"
)

// Reading a screen is expensive.
const screenAgain = 5 * time.Second

func (sr *sessions) send(ctx context.Context, f effect.Send) effect.Input {
	in := effect.Sent{Agent: f.Agent, ID: f.ID}
	st, err := sr.lookAt(ctx, f)
	if errors.Is(err, session.ErrNotFound) {
		in.Held, in.Wait = city.HoldEnded, effect.SendAgain
		return in
	}
	if f.Polite {
		if in.Held, in.Wait = sr.disturbed(ctx, f, st); in.Held != "" {
			in.Disturbed = true
			return in
		}
	}
	p := sr.w.Provider
	polite, ok := p.(session.PoliteSender)
	if ok && f.Polite {
		err = polite.SendPolitely(ctx, f.Session, f.Text, effect.TypingPause)
	} else {
		err = p.Send(ctx, f.Session, f.Text)
	}
	switch {
	case errors.Is(err, session.ErrBusy): // the user has just started to type
		in.Held, in.Wait, in.Disturbed = city.HoldTyping, effect.SendAgain, true
	case errors.Is(err, session.ErrNotFound):
		// the machine handles the nudge when it handles the exit
		in.Held, in.Wait = city.HoldEnded, effect.SendAgain
	case err != nil:
		in.Err = session.ForAgent(err, f.Session, f.Agent)
	default:
		in.Output = math.MaxUint64
		if !sr.counts(f.Provider) {
			break
		}
		if st, err = sr.lookAt(ctx, f); err == nil {
			in.Output = st.Output
		}
	}
	return in
}

func (sr *sessions) disturbed(ctx context.Context, f effect.Send, st session.Status) (
	hold city.Hold, wait time.Duration) {
	switch since := time.Since(st.TypedAt); {
	case st.Draft:
		return city.HoldDraft, effect.SendAgain
	// a time further in the future was read before the clock was set back
	case !st.TypedAt.IsZero() && since.Abs() < effect.TypingPause:
		return city.HoldTyping, max(effect.TypingPause-since, 100*time.Millisecond)
	}
	if f.Prefix != "" && sr.promptHolds(ctx, f) {
		return city.HoldScreen, screenAgain
	}
	return "", 0
}

func (sr *sessions) lookAt(ctx context.Context, f effect.Send) (session.Status, error) {
	p, ok := sr.w.Provider.(session.Looker)
	if !ok {
		return session.Status{}, session.ErrUnsupported
	}
	st, err := p.Look(ctx, f.Session)
	if err == nil && st.ID != f.Life {
		err = session.ErrNotFound
	}
	return st, err
}

func (sr *sessions) counts(provider string) bool {
	return !slices.Contains(LimitsOf(sr.w.Provider, provider).Lacks, session.CountingOutput)
}

// hasScreen reports whether the provider's sessions have a screen. Without one, a line that looks like a prompt means
// nothing.
func (sr *sessions) hasScreen(provider string) bool {
	if strings.HasPrefix(provider, "exec:") {
		return false
	}
	m, ok := sr.w.Provider.(session.MultiProvider)
	if !ok {
		return session.Can(sr.w.Provider, session.Attaching)
	}
	return !slices.Contains(m.LimitsOf(provider).Lacks, session.Attaching)
}

func (sr *sessions) promptHolds(ctx context.Context, f effect.Send) bool {
	w, ok := sr.w.Provider.(session.Watcher)
	if !ok || !sr.hasScreen(f.Provider) {
		return false
	}
	for frame, err := range w.Watch(ctx, f.Session) {
		if err != nil {
			return false
		}
		return hasDraft(frame, f.Prefix) // the first frame is the current screen
	}
	return false
}

// LimitsOf returns the limits of a provider, or of the named one if p combines several.
func LimitsOf(p session.Provider, name string) session.Limits {
	if m, ok := p.(session.MultiProvider); ok {
		return m.LimitsOf(name)
	}
	return session.LimitsOf(p)
}

// Faint text does not count, because programs show suggestions as faint text.
func hasDraft(f session.Frame, prefix string) bool {
	s := screen.New(f.Cols, f.Rows, 0)
	defer s.Close()
	_, _ = s.Write(f.Data) // cannot fail
	shot := s.Shot(0)
	if shot.Y < 0 || shot.Y >= len(shot.Lines) {
		return false
	}
	line, solid := cells(shot.Lines[shot.Y])
	before := []rune(strings.TrimRight(normalizeBlanks(prefix), " "))
	if len(line) < len(before) || normalizeBlanks(string(line[:len(before)])) != string(before) {
		return false
	}
	return strings.TrimFunc(string(solid[len(before):]), isFrame) != ""
}

// Programs print no-break spaces in their prompts.
func normalizeBlanks(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

func isFrame(r rune) bool {
	return r == ' ' || r == '\u00a0' || r >= 0x2500 && r <= 0x259f
}

// solid has spaces in place of faint characters.
func cells(styled string) (line, solid []rune) {
	faint := false
	for styled != "" {
		if rest, ok := strings.CutPrefix(styled, "\x1b["); ok {
			if end := strings.IndexByte(rest, 'm'); end >= 0 {
				faint = fainter(rest[:end], faint)
				styled = rest[end+1:]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(styled)
		styled = styled[size:]
		line = append(line, r)
		if faint {
			r = ' '
		}
		solid = append(solid, r)
	}
	return line, solid
}

func fainter(params string, faint bool) bool {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		n, _ := strconv.Atoi(fields[i])
		switch n {
		case 0, 22:
			faint = false
		case 2:
			faint = fields[i] == "2"
		case 38, 48, 58:
			if i+1 < len(fields) && fields[i+1] == "5" {
				i += 2
			} else if i+1 < len(fields) && fields[i+1] == "2" {
				i += 4
			}
		}
	}
	return faint
}
