package feed

import (
	"context"

	"gcity/tui/terminal"
)

// viewRun shows what a run prints until ctx ends. A stream that breaks while the run goes is opened anew.
func (v *Viewer) viewRun(ctx context.Context, t Watch) {
	n := terminal.News{Run: t.Run}
	for tries := 0; ; tries++ {
		err := v.hear(ctx, &n, &tries)
		if ctx.Err() != nil {
			return
		}
		n.Ended, n.Problem = err == nil || !v.running(), ""
		if err != nil {
			n.Problem = whyGone(err)
		}
		v.box.PutPane(n)
		if n.Ended || !again(ctx, tries+2) {
			<-ctx.Done()
			return
		}
	}
}

// hear reads a run's output once, from what is kept of it on. The lines in the mailbox never change.
func (v *Viewer) hear(ctx context.Context, n *terminal.News, tries *int) error {
	var text terminal.Paper
	for piece, err := range v.city.RunOutput(ctx, n.Run) {
		if err != nil {
			return err
		}
		*tries = 0
		text.Add(piece)
		n.Urgent = n.Fed == 0
		n.Text, n.Fed, n.Ended, n.Problem = text.Plain(), text.Fed, false, ""
		v.box.PutPane(*n)
	}
	return nil
}
