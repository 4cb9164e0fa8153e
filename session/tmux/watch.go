package tmux

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"time"

	"gcity/internal/recovery"
	"gcity/session"
)

const (
	watchHistory = 1000 // lines of scrollback
	// maximum number of unread bytes; if more arrive, all are dropped and the screen is sent again
	watchLag = 256 << 10
)

// Watch implements session.Watcher. A frame without data reports a new size.
func (p *Provider) Watch(ctx context.Context, name string) iter.Seq2[session.Frame, error] {
	return func(yield func(session.Frame, error) bool) {
		_, rec, err := p.living("watch", name)
		if err == nil {
			err = p.watchLife(ctx, &rec, yield)
		}
		if err != nil && ctx.Err() == nil {
			yield(session.Frame{}, err)
		}
	}
}

func (p *Provider) watchLife(ctx context.Context, rec *record,
	yield func(session.Frame, error) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	cmd := p.tmux.command(ctx, "-C", "attach-session", "-f", "ignore-size", "-t", rec.target())
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("cannot watch %q: %w", rec.Name, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("cannot watch %q: %w", rec.Name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot watch %q: %w", rec.Name, err)
	}
	w := &watcher{rec: rec, news: make(chan struct{}, 1), done: make(chan struct{})}
	var wg recovery.Group
	wg.Go(func() { w.readOutput(out) })
	defer func() {
		cancel()
		wg.Wait()
		_ = cmd.Wait()
	}()
	if err := w.ask(in); err != nil {
		return missing("watch", rec.Name)
	}
	seen := false
	for over := false; !over; {
		select {
		case <-w.news:
		case <-w.done:
			over = true
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		f, behind, ok := w.take()
		if behind {
			if err := w.ask(in); err != nil {
				return nil
			}
		}
		if ok {
			seen = true
			if !yield(f, nil) {
				return nil
			}
		}
	}
	if !seen {
		return missing("watch", rec.Name)
	}
	return nil
}

type watcher struct {
	rec  *record
	news chan struct{} // contains a token when a frame is available
	done chan struct{}

	mu         sync.Mutex
	cols, rows int
	resized    bool
	reset      bool // data begins with a redraw of the screen
	stale      bool // output is dropped until the screen is redrawn
	dropped    uint64
	data       []byte
}

func (w *watcher) ask(in io.Writer) error {
	w.mu.Lock()
	w.stale, w.data = true, nil
	w.mu.Unlock()
	_, err := fmt.Fprintf(in, "display-message -p -t '%[1]s' '#{pane_width} #{pane_height} "+
		"#{cursor_x} #{cursor_y} #{alternate_on}'\n"+
		"capture-pane -p -e -S -%[2]d -t '%[1]s'\n", w.rec.target(), watchHistory)
	return err
}

// take returns the next frame; ok is false if no frame is available. If behind is true, the caller must call ask again.
func (w *watcher) take() (f session.Frame, behind, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stale {
		behind, w.data = w.data != nil, nil
		return f, behind, false
	}
	ok = w.reset || w.resized || len(w.data) > 0
	f = session.Frame{Reset: w.reset, Cols: w.cols, Rows: w.rows, Data: w.data, Dropped: w.dropped}
	w.reset, w.resized, w.data = false, false, nil
	return f, false, ok
}

func (w *watcher) notify() {
	select {
	case w.news <- struct{}{}:
	default:
	}
}

func (w *watcher) readOutput(out io.Reader) {
	defer close(w.done)
	r := bufio.NewReaderSize(out, 32<<10)
	var block []string // lines of the current response; nil outside a response
	var end string
	var numbers []int
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		head, rest, _ := strings.Cut(line, " ")
		switch {
		case block == nil && head == "%begin":
			block, end = []string{}, rest
		case block != nil && head == "%end" && rest == end:
			// the flag 1 marks a response to a command that ask sent
			if strings.HasSuffix(end, " 1") {
				numbers = w.received(numbers, block)
			}
			block = nil
		case block != nil && head == "%error" && rest == end:
			return
		case block != nil:
			block = append(block, line)
		case head == "%output":
			if pane, data, ok := strings.Cut(rest, " "); ok && pane == w.rec.Pane {
				w.printed(unescape(data))
			}
		case head == "%layout-change":
			w.layoutChanged(rest)
		case head == "%exit":
			return
		}
	}
}

// received handles the first response to a query if numbers is nil, and otherwise the second.
func (w *watcher) received(numbers []int, block []string) []int {
	if numbers == nil {
		for _, f := range strings.Fields(strings.Join(block, " ")) {
			numbers = append(numbers, number(f))
		}
		return numbers
	}
	if len(numbers) == 5 {
		w.mu.Lock()
		w.cols, w.rows = max(1, numbers[0]), max(1, numbers[1])
		w.reset, w.stale = true, false
		w.data = replay(block, numbers)
		w.mu.Unlock()
		w.notify()
	}
	return nil
}

func replay(lines []string, where []int) []byte {
	var b strings.Builder
	if where[4] == 1 {
		b.WriteString("\x1b[?1049h")
		lines = lines[max(0, len(lines)-where[1]):]
	}
	b.WriteString("\x1b[H\x1b[2J")
	b.WriteString(strings.Join(lines, "\r\n"))
	fmt.Fprintf(&b, "\x1b[m\x1b[%d;%dH", where[3]+1, where[2]+1)
	return []byte(b.String())
}

func (w *watcher) printed(data []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stale:
		return // the redraw will contain the data
	case len(w.data)+len(data) > watchLag:
		w.dropped += uint64(len(w.data) + len(data))
		w.stale, w.data = true, []byte{} // the next call to take requests a redraw
	default:
		w.data = append(w.data, data...)
	}
	w.notify()
}

// rest is for example "@1 c25d,80x24,0,0,1 …"
func (w *watcher) layoutChanged(rest string) {
	f := strings.Split(rest, ",")
	if len(f) < 2 {
		return
	}
	cols, rows, _ := strings.Cut(f[1], "x")
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, r := number(cols), number(rows); c > 0 && r > 0 && (c != w.cols || r != w.rows) {
		w.cols, w.rows, w.resized = c, r, true
		w.notify()
	}
}

// unescape decodes the octal escapes of tmux's control mode, such as \015.
func unescape(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1]) && isOctal(s[i+2]) && isOctal(s[i+3]) {
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		out = append(out, s[i])
	}
	return out
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }
