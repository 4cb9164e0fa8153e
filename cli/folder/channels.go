package folder

// SendLatest sends a value to a channel of capacity one, and replaces a value that has not been received yet. It must
// not be called concurrently.
func SendLatest[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
