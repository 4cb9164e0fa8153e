package holder

import (
	"context"
	"time"
)

// queries is a set of queries to which a terminal replies.
type queries uint8

const (
	queryStatus     queries = 1 << iota // CSI 5 n
	queryCursor                         // CSI 6 n
	queryAttributes                     // CSI c
)

func (q *queries) add(final byte, param int) {
	switch {
	case final == 'n' && param == 5:
		*q |= queryStatus
	case final == 'n' && param == 6:
		*q |= queryCursor
	case final == 'c' && param == 0:
		*q |= queryAttributes
	}
}

// reply returns the replies. The holder does not know the position of the cursor, so it reports the top left corner.
// The attributes come last, because programs send that query last and then wait for no other reply.
func (q queries) reply() (b []byte) {
	if q&queryStatus != 0 {
		b = append(b, "\x1b[0n"...)
	}
	if q&queryCursor != 0 {
		b = append(b, "\x1b[1;1R"...)
	}
	if q&queryAttributes != 0 {
		b = append(b, "\x1b[?62;22c"...) // VT220 with colors
	}
	return b
}

// mustReply reports whether replies must be sent, and that no other goroutine does so. If a user is attached, the
// user's terminal replies. The caller must hold holder.mu.
func (l *life) mustReply() bool {
	if l.plain || len(l.attached) > 0 {
		l.modes.asked = 0
	}
	if l.modes.asked == 0 || l.replying {
		return false
	}
	l.replying = true
	return true
}

// replyTimeout is how long a terminal has to accept a reply.
const replyTimeout = time.Second

// sendReplies types the replies to the program's queries until there are no more of them. They do not count as input.
func sendReplies(h *holder, l *life) {
	for more := true; more; {
		h.mu.Lock()
		reply := l.modes.asked.reply()
		l.modes.asked = 0
		h.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), replyTimeout)
		if release, err := l.takeTyping(ctx); err == nil {
			if l.finish(ctx) == nil {
				_, _ = l.put(ctx, reply) // a program that does not read gets no reply
			}
			release()
		}
		cancel()
		h.mu.Lock()
		l.replying = false
		more = l.mustReply()
		h.mu.Unlock()
	}
}
