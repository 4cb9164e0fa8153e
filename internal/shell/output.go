package shell

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

type capture struct {
	mu     sync.Mutex
	all    Tail
	stdout Tail
	tee    io.Writer
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.take(p)
	return len(p), nil
}

// take stores output and passes it to the tee. The caller must hold c.mu.
func (c *capture) take(p []byte) {
	_, _ = c.all.Write(p)
	if c.tee != nil {
		_, _ = c.tee.Write(p)
	}
}

type stdoutCapture capture

func (f *stdoutCapture) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	(*capture)(f).take(p)
	_, _ = f.stdout.Write(p)
	return len(p), nil
}

func (c *capture) result() Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Result{
		Output: c.all.Bytes(), Dropped: c.all.Dropped(),
		Stdout: c.stdout.Bytes(), StdoutDropped: c.stdout.Dropped(),
	}
}

// Tail is a writer that keeps the last Max bytes.
type Tail struct {
	Max     int
	buf     []byte
	dropped int64
}

func (t *Tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.Max { // seldom, because trimming copies the buffer
		t.cut()
	}
	return len(p), nil
}

func (t *Tail) cut() {
	if over := len(t.buf) - t.Max; over > 0 {
		t.dropped += int64(over)
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

// Bytes returns the kept bytes. They are valid until the next write.
func (t *Tail) Bytes() []byte {
	t.cut()
	return t.buf
}

// Dropped returns the number of bytes before the kept ones.
func (t *Tail) Dropped() int64 {
	t.cut()
	return t.dropped
}

// stdout and stderr can share a pipe, which preserves the order
type pipes struct {
	readers, writers []*os.File
	into             []io.Writer
	copying          sync.WaitGroup
	// output on descriptor 3 (see enterScript); complete after finish
	said strings.Builder
}

// connect opens pipes for the command's output. The caller starts the command, then calls begun and finish.
func (c *capture) connect(cmd *exec.Cmd, l Line) (_ *pipes, err error) {
	p := &pipes{}
	defer func() {
		if err != nil {
			p.begun()
			p.finish(pipeGrace)
		}
	}()
	w, err := p.open(c)
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if l.Split {
		if w, err = p.open((*stdoutCapture)(c)); err != nil {
			return nil, err
		}
		cmd.Stdout = w
	}
	if l.Dir != "" {
		if w, err = p.open(&p.said); err != nil {
			return nil, err
		}
		cmd.ExtraFiles = []*os.File{w}
	}
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

// begun closes this process's copies of the inherited pipe ends, and starts copying from the pipes.
func (p *pipes) begun() {
	for i, w := range p.writers {
		w.Close()
		p.copying.Go(func() {
			if _, err := io.Copy(p.into[i], p.readers[i]); errors.Is(err, os.ErrDeadlineExceeded) {
				drain(p.into[i], p.readers[i])
			}
		})
	}
}

const maxPipeSize = 1 << 20

// drain copies what a pipe contains, at most maxPipeSize bytes, without blocking. It resets the read deadline, because
// reads would fail otherwise.
func drain(into io.Writer, r *os.File) {
	raw, err := r.SyscallConn()
	if err != nil || r.SetReadDeadline(time.Time{}) != nil {
		return
	}
	buf := make([]byte, 32<<10)
	for total := 0; total < maxPipeSize; {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			n, _ = syscall.Read(int(fd), buf)
			return true
		})
		if err != nil || n <= 0 {
			return
		}
		_, _ = into.Write(buf[:n])
		total += n
	}
}

// after grace, finish abandons pipes that a process still holds open
func (p *pipes) finish(grace time.Duration) {
	for _, r := range p.readers {
		r.SetReadDeadline(time.Now().Add(grace))
	}
	p.copying.Wait()
	for _, r := range p.readers {
		r.Close()
	}
}
