package events

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"gcity/internal/deadline"
)

// Reader reads a log that another process may be writing. It takes no lock and changes nothing. It is safe for
// concurrent use.
type Reader struct {
	dir    string
	damage damageCounter
}

// OpenReader opens the log in a city's .gc folder for reading. A log that does not exist counts as empty. If the folder
// does not exist, the error matches fs.ErrNotExist.
func OpenReader(dir string) (*Reader, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("cannot read the events of this city: %w", err)
	}
	return &Reader{dir: dir}, nil
}

const pollEvery = 100 * time.Millisecond

// Follow yields all events after a seq, oldest first, until ctx ends. A read error is yielded once and ends Follow.
// Unlike Log.Follow, it always polls.
func (r *Reader) Follow(ctx context.Context, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		c := &cursor{dir: r.dir, damage: &r.damage, after: after}
		defer c.close()
		for ctx.Err() == nil {
			e, ok, err := c.event()
			if err != nil {
				yield(Event{}, err)
				return
			}
			if ok {
				if !yield(e, nil) {
					return
				}
				continue
			}
			deadline.Pause(ctx, pollEvery)
		}
	}
}

func (c *cursor) event() (Event, bool, error) {
	for {
		line, ok, err := c.next()
		if !ok || err != nil {
			return Event{}, false, err
		}
		if e, err := decode(line); err == nil {
			return e, true, nil
		}
		c.damage.add(Damage{c.at.name(), c.scan.off - int64(len(line)) - 1, c.scan.off,
			"not an event"}, line)
	}
}

// Last returns the highest seq, or 0 if there are no events.
func (r *Reader) Last() (uint64, error) {
	for range relists {
		files, err := list(r.dir)
		if err != nil {
			return 0, err
		}
		t, err := endOf(files)
		if !errors.Is(err, errMoved) {
			return t.intact, err
		}
	}
	return 0, fmt.Errorf("cannot read the events in %s: the files change faster than they "+
		"can be read", r.dir)
}

// Damaged returns the number of damaged lines found so far, and the last few of them.
func (r *Reader) Damaged() (uint64, []Damage) { return r.damage.get() }
