package folder

// SendLatest sends a value to a channel of capacity one. If the channel is full, the new value replaces the queued
// one. It must not be called concurrently.
func SendLatest[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
