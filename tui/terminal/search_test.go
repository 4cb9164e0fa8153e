package terminal

import (
	"fmt"
	"strings"
	"testing"
)

// A search reveals its match also in a view that omits blank rows and repeated columns.
func TestRevealInACompactedView(t *testing.T) {
	rows := make([]string, 50)
	for i := range rows {
		switch {
		case i == 0:
			rows[i] = "top " + strings.Repeat(" ", 100) + "here"
		case i == 19:
			rows[i] = "needle"
		case i > 19:
			rows[i] = fmt.Sprintf("row %d", i)
		}
	}
	s := NewScreen(120, 50, 0)
	_, _ = s.Write([]byte("\x1b[?1049h" + strings.Join(rows, "\r\n"))) // never fails
	for _, text := range []string{"needle", "here", "row 49"} {
		p := Pane{News: News{Agent: "builder", Screen: s}, Fit: true, Search: NewSearch(text)}
		p.Freeze(p.All())
		p.Reveal(80, 20)
		shown := ""
		for _, l := range p.Window(80, 20) {
			shown += l.Text + "\n"
		}
		if !strings.Contains(shown, currentMatch+text) || p.X > 0 {
			t.Errorf("%s: from row %d, column %d:\n%s", text, p.Y, p.X, shown)
		}
	}
}
