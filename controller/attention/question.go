package attention

import (
	"cmp"
	"errors"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

const (
	// quiet is how long an agent must print nothing before its screen is read
	quiet = 3 * time.Second
	// slowRate is the number of bytes per second up to which an agent also counts as quiet. Some programs regularly
	// redraw a part of their question.
	slowRate = 100
	// slowAgain is the interval between reads of the screen of an agent that constantly prints little and asks no
	// question. A read is expensive, because it can replay all stored output.
	slowAgain = 2 * time.Minute
	// askAgain is the interval between reads of the screen of an agent that asks a question. A read is cheap while the
	// agent prints nothing. While it prints but still asks, the interval doubles up to maxAskAgain.
	askAgain    = 2 * time.Second
	maxAskAgain = 32 * time.Second
	// doubtTime is how long a program has to draw its screen completely
	doubtTime = 500 * time.Millisecond
	// maxFailures is the number of attempts to read a screen before gcity waits for new output
	maxFailures = 3
)

// screen is what is known about the screen of an agent's session.
type screen struct {
	read     output        // output of the session when its screen was read last
	reading  bool          // an effect is in flight
	printed  uint64        // Status.Output when the screen was read last; 0 = unknown
	doubt    bool          // that screen showed no question, but might have been incomplete
	interval time.Duration // time until the next look for an answer
	failures int           // number of consecutive failures to read the screen with that output
	listed   output        // output in the latest list; lists within a second of it are ignored
	slow     int           // number of consecutive lists between which the session printed little
	since    time.Time     // time of the activity before the screen was read
}

// output identifies how much a session has printed.
type output struct {
	life   string
	bytes  uint64
	active int64 // time of the activity if the bytes are not counted, in nanoseconds
	at     time.Time
}

func outputOf(f *Facts) output {
	o := output{life: f.Life.ID, bytes: f.Life.Output, at: f.ListedAt}
	if o.bytes == 0 {
		o.active = f.Life.Activity.UnixNano()
	}
	return o
}

// covers reports whether a screen that was read at o shows the output at now. Some providers know the time of the
// activity only in whole seconds, so that output of the same second can follow.
func (o output) covers(now output) bool {
	settled := o.active == 0 || o.at.Equal(now.at) ||
		o.at.Sub(time.Unix(0, o.active)) >= time.Second
	return settled && o.life == now.life && o.bytes >= now.bytes && o.active == now.active
}

// Look reads the agent's screen if the agent has printed something since its screen was read, and is quiet now. An
// agent that asks a question need not be quiet, so that gcity notices the answer although the agent works again.
func (d *Detector) Look(now time.Time, a *Agent, f *Facts) {
	known := f.recognizesQuestions()
	if a.Asks != nil && (a.screen.read.life != f.Life.ID || f.Want != nil && !known) {
		d.clearQuestion(a)
	}
	if !known {
		return
	}
	a.screen.list(f)
	s := &a.screen
	slow := s.slow == 1 || s.slow > 1 && f.ListedAt.Sub(s.read.at) >= slowAgain
	if a.Asks != nil || slow || f.ListedAt.Sub(f.Life.Activity) >= quiet {
		d.ReadScreen(a, f)
	}
	if !a.NextLook.IsZero() && !now.Before(a.NextLook) && !a.screen.reading && !f.Unknown {
		unless := a.screen.printed
		if a.screen.doubt {
			unless = 0
		}
		d.read(a, f, unless)
	}
}

// recognizesQuestions reports whether the program's prompt or its dialogs are known.
func (f *Facts) recognizesQuestions() bool {
	return f.Want != nil && (f.Want.Spec.Ready.Prefix != "" || len(f.Want.Spec.Dialogs) > 0)
}

func (s *screen) list(f *Facts) {
	now := outputOf(f)
	passed := now.at.Sub(s.listed.at)
	if now.at.IsZero() || s.listed.life == now.life && passed < time.Second {
		return
	}
	printed := float64(now.bytes - s.listed.bytes)
	if s.listed.life == now.life && printed > 0 && printed <= slowRate*passed.Seconds() {
		s.slow++
	} else {
		s.slow = 0
	}
	s.listed = now
}

// ReadScreen reads the agent's screen unless the agent has printed nothing since its screen was read, or its program's
// questions are not known. It reports whether a result is pending. If the screen cannot be read, the next list of
// sessions starts another attempt.
func (d *Detector) ReadScreen(a *Agent, f *Facts) (pending bool) {
	s, now := &a.screen, outputOf(f)
	switch {
	case s.reading:
		return true
	case f.Unknown || f.Life.Activity.IsZero() || !f.recognizesQuestions():
		return false
	case !s.read.covers(now):
		s.failures = 0
	case s.failures == 0 || s.failures >= maxFailures:
		return false
	case s.read.at.Equal(now.at):
		return true
	}
	s.read, s.since = now, f.Life.Activity
	d.read(a, f, 0)
	return true
}

func (d *Detector) read(a *Agent, f *Facts, unless uint64) {
	a.screen.reading = true
	d.out.Do(effect.ReadScreen{Agent: f.Want.Name, Session: f.Life.Name, Life: f.Life.ID,
		Provider: f.Life.Provider, Prefix: f.Want.Spec.Ready.Prefix,
		Dialogs: f.Want.Spec.Dialogs, Unless: unless})
}

// Reading reports whether a ReadScreen effect is in flight.
func (a *Agent) Reading() bool { return a.screen.reading }

// Read handles the result of a ReadScreen effect.
func (d *Detector) Read(now time.Time, a *Agent, f *Facts, in effect.ScreenRead) {
	a.screen.reading = false
	defer d.lookAgain(now, a)
	switch {
	case in.Unchanged:
		a.screen.interval = askAgain
	case !f.Alive || f.Want == nil || in.Life != f.Life.ID:
	case errors.Is(in.Err, session.ErrUnsupported):
		a.screen.failures = maxFailures
	case in.Err != nil:
		a.screen.failures++
	default:
		d.shown(now, a, f, in)
	}
}

func (d *Detector) shown(now time.Time, a *Agent, f *Facts, in effect.ScreenRead) {
	s := &a.screen
	early := in.Printed != 0 // read before a list has shown the output
	s.failures, s.doubt, s.printed = 0, false, cmp.Or(in.Printed, s.read.bytes)
	if early {
		s.read.bytes = in.Printed
	}
	switch {
	case in.Question != nil && a.Asks != nil:
		s.interval = min(2*s.interval, maxAskAgain)
		d.asks(now, a, f, city.Question{About: in.Question.Name})
	case in.Question != nil:
		s.interval = askAgain
		d.asks(now, a, f, city.Question{Since: s.since, About: in.Question.Name})
	case early:
		s.doubt = true // the program might be drawing the question again
	default:
		d.clearQuestion(a)
	}
}

// lookAgain plans to look whether the question is answered, so that gcity notices it before the next list.
func (d *Detector) lookAgain(now time.Time, a *Agent) {
	a.NextLook = time.Time{}
	switch {
	case a.Asks == nil || a.screen.printed == 0:
	case a.screen.doubt:
		a.NextLook = now.Add(doubtTime)
	default:
		a.NextLook = now.Add(max(a.screen.interval, askAgain))
	}
}

// StartProgress handles the progress of a start, during which a program can ask a question too.
func (d *Detector) StartProgress(now time.Time, a *Agent, f *Facts, in effect.StartProgress) {
	switch {
	case f.Want == nil:
	case in.Question == "":
		d.clearQuestion(a)
	default:
		d.asks(now, a, f, city.Question{Since: now, About: in.About})
	}
}

func (d *Detector) asks(now time.Time, a *Agent, f *Facts, q city.Question) {
	if a.Asks != nil {
		if q.Since = a.Asks.Since; q != *a.Asks {
			a.Asks, d.out.Changed = &q, true
		}
		return
	}
	q.Since = effect.NotInFuture(now, q.Since)
	about := map[string]any{"since": q.Since.UTC().Format(time.RFC3339)}
	message := "asks a question"
	if q.About != "" {
		about["about"] = q.About
		message += " about " + q.About
	}
	a.Asks = &q
	d.record(now, f, events.Event{Type: events.AgentAsking, Message: message,
		Payload: step.Payload(about)}, "asks")
}

func (d *Detector) clearQuestion(a *Agent) {
	if a.Asks != nil {
		a.Asks, a.NextLook, d.out.Changed = nil, time.Time{}, true
	}
}
