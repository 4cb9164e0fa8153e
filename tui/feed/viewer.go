package feed

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"time"

	"gcity/city"
	"gcity/tui/terminal"
	"gcity/tui/widget"
)

const (
	// SettleDelay is how long the pane waits before it opens a stream. Without it, the pane would open a stream for
	// every row that the cursor passes.
	SettleDelay = 80 * time.Millisecond
	// maxWrite is the maximum number of bytes in one write to a screen. It is small, so that readers of the screen do
	// not wait long.
	maxWrite = 8 << 10
)

// Viewer watches one terminal, or the output of one run, at a time.
type Viewer struct {
	city      city.Control
	mailbox   *Mailbox
	newScreen terminal.ScreenMaker

	mu     sync.Mutex
	target Watch
	cancel context.CancelFunc
	wake   chan struct{}
}

func NewViewer(c city.Control, b *Mailbox, newScreen terminal.ScreenMaker) *Viewer {
	return &Viewer{city: c, mailbox: b, newScreen: newScreen, wake: make(chan struct{}, 1)}
}

// Show sets the session or the run to watch.
func (v *Viewer) Show(t Watch) {
	v.mu.Lock()
	defer v.mu.Unlock()
	same := v.target.Agent == t.Agent && v.target.Session == t.Session && v.target.Run == t.Run &&
		v.target.AllOutput == t.AllOutput
	resumed := t.Running && !v.target.Running // the stream of a session that had ended is closed
	v.target = t
	if same && !resumed {
		return
	}
	if v.cancel != nil {
		v.cancel()
	}
	wake(v.wake)
}

// Run watches the current target until ctx ends.
func (v *Viewer) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-v.wake:
		}
		for v.waitUntilSettled(ctx) {
		}
		if ctx.Err() != nil {
			return
		}
		v.mu.Lock()
		t := v.target
		child, cancel := context.WithCancel(ctx)
		v.cancel = cancel
		v.mu.Unlock()
		switch {
		case t.Run != "":
			v.viewRun(child, t)
		case t.Agent != "":
			v.view(child, t)
		}
		cancel()
	}
}

// waitUntilSettled waits for SettleDelay. It returns true immediately if the target changes during that time.
func (v *Viewer) waitUntilSettled(ctx context.Context) bool {
	t := time.NewTimer(SettleDelay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-v.wake:
		return true
	case <-t.C:
		return false
	}
}

func (v *Viewer) view(ctx context.Context, t Watch) {
	p := terminal.News{Agent: t.Agent, Session: t.Session, HistoryLimit: terminal.Scrollback}
	if t.AllOutput {
		p.HistoryLimit = terminal.LogLines
	}
	for tries := 0; ; tries++ {
		err := v.stream(ctx, &p, &tries)
		if ctx.Err() != nil {
			return
		}
		running := v.running()
		p.Ended, p.Problem = !running || err == nil, ""
		if err != nil {
			p.Problem = unreachableReason(err)
		}
		failed := p.Screen == nil && v.readLastOutput(ctx, &p)
		v.mailbox.PutPane(p)
		if running {
			running = waitToRetry(ctx, tries+2) && v.running()
		}
		if !running {
			v.readLateOutput(ctx, &p, failed)
			<-ctx.Done()
			return
		}
	}
}

// readLateOutput reads the last output again if there was none, because the controller stores it only after it has
// reported the end of the session. It continues while the requests fail.
func (v *Viewer) readLateOutput(ctx context.Context, p *terminal.News, failed bool) {
	const tries = 5
	for n := 0; n < tries || failed; n++ {
		if p.Screen != nil || len(p.Text) > 0 || !waitToRetry(ctx, n) {
			return
		}
		before := p.Problem
		failed = v.readLastOutput(ctx, p)
		if len(p.Text) > 0 || p.Problem != before {
			v.mailbox.PutPane(*p)
		}
	}
}

func (v *Viewer) running() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.target.Running
}

func (v *Viewer) stream(ctx context.Context, p *terminal.News, tries *int) error {
	for f, err := range v.city.Watch(ctx, p.Agent) {
		if err != nil {
			return err
		}
		*tries = 0
		p.Immediate = p.Screen == nil
		began := time.Now()
		v.writeFrame(p, f)
		spent := time.Since(began)
		p.Ended, p.Problem, p.Text = false, "", nil
		v.mailbox.PutPane(*p)
		if spent > slowFrame && !pause(ctx, min(2*spent, maxFramePause)) {
			return nil
		}
	}
	return nil
}

// At most a third of the time is spent on interpreting a flood of output, so that the rest of the room stays
// responsive.
const (
	slowFrame     = 5 * time.Millisecond
	maxFramePause = 250 * time.Millisecond
)

func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (v *Viewer) writeFrame(p *terminal.News, f city.Frame) {
	old := p.Screen
	if old == nil || f.Reset {
		cols, rows := terminal.DefaultCols, terminal.DefaultRows
		if p.Screen != nil {
			cols, rows = p.Screen.Size()
		}
		if f.Cols > 0 && f.Rows > 0 {
			cols, rows = f.Cols, f.Rows
		}
		p.Screen = v.newScreen(cols, rows, p.HistoryLimit)
	} else if f.Cols > 0 && f.Rows > 0 {
		p.Screen.Resize(f.Cols, f.Rows)
	}
	for data := f.Data; len(data) > 0; {
		n := min(len(data), maxWrite)
		_, _ = p.Screen.Write(data[:n]) // a screen's Write never fails
		data = data[n:]
	}
	lines := uint64(bytes.Count(f.Data, []byte{'\n'}))
	if old != nil && f.Reset { // a new stream repeats the output that the old screen shows
		if n, ok := terminal.LinesSince(old, p.Screen); ok {
			lines = n
		}
	}
	p.LinesReceived += lines
}

// readLastOutput reads the output of the previous session. It reports whether the request failed.
func (v *Viewer) readLastOutput(ctx context.Context, p *terminal.News) (failed bool) {
	request, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text, err := v.city.Output(request, p.Agent, p.HistoryLimit)
	switch {
	case city.HasCode(err, city.NotFound):
	case err != nil:
		if !v.running() {
			p.Problem = unreachableReason(err)
		}
		return true
	case strings.TrimSpace(text) != "":
		p.Text, p.Problem, p.Ended = widget.AllPlain(text), "", true
	case !v.running():
		p.Problem = ""
	}
	return false
}
