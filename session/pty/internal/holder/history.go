package holder

// history contains the newest output of a session. holder.mu protects it.
type history struct {
	out           ring
	modes         modes
	restartPoints restartPoints
	cleared       uint64 // position at which the output was last cleared
	cutSequence   bool   // cleared is inside an escape sequence
}

func (k *history) add(text []byte) {
	if k.modes.state == ground {
		k.restartPoints.add(k.out.end)
	}
	k.out.Write(text)
	k.modes.Write(text)
}

func (k *history) clear() {
	k.out.clear()
	k.cleared, k.cutSequence = k.out.end, k.modes.state != ground
}

func (k *history) replayFrom(from uint64) []byte {
	var b []byte
	if k.out.start > 0 || from > 0 {
		b = k.modes.restore()
	}
	n := len(b)
	b = append(b, make([]byte, k.out.end-from)...)
	k.out.readAt(from, b[n:])
	// at the end, because the output itself may contain sequences that push and pop flags
	if (k.out.start > 0 || from > 0) && k.modes.state == ground {
		b = append(b, k.modes.screenKeys().restore()...)
	}
	return b
}

func (k *history) tail(bytes int) (from uint64, ok bool) {
	if bytes <= 0 || k.out.end-k.out.start <= uint64(bytes) || !k.modes.isPlain() {
		return 0, false
	}
	from, ok = k.restartPoints.before(k.out.end - uint64(bytes))
	return from, ok && from > k.out.start
}

// restartPoints are positions outside escape sequences, at least restartPointEvery bytes apart.
type restartPoints struct {
	at [16]uint64
	n  int // number of positions added so far
}

const restartPointEvery = 4 << 10

func (c *restartPoints) add(pos uint64) {
	if c.n > 0 && pos-c.at[(c.n-1)%len(c.at)] < restartPointEvery {
		return
	}
	c.at[c.n%len(c.at)] = pos
	c.n++
}

func (c *restartPoints) before(limit uint64) (pos uint64, ok bool) {
	for i := c.n - 1; i >= 0 && i >= c.n-len(c.at); i-- {
		if pos = c.at[i%len(c.at)]; pos <= limit {
			return pos, true
		}
	}
	return 0, false
}
