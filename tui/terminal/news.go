package terminal

import "gcity/internal/screen"

// Screen is the part of a terminal's screen that the pane uses. It is safe for use by several goroutines.
type Screen interface {
	Write(p []byte) (int, error)
	Resize(cols, rows int)
	Size() (cols, rows int)
	Lines(w, h int) []string // returns h lines, cut to w columns, with only text and SGR
	Cursor() (x, y int, visible bool)
	Shot(past int) screen.Shot // returns a consistent copy of the screen
	Alt() bool
	Version() uint64
	Close()
}

// News is the state of the terminal that is being watched.
type News struct {
	Agent, Session string
	// ID of a run that is shown instead of Agent and Session; its output is in Text
	Run           string
	Screen        Screen   // nil = not available; Text is then the last output
	Text          []string // cleaned lines; a line never changes
	LinesReceived uint64   // number of lines that the session has written since watching began
	Ended         bool
	Problem       string // why no output is available
	HistoryLimit  int    // number of history lines that the screen stores
	Immediate     bool   // this is the first news of a session, so it is shown without delay
}

// ScreenMaker creates a terminal's screen.
type ScreenMaker func(cols, rows, scrollback int) Screen

func NewScreen(cols, rows, scrollback int) Screen { return screen.New(cols, rows, scrollback) }

const (
	DefaultCols = 120 // size until the first frame arrives
	DefaultRows = 40
	Scrollback  = 500
	LogLines    = 10000
)
