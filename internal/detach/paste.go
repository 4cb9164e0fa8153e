package detach

// Markers of a bracketed paste.
const (
	beginPaste = "\x1b[200~"
	endPaste   = "\x1b[201~"
)

// Paste reports whether typed input has stopped within a bracketed paste. It must not be used concurrently.
type Paste struct {
	open   bool
	marked int // number of bytes that match the beginning of the next marker
}

// Follow handles input that is sent to an agent.
func (p *Paste) Follow(input []byte) {
	for _, b := range input {
		p.follow(b)
	}
}

// Resume returns the bytes to send before the rest of the input on a new connection to the agent. gcity ends a paste
// when its connection ends. Without a new marker, the program would treat the rest of the paste as keys.
func (p *Paste) Resume() []byte {
	if p.open {
		return []byte(beginPaste)
	}
	return nil
}

// Ending returns the bytes to send after the rest of the input if the user cannot end the paste any more, for example
// because a shell has read the end.
func (p Paste) Ending(rest []byte) []byte {
	if p.Follow(rest); p.open {
		return []byte(endPaste)
	}
	return nil
}

// follow counts the matching bytes, because a marker can arrive in pieces.
func (p *Paste) follow(b byte) {
	marker := beginPaste
	if p.open {
		marker = endPaste
	}
	switch b {
	case marker[p.marked]:
		p.marked++
	case 0x1b:
		p.marked = 1
	default:
		p.marked = 0
	}
	if p.marked == len(marker) {
		p.open, p.marked = !p.open, 0
	}
}
