package folder

// SendLatest sends a value to a channel with a capacity of one. It replaces a value that has not been received yet. It
// must not be called concurrently.
func SendLatest[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
