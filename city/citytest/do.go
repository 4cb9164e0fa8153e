package citytest

import (
	"context"
	"strings"

	"gcity/city"
	"gcity/events"
)

// Do implements city.Control. A command is done when it returns.
func (f *Fake) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	f.mu.Lock()
	f.commands = append(f.commands, c)
	do := f.onDo
	f.mu.Unlock()
	if do != nil {
		return do(c)
	}
	if err := ctx.Err(); err != nil {
		return city.Receipt{}, &city.Error{Code: city.Unavailable, Message: err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.Target() == "" {
		return f.doCity(c)
	}
	return f.doAgent(c)
}

func (f *Fake) doCity(c city.Command) (city.Receipt, error) {
	switch c := c.(type) {
	case city.Emit:
		if err := c.Event.Check(); err != nil {
			return city.Receipt{}, &city.Error{Code: city.Invalid, Message: err.Error()}
		}
		seq := f.record(c.Event)
		f.edit(func(*city.Snapshot) {})
		return city.Receipt{Seq: seq, Message: "written"}, nil
	case city.Suspend, city.Resume:
		return f.prove(c, func(s *city.Snapshot) { s.Suspended = c.Verb() == "suspend" }), nil
	case city.Shutdown:
		return f.prove(c, func(s *city.Snapshot) { s.ShutDown = true }), nil
	}
	return f.prove(c, func(*city.Snapshot) {}), nil
}

func (f *Fake) doAgent(c city.Command) (city.Receipt, error) {
	name := c.Target()
	if _, ok := f.snap.Agent(name); !ok {
		_, err := f.running(name)
		return city.Receipt{}, err
	}
	switch c := c.(type) {
	case city.Nudge:
		return f.typing(c, c.Text+"\r")
	case city.SendKeys:
		return f.typing(c, strings.ReplaceAll(strings.Join(c.Keys, ""), "Enter", "\r"))
	case city.Interrupt, city.Clear:
		s, err := f.running(name)
		if err != nil {
			return city.Receipt{}, err
		}
		if c.Verb() == "clear" {
			s.life, s.out = s.life+1, nil
		}
	}
	return f.prove(c, func(s *city.Snapshot) {
		a, _ := s.Agent(name)
		switch c.(type) {
		case city.Stop, city.Suspend:
			f.stop(a, city.Suspended, "by agent")
		case city.Restart, city.Kill, city.Resume, city.Release, city.RequestRestart:
			f.start(a)
		}
	}), nil
}

func (f *Fake) typing(c city.Command, text string) (city.Receipt, error) {
	s, err := f.running(c.Target())
	if err != nil {
		return city.Receipt{}, err
	}
	f.typeIn(s, []byte(text))
	return f.prove(c, func(*city.Snapshot) {}), nil
}

// prove records the event of a command and publishes what it changed.
func (f *Fake) prove(c city.Command, change func(*city.Snapshot)) city.Receipt {
	seq := f.record(events.Event{Type: "command." + c.Verb(), Actor: "operator", Subject: c.Target()})
	f.edit(change)
	return city.Receipt{Seq: seq, Message: strings.TrimSpace(c.Verb() + " " + c.Target())}
}
