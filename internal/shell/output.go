package shell

import "sync"

// capture keeps the end of a line's output. exec.Cmd writes to it from a goroutine for each pipe.
type capture struct {
	mu     sync.Mutex
	all    tail
	stdout tail // empty unless something is written to first
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.write(p)
	return len(p), nil
}

// first is a capture as stdout writes to it where stdout is kept apart.
type first capture

func (f *first) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all.write(p)
	f.stdout.write(p)
	return len(p), nil
}

func (c *capture) result() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Result{
		Output: c.all.bytes(), Dropped: c.all.dropped,
		Stdout: c.stdout.bytes(), StdoutDropped: c.stdout.dropped,
	}
}

// tail keeps the end of what is written.
type tail struct {
	buf     []byte
	max     int
	dropped int64
}

func (t *tail) write(p []byte) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.max { // cut rarely, not at each write
		t.cut()
	}
}

func (t *tail) cut() {
	if over := len(t.buf) - t.max; over > 0 {
		t.dropped += int64(over)
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) bytes() []byte {
	t.cut()
	return t.buf
}
