package supervisor

import (
	"context"
	"time"
)

func (s *Supervisor) loop(ctx context.Context, pulse <-chan time.Time) {
	defer close(s.readsOver)
	patrol := time.NewTicker(s.patrol())
	defer patrol.Stop()
	changes := s.o.Changes
	e := newRefresher(s)
	defer e.close()
	e.startRead()
	idle := 0
	stop := ctx.Done()
	for stops := false; s.state() == alive && !(stops && e.settled); {
		select {
		case <-stop:
			stops, stop = true, nil
		case <-pulse:
			s.beat()
			if idle++; !s.isEmpty() {
				idle = 0
			}
			if s.o.UntilEmpty && idle >= idlePulses {
				return
			}
		case _, ok := <-changes:
			if !ok {
				changes = nil
				continue
			}
			e.poke()
		case <-patrol.C:
			e.poke()
		case <-s.reloads:
			e.poke()
		case ask := <-s.readRequests:
			e.request(ask)
		case saw := <-e.seen:
			if e.finishRead(saw) {
				patrol.Reset(s.patrol())
			}
		case <-e.timer.C:
			e.timerExpired()
		}
	}
}

// isEmpty reports whether there are no cities, and no city is being registered.
func (s *Supervisor) isEmpty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.workers) == 0 && s.registering == 0
}

// A supervisor exits after idlePulses consecutive pulses without cities.
const idlePulses = 30

func (s *Supervisor) wait(pulse <-chan time.Time) {
	over := make(chan struct{})
	go func() { s.wg.Wait(); close(over) }()
	for {
		select {
		case <-over:
			return
		case <-pulse:
			s.beat()
		}
	}
}

func (s *Supervisor) beat() {
	if s.o.ReportStatus != nil {
		s.o.ReportStatus(s.status())
	}
}

func (s *Supervisor) patrol() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.Patrol
}

func (s *Supervisor) state() ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending
}
