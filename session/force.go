package session

import "context"

type forceKey struct{}

// WithForce returns a context with which Stop abandons a session if the session's host does not confirm that it ended.
// The processes might still be running there, so only a user can request force. If force is false, WithForce returns
// ctx.
func WithForce(ctx context.Context, force bool) context.Context {
	if !force {
		return ctx
	}
	return context.WithValue(ctx, forceKey{}, true)
}

// Forced reports whether Stop should abandon a session if the session's host does not confirm that it ended.
func Forced(ctx context.Context) bool {
	force, _ := ctx.Value(forceKey{}).(bool)
	return force
}
