package events

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	pageBytes = 16 << 20 // in bytes

	// oldInARow is how many consecutive old lines end a backward search. A changed clock can give individual lines a
	// wrong time.
	oldInARow = 4096

	// lines between two checks of the context
	checkEvery = 1024
)

// Find returns the events that a query selects, the newest first unless After or Forward is set. A page contains at
// most 16 MiB, so it can have fewer events than the limit. Only an empty page means the end.
func (r *Reader) Find(ctx context.Context, q Query) ([]Event, error) {
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	p := &page{q: q, limit: min(q.Limit, MaxLimit), ctx: ctx, needles: needles(q),
		damage: &r.damage}
	var err error
	if q.Forward || q.After > 0 {
		err = p.forward(r.dir)
	} else {
		err = p.backward(r.dir)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the events of this city: %w", err)
	}
	return p.found, nil
}

// Full reports whether Find can have ended a page because of its size or MaxLimit. Any other page that has fewer events
// than the query's limit is the last one.
func Full(page []Event) bool {
	if len(page) >= MaxLimit {
		return true
	}
	// a line in the log can be six times as long as its JSON here, because the log escapes more characters
	text, _ := json.Marshal(page)
	return len(text) >= pageBytes/8
}

// Match reports whether the query selects an event. It ignores Limit and Forward.
func (q *Query) Match(e *Event) bool {
	return e.Seq > q.After && (q.Before == 0 || e.Seq < q.Before) &&
		(q.Actor == "" || q.Actor == e.Actor) && (q.Subject == "" || q.Subject == e.Subject) &&
		(q.Since.IsZero() || !e.TS.Before(q.Since)) &&
		(len(q.Types) == 0 || slices.ContainsFunc(q.Types, func(t string) bool {
			return matchType(t, e.Type)
		}))
}

func matchType(pattern, t string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(t, prefix)
	}
	return pattern == t
}

// needles returns sets of byte strings. A line need not be decoded unless it contains a string from each set.
func needles(q Query) [][][]byte {
	var all [][][]byte
	if len(q.Types) > 0 {
		var set [][]byte
		for _, t := range q.Types {
			n := append([]byte(`"type":"`), strings.TrimSuffix(t, "*")...)
			if !strings.HasSuffix(t, "*") {
				n = append(n, '"')
			}
			set = append(set, n)
		}
		all = append(all, set)
	}
	for key, value := range map[string]string{"actor": q.Actor, "subject": q.Subject} {
		if value != "" {
			n, _ := appendString([]byte(`"`+key+`":`), value, maxName)
			all = append(all, [][]byte{n})
		}
	}
	return all
}

type page struct {
	q       Query
	limit   int
	ctx     context.Context
	needles [][][]byte
	damage  *damageCounter

	found []Event
	bytes int
	lines int
	old   int
	low   uint64
}

func (p *page) take(line []byte) (more bool, err error) {
	if p.lines++; p.lines%checkEvery == 0 && p.ctx.Err() != nil {
		return false, p.ctx.Err()
	}
	for _, set := range p.needles {
		if !containsAny(line, set) {
			return p.recent(line), nil
		}
	}
	e, err := decode(line)
	if err != nil || !p.q.Match(&e) {
		return p.recent(line), nil
	}
	p.old = 0
	p.found = append(p.found, e)
	p.bytes += len(line)
	return len(p.found) < p.limit && p.bytes < pageBytes, nil
}

func (p *page) recent(line []byte) bool {
	if p.q.Since.IsZero() {
		return true
	}
	if p.isOld(line) {
		p.old++
	} else {
		p.old = 0
	}
	return p.q.Forward || p.q.After > 0 || p.old < oldInARow
}

func (p *page) isOld(line []byte) bool {
	_, rest, _ := bytes.Cut(line, []byte(`,"ts":"`))
	stamp, _, _ := bytes.Cut(rest, []byte{'"'})
	t, err := time.Parse(time.RFC3339Nano, string(stamp))
	return err == nil && t.Before(p.q.Since)
}

// skip reports whether a backward search can skip a block of complete lines, because no line contains a needle from
// each set. Searching a whole block is several times as fast as searching each line.
func (p *page) skip(block []byte) bool {
	mayMatch := !slices.ContainsFunc(p.needles, func(set [][]byte) bool {
		return !containsAny(block, set)
	})
	lines := bytes.TrimSuffix(block, []byte{'\n'})
	first, _, _ := bytes.Cut(lines, []byte{'\n'})
	seq, ok := unseal(first)
	if mayMatch || !ok || seq >= p.low || p.old >= oldInARow || p.ctx.Err() != nil {
		return false
	}
	p.low = seq
	last := lines[bytes.LastIndexByte(lines, '\n')+1:]
	if !p.q.Since.IsZero() && p.isOld(first) && p.isOld(last) {
		p.old += bytes.Count(block, []byte{'\n'})
	} else {
		p.old = 0
	}
	return true
}

func containsAny(text []byte, needles [][]byte) bool {
	return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
}

func (p *page) forward(dir string) error {
	c := &cursor{dir: dir, damage: p.damage, after: p.q.After}
	defer c.close()
	for {
		line, ok, err := c.next()
		if !ok || err != nil {
			return err
		}
		if p.q.Before > 0 && c.after >= p.q.Before {
			return nil
		}
		if more, err := p.take(line); !more || err != nil {
			return err
		}
	}
}

func (p *page) backward(dir string) error {
	p.low = p.q.Before
	if p.low == 0 {
		p.low = maxSeq + 1
	}
	for range relists {
		files, err := list(dir)
		if err != nil {
			return err
		}
		more := true
		for i := len(files) - 1; i >= 0 && more && err == nil; i-- {
			if files[i].first < p.low {
				more, err = p.backwardIn(files[i])
			}
		}
		// after errMoved, list the files again
		if !errors.Is(err, errMoved) {
			return err
		}
	}
	return errors.New("the files change faster than they can be read")
}

func (p *page) backwardIn(f file) (more bool, err error) {
	o, err := f.open()
	if err != nil {
		return false, err
	}
	defer o.Close()
	info, err := o.Stat()
	if err != nil {
		return false, err
	}
	end := info.Size()
	if p.low <= maxSeq {
		if end, err = p.endBelow(o, end); err != nil {
			return false, err
		}
	}
	var failed error
	more = true
	err = backward(o, end, p.skip, func(line []byte, off, to int64) bool {
		seq, ok := unseal(line)
		switch {
		case !ok:
			p.damage.add(Damage{f.name(), off, to, why(line)}, line)
		case seq < p.low:
			p.low = seq
			more, failed = p.take(line)
		}
		return more
	})
	if errors.Is(err, io.ErrUnexpectedEOF) { // a writer has cut off an incomplete line
		err = errMoved
	}
	return more && failed == nil, cmp.Or(failed, err)
}

func (p *page) endBelow(r io.ReaderAt, size int64) (int64, error) {
	off, err := locate(r, size, p.low-1)
	if err != nil {
		return 0, err
	}
	s := &scanner{r: r, off: off}
	for {
		line, off, err := s.next()
		if errors.Is(err, io.EOF) {
			return off, nil
		}
		if err != nil {
			return 0, err
		}
		if seq, ok := unseal(line); ok && seq >= p.low {
			return off, nil
		}
	}
}
