package session

import "context"

type forceKey struct{}

// WithForce returns a context with which Stop abandons a session if the session's host does not confirm its end. The
// session's processes might keep running on the host, so only a user can request force. If force is false, WithForce
// returns ctx.
func WithForce(ctx context.Context, force bool) context.Context {
	if !force {
		return ctx
	}
	return context.WithValue(ctx, forceKey{}, true)
}

// Forced reports whether Stop should abandon a session if the session's host does not confirm its end.
func Forced(ctx context.Context) bool {
	force, _ := ctx.Value(forceKey{}).(bool)
	return force
}
