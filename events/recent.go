package events

import (
	"slices"
	"sync"
)

const (
	recentEvents = 4096
	recentBytes  = 8 << 20
)

// recent caches the newest events in decoded form and wakes waiting followers. It has its own lock, so that readers
// never wait for a write.
type recent struct {
	mu    sync.Mutex
	last  uint64
	floor uint64 // items contains all readable events after this seq
	items []item
	bytes int
	wake  chan struct{} // closed when the next event is added; nil = no follower is waiting
	done  bool
}

type item struct {
	event Event
	size  int
}

func (r *recent) publish(items []item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, it := range items {
		if it.event.Seq <= r.last {
			continue
		}
		r.last = it.event.Seq
		r.items = append(r.items, it)
		r.bytes += it.size
	}
	if len(r.items) > 2*recentEvents || r.bytes > 2*recentBytes {
		r.trim()
	}
	r.wakeReaders()
}

func (r *recent) trim() {
	drop := 0
	for drop < len(r.items) && (len(r.items)-drop > recentEvents || r.bytes > recentBytes) {
		r.bytes -= r.items[drop].size
		r.floor = r.items[drop].event.Seq
		drop++
	}
	r.items = slices.Delete(r.items, 0, drop)
}

// After skip, followers read the events up to last from the files.
func (r *recent) skip(last uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last <= r.last {
		return
	}
	r.items, r.bytes, r.last, r.floor = nil, 0, last, last
	r.wakeReaders()
}

func (r *recent) wakeReaders() {
	if r.wake != nil {
		close(r.wake)
		r.wake = nil
	}
}

func (r *recent) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	r.wakeReaders()
}

func (r *recent) newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

func (r *recent) waited() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wake != nil
}

func (r *recent) changed(after uint64) (ch <-chan struct{}, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last > after || r.done {
		closed := make(chan struct{})
		close(closed)
		return closed, false
	}
	if r.wake == nil {
		r.wake, first = make(chan struct{}), true
	}
	return r.wake, first
}

func (r *recent) since(after uint64, buf []Event) (found []Event, floor uint64, reaches bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if after < r.floor {
		return buf[:0], r.floor, false
	}
	i, _ := slices.BinarySearchFunc(r.items, after+1, func(it item, seq uint64) int {
		if it.event.Seq < seq {
			return -1
		}
		return 1
	})
	n := min(len(r.items)-i, cap(buf))
	buf = buf[:n]
	for j := range n {
		buf[j] = r.items[i+j].event
	}
	return buf, r.floor, true
}

func (r *recent) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done
}
