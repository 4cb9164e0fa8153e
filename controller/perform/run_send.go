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
	if f.Prefix != "" {
		hold = sr.screenHolds(ctx, f)
	}
	if hold != "" {
		wait = screenAgain
	}
	return hold, wait
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

func (sr *sessions) screenHolds(ctx context.Context, f effect.Send) city.Hold {
	w, ok := sr.w.Provider.(session.Watcher)
	if !ok || !sr.hasScreen(f.Provider) {
		return ""
	}
	for frame, err := range w.Watch(ctx, f.Session) {
		if err != nil {
			return ""
		}
		return holdOn(frame, f.Prefix, f.Dialogs) // the first frame is the current screen
	}
	return ""
}

func holdOn(f session.Frame, prefix string, dialogs []session.Dialog) city.Hold {
	s := screen.New(f.Cols, f.Rows, 0)
	defer s.Close()
	_, _ = s.Write(f.Data) // cannot fail
	shot := s.Shot(0)
	var all strings.Builder
	for _, styled := range shot.Lines {
		_, text := cells(styled)
		all.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	switch {
	case hasDraft(shot, prefix):
		return city.HoldScreen
	case session.Question(all.String(), prefix, dialogs) != nil:
		return city.HoldQuestion
	}
	return ""
}

// LimitsOf returns the limits of a provider, or of the named one if p combines several.
func LimitsOf(p session.Provider, name string) session.Limits {
	if m, ok := p.(session.MultiProvider); ok {
		return m.LimitsOf(name)
	}
	return session.LimitsOf(p)
}

// hasDraft reports whether there is text after the prompt on the cursor's line. Faint text does not count, because
// programs show suggestions as faint text.
func hasDraft(shot screen.Shot, prefix string) bool {
	if shot.Y < 0 || shot.Y >= len(shot.Lines) {
		return false
	}
	line, text := cells(shot.Lines[shot.Y])
	end := session.PromptEnd(text, prefix)
	// a user types behind the prompt; if the cursor is before its end, the text is a suggestion of the program
	if end < 0 || shot.X < end {
		return false
	}
	line = line[end:]
	first := slices.IndexFunc(line, func(c cell) bool { return c.inverse || !c.isFrame() })
	if first < 0 || line[first].inverse && isSuggestion(line[first+1:]) {
		return false
	}
	return slices.ContainsFunc(line, func(c cell) bool { return !c.faint && !c.isFrame() })
}

// isSuggestion reports whether the text behind the cursor's cell is faint or colored. Programs draw the cursor as an
// inverse cell on the first character of a suggestion, and the rest in another style than a user's text.
func isSuggestion(behind []cell) bool {
	shown := slices.DeleteFunc(slices.Clone(behind), cell.isFrame)
	return len(shown) > 0 && !slices.ContainsFunc(shown, func(c cell) bool {
		return c.inverse || !c.faint && !c.colored
	})
}

type cell struct {
	r rune
	style
}

type style struct{ faint, inverse, colored bool }

func (c cell) isFrame() bool {
	return c.r == ' ' || c.r == '\u00a0' || c.r >= 0x2500 && c.r <= 0x259f
}

func cells(styled string) (line []cell, text string) {
	var now style
	var b strings.Builder
	for styled != "" {
		if rest, ok := strings.CutPrefix(styled, "\x1b["); ok {
			if end := strings.IndexByte(rest, 'm'); end >= 0 {
				now.apply(rest[:end])
				styled = rest[end+1:]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(styled)
		styled = styled[size:]
		line = append(line, cell{r, now})
		b.WriteRune(r)
	}
	return line, b.String()
}

func (s *style) apply(params string) {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		n, _ := strconv.Atoi(fields[i])
		switch {
		case n == 0:
			*s = style{}
		case n == 2:
			s.faint = true
		case n == 22:
			s.faint = false
		case n == 7 || n == 27:
			s.inverse = n == 7
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			s.colored = true
		case n == 39:
			s.colored = false
		case n == 38 || n == 48 || n == 58:
			s.colored = s.colored || n == 38
			if i+1 < len(fields) && fields[i+1] == "5" {
				i += 2
			} else if i+1 < len(fields) && fields[i+1] == "2" {
				i += 4
			}
		}
	}
}
