package agents

import (
	"context"
	"fmt"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/internal/deadline"
	"gcity/internal/span"
)

const scaleLimit = 9 * time.Minute

func awaitScale(ctx context.Context, e *env.Env, l *env.Link, pool string) error {
	limited, cancel := context.WithTimeout(ctx, scaleLimit)
	defer cancel()
	done := env.SayProgress(limited, e, l.Control, func(s *city.Snapshot) string {
		return scaleProgress(s, pool, e.Now())
	})
	defer done()
	for {
		s, err := l.Snapshot(limited)
		switch {
		case limited.Err() != nil && ctx.Err() == nil:
			return fmt.Errorf("pool %s has not reached its size after %s; `gcity pool show %s` "+
				"shows why", pool, scaleLimit, pool)
		case err != nil:
			return err
		}
		p, ok := s.Pool(pool)
		if !ok {
			return fmt.Errorf("pool %s is no longer part of the city; `gcity pool list` lists "+
				"the pools", pool)
		}
		if p.Size == p.Desired && len(p.Draining) == 0 {
			return nil
		}
		deadline.Pause(limited, env.SayEvery)
	}
}

func scaleProgress(s *city.Snapshot, pool string, now time.Time) string {
	p, ok := s.Pool(pool)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("scaling pool %s: %d of %d members", pool, p.Size, p.Desired)
	if n := len(p.Draining); n > 0 {
		text += fmt.Sprintf(", %d draining", n)
	}
	var last time.Time
	for i := range s.Agents {
		a := &s.Agents[i]
		if a.Pool == pool && a.Drain != nil && a.Drain.Deadline != nil &&
			a.Drain.Deadline.After(last) {
			last = *a.Drain.Deadline
		}
	}
	if left := last.Sub(now); !last.IsZero() && left > 0 {
		text += ", at most " + span.Text(left.Round(time.Second)) + " left"
	}
	return text
}
