package termsize

import (
	"testing"

	"github.com/creack/pty"
)

func TestOf(t *testing.T) {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	for _, c := range []struct{ reported, want pty.Winsize }{
		{pty.Winsize{}, pty.Winsize{Cols: 80, Rows: 24}},
		{pty.Winsize{Cols: 7, Rows: 3}, pty.Winsize{Cols: 7, Rows: 3}},
	} {
		if err := pty.Setsize(tty, &c.reported); err != nil {
			t.Fatal(err)
		}
		cols, rows, err := Of(tty.Fd())
		if err != nil || cols != int(c.want.Cols) || rows != int(c.want.Rows) {
			t.Errorf("%v: got %d×%d, %v", c.reported, cols, rows, err)
		}
	}
}
