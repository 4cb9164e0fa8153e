package terminal

import "gcity/internal/screen"

// Screen is what the pane needs of a terminal's screen. It is safe for use by several goroutines.
type Screen interface {
	Write(p []byte) (int, error)
	Resize(cols, rows int)
	Size() (cols, rows int)
	Lines(w, h int) []string // h lines, cut to w columns, text and SGR only
	Cursor() (x, y int, visible bool)
	Shot(past int) screen.Shot // consistent at one moment
	Alt() bool
	Version() uint64
	Close()
}

// News is the state of the terminal being watched.
type News struct {
	Agent, Session string
	Run            string   // used instead of Agent and Session: the output is in Text
	Screen         Screen   // nil: not available, and Text has the last output
	Text           []string // clean lines, which never change
	Fed            uint64   // lines that the session has written since watching began
	Ended          bool     // the stream has ended
	Problem        string   // why no output is available
	Keeps          int      // lines of history that the screen stores
	Urgent         bool     // the first news of a session, shown at once
}

// ScreenMaker creates a terminal's screen.
type ScreenMaker func(cols, rows, scrollback int) Screen

func NewScreen(cols, rows, scrollback int) Screen { return screen.New(cols, rows, scrollback) }

const (
	UsualCols  = 120 // until the first frame sets the size
	UsualRows  = 40
	Scrollback = 500
	// LogLines is the length of the logs: more than the ring of a session usually holds.
	LogLines = 10000
)
