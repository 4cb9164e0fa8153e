package tmux

import "context"

// Check implements session.Checker: tmux is there still, and new enough.
func (p *Provider) Check(ctx context.Context) error {
	_, err := find(ctx)
	return err
}
