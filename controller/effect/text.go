package effect

import "time"

const (
	// SendAgain is the time between attempts to type a text that was held back.
	SendAgain = 2 * time.Second
	// TypingPause is how long a text is held back after a viewer's last key, with or without a draft.
	TypingPause = 2 * time.Second
)

// Why a text is held back.
const (
	WhyDraft  = "a user's draft is on its line"
	WhyTyping = "a user is typing into it"
	WhyEnded  = "its session has just ended"
)
