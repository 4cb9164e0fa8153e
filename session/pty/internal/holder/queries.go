package holder

import (
	"context"
	"time"
)

// queries contains the program's queries in their order, at most 8.
type queries struct {
	kinds [8]query
	n     uint8
}

type query uint8

const (
	queryStatus     query = iota // CSI 5 n
	queryCursor                  // CSI 6 n
	queryAttributes              // CSI c
)

func (q *queries) add(final byte, param int) {
	var kind query
	switch {
	case final == 'n' && param == 5:
		kind = queryStatus
	case final == 'n' && param == 6:
		kind = queryCursor
	case final == 'c' && param == 0:
		kind = queryAttributes
	default:
		return
	}
	if int(q.n) < len(q.kinds) {
		q.kinds[q.n] = kind
		q.n++
	}
}

// reply returns the replies. The holder does not know the position of the cursor, so it reports the top left corner.
func (q *queries) reply() (b []byte) {
	for _, kind := range q.kinds[:q.n] {
		switch kind {
		case queryStatus:
			b = append(b, "\x1b[0n"...)
		case queryCursor:
			b = append(b, "\x1b[1;1R"...)
		case queryAttributes:
			b = append(b, "\x1b[?62;22c"...) // VT220 with colors
		}
	}
	return b
}

// mustReply reports whether replies must be sent, and that no other goroutine does so. If a user is attached, the
// user's terminal replies. A program that reads whole lines cannot read a reply. It has only printed a query, for
// example with cat, and the reply would become part of the next line. The caller must hold holder.mu.
func (l *life) mustReply() bool {
	if l.modes.pending.n == 0 {
		return false
	}
	if l.plain || len(l.attached) > 0 || l.readsLines() {
		l.modes.pending = queries{}
	}
	if l.modes.pending.n == 0 || l.replying {
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
		reply := l.modes.pending.reply()
		l.modes.pending = queries{}
		h.mu.Unlock()
		typeReply(l, reply)
		h.mu.Lock()
		l.replying = false
		more = l.mustReply()
		h.mu.Unlock()
	}
}

// typeReply waits until other input has been typed. A program that does not read gets no reply.
func typeReply(l *life, reply []byte) {
	release, err := l.takeTyping(context.Background())
	if err != nil {
		return
	}
	defer release()
	ctx, cancel := context.WithTimeout(context.Background(), replyTimeout)
	defer cancel()
	if l.finish(ctx) == nil {
		_, _ = l.put(ctx, reply)
	}
}
