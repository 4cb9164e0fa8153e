package shell

import (
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

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

// pipes are a line's output on its way: one for stdout and stderr, which keeps their order, or one for each.
type pipes struct {
	readers, writers []*os.File
	into             []io.Writer
	copying          sync.WaitGroup
}

// connect gives a command its pipes. The caller calls begun, once it has started or failed to, and then finish.
func (c *capture) connect(cmd *exec.Cmd, split bool) (*pipes, error) {
	p := &pipes{}
	w, err := p.open(c)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if !split {
		return p, nil
	}
	if w, err = p.open((*first)(c)); err != nil {
		p.begun()
		p.finish()
		return nil, err
	}
	cmd.Stdout = w
	return p, nil
}

func (p *pipes) open(into io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.readers, p.writers, p.into = append(p.readers, r), append(p.writers, w), append(p.into, into)
	return w, nil
}

// begun lets go of the ends that are the command's now, and reads the others.
func (p *pipes) begun() {
	for i, w := range p.writers {
		w.Close()
		p.copying.Go(func() { io.Copy(p.into[i], p.readers[i]) })
	}
}

// finish waits until everything is read, and gives up on whoever still holds a pipe.
func (p *pipes) finish() {
	for _, r := range p.readers {
		r.SetReadDeadline(time.Now().Add(pipeGrace))
	}
	p.copying.Wait()
	for _, r := range p.readers {
		r.Close()
	}
}
