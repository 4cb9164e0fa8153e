package folder

// Latest puts a value into a channel of capacity one, and replaces a value that was not received yet. It must have
// a single caller at a time.
func Latest[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
