package terminal

import "gcity/internal/screen"

// Screen is what the pane needs of a terminal's screen. Safe for use by several goroutines.
type Screen interface {
	Write(p []byte) (int, error)
	Resize(cols, rows int)
	Size() (cols, rows int)
	Lines(w, h int) []string // h lines, cut to w columns, text and SGR only
	Cursor() (x, y int, visible bool)
	Shot(past int) screen.Shot // all of one moment
	Alt() bool
	Version() uint64
	Close()
}

// News is the state of the terminal being watched.
type News struct {
	Agent, Session string
	Run            string   // instead of them: its output is in text
	Screen         Screen   // nil: there was none to see, text has the last words
	Text           []string // safe lines, which never change
	Fed            uint64   // lines the session has written since the watch began
	Ended          bool     // the stream has ended
	Problem        string   // why nothing can be seen
	Keeps          int      // lines of history that the screen keeps
	Urgent         bool     // first sight of a session: shown at once
}

// ScreenMaker makes a terminal's screen.
type ScreenMaker func(cols, rows, scrollback int) Screen

func NewScreen(cols, rows, scrollback int) Screen { return screen.New(cols, rows, scrollback) }

const (
	UsualCols  = 120 // until the first frame says otherwise
	UsualRows  = 40
	Scrollback = 500
	// LogLines is how far the logs go back: more than the ring of a session usually holds.
	LogLines = 10000
)
