package session

import "context"

type forceKey struct{}

// WithForce lets Stop abandon a session if the session's host does not confirm that it has ended. Only a user may
// request this, because processes might keep running.
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
