package perform

import (
	"cmp"
	"context"
	"time"

	"gcity/controller/effect"
	"gcity/session"
)

const (
	maxScreens  = 4 // screens of one provider that are read at the same time
	screenLimit = 5 * time.Second
)

// readScreen waits for a slot. Its deadline does not include this wait, which can be long after the controller's start.
func (sr *sessions) readScreen(f effect.ReadScreen) {
	slots := sr.screenSlots(f.Provider)
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-sr.ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(sr.ctx, sr.atLeast(screenLimit, f.Session))
	defer cancel()
	sr.deliver(sr.findQuestion(ctx, f))
}

func (sr *sessions) screenSlots(provider string) chan struct{} {
	sr.Mu.Lock()
	defer sr.Mu.Unlock()
	slots := sr.screens[provider]
	if slots == nil {
		slots = make(chan struct{}, maxScreens)
		sr.screens[provider] = slots
	}
	return slots
}

func (sr *sessions) findQuestion(ctx context.Context, f effect.ReadScreen) effect.ScreenRead {
	in := effect.ScreenRead{Agent: f.Agent, Life: f.Life}
	if !sr.hasScreen(f.Provider) {
		in.Err = session.ErrUnsupported
		return in
	}
	if f.Unless != 0 {
		st, err := session.LookAt(ctx, sr.w.Provider, f.Session)
		if in.Printed = st.Output; err != nil || in.Printed == f.Unless {
			in.Unchanged = true // after an error, the next list shows whether the session has ended
			return in
		}
	}
	var screen string
	if screen, in.Err = sr.w.Provider.Output(ctx, f.Session, 0); in.Err == nil {
		in.Question = cmp.Or(session.Question(screen, f.Prefix, f.Dialogs),
			session.Notice(screen, f.Prefix, f.Dialogs))
	}
	return in
}
