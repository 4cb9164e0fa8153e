package tui

import "context"

// viewRun shows what a run prints until ctx ends. A stream that breaks while the run goes is opened anew.
func (v *viewer) viewRun(ctx context.Context, t watch) {
	n := paneNews{run: t.run}
	for tries := 0; ; tries++ {
		err := v.hear(ctx, &n, &tries)
		if ctx.Err() != nil {
			return
		}
		n.ended, n.problem = err == nil || !v.running(), ""
		if err != nil {
			n.problem = whyGone(err)
		}
		v.box.putPane(n)
		if n.ended || !again(ctx, tries+2) {
			<-ctx.Done()
			return
		}
	}
}

// hear reads a run's output once, from what is kept of it on. The lines in the mailbox never change.
func (v *viewer) hear(ctx context.Context, n *paneNews, tries *int) error {
	var text paper
	for piece, err := range v.city.RunOutput(ctx, n.run) {
		if err != nil {
			return err
		}
		*tries = 0
		text.add(piece)
		n.urgent = n.fed == 0
		n.text, n.fed, n.ended, n.problem = text.plain(), text.fed, false, ""
		v.box.putPane(*n)
	}
	return nil
}
