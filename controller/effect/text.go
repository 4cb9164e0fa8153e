package effect

import "time"

const (
	// SendAgain is the interval between attempts to type a message that is held back.
	SendAgain = 2 * time.Second
	// TypingPause is how long a message is held back after a viewer has pressed a key.
	TypingPause = 2 * time.Second
)
