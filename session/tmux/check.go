package tmux

import "context"

// Check implements session.Checker: tmux is there still, and new enough.
func (p *Provider) Check(context.Context) error {
	_, err := Find()
	return err
}
