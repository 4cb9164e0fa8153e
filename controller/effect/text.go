package effect

import "time"

const (
	// SendAgain is how long a text that was held back waits before it is tried again.
	SendAgain = 2 * time.Second
	// TypingPause is how long after a viewer's last key a text is held back, draft or not.
	TypingPause = 2 * time.Second
)

// Why a text is held back.
const (
	WhyDraft  = "somebody's draft is on its line"
	WhyTyping = "somebody is typing into it"
	WhyEnded  = "its session has just ended"
)
