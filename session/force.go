package session

import "context"

type forceKey struct{}

// WithForce returns a context that makes Stop give up a session if its host does not confirm the end. The
// processes may still be running on that host, so only a user may request force. If force is false, WithForce
// returns ctx.
func WithForce(ctx context.Context, force bool) context.Context {
	if !force {
		return ctx
	}
	return context.WithValue(ctx, forceKey{}, true)
}

// Forced reports whether Stop gives up a session if its host does not confirm the end.
func Forced(ctx context.Context) bool {
	force, _ := ctx.Value(forceKey{}).(bool)
	return force
}
