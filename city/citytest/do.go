package citytest

import (
	"context"
	"strings"

	"gcity/city"
	"gcity/events"
)

// Do implements city.Control. It executes nudges and changes to beads. Other commands only add an event.
func (f *Fake) Do(ctx context.Context, c city.Command) (city.Receipt, error) {
	f.mu.Lock()
	f.commands = append(f.commands, c)
	do := f.onDo
	f.mu.Unlock()
	if do != nil {
		return do(c)
	}
	if err := ctx.Err(); err != nil {
		return city.Receipt{}, city.Errorf(city.Unavailable, "%v", err)
	}
	c, err := city.Signed(c, city.PeerOf(ctx))
	if err == nil {
		c, err = city.Tidy(c)
	}
	if err != nil {
		return city.Receipt{}, err
	}
	switch c := c.(type) {
	case city.CreateBead:
		return f.createBead(ctx, c)
	case city.UpdateBead:
		return f.updateBead(ctx, c)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch c := c.(type) {
	case city.Emit:
		return city.Receipt{Seq: f.publish(c.Event), Message: "written"}, nil
	case city.Nudge:
		err = f.checkTyping(c.Agent, c.Text+"\r")
	case city.SendKeys:
		err = f.checkTyping(c.Agent, strings.ReplaceAll(strings.Join(c.Keys, ""), "Enter", "\r"))
	default:
		err = f.checkTarget(c.Target())
	}
	if err != nil {
		return city.Receipt{}, err
	}
	seq := f.publish(events.Event{Type: "command." + c.Verb(), Actor: "operator",
		Subject: c.Target()})
	return city.Receipt{Seq: seq, Message: strings.TrimSpace(c.Verb() + " " + c.Target())}, nil
}

// The caller must hold f.mu.
func (f *Fake) checkTarget(name string) error {
	_, agent := f.snap.Agent(name)
	_, pool := f.snap.Pool(name)
	_, automation := f.snap.Automation(name)
	_, watchdog := f.snap.Watchdog(name)
	if name == "" || agent || pool || automation || watchdog || rig(f.snap, name) != nil {
		return nil
	}
	return newError(city.NotFound, "%q not found", name)
}

func (f *Fake) checkTyping(agent, text string) error {
	s, err := f.running(agent)
	if err == nil {
		f.typeIn(s, []byte(text))
	}
	return err
}

// The caller must hold f.mu.
func (f *Fake) publish(e events.Event) uint64 {
	seq := f.record(e)
	f.edit(func(*city.Snapshot) {})
	return seq
}

func newError(code city.Code, format string, args ...any) *city.Error {
	return city.Errorf(code, format, args...)
}
