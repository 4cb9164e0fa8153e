package holder

// kept is the newest output of a life, with facts about the life's whole output. holder.mu protects it.
type kept struct {
	out     ring
	modes   modes
	cuts    cuts
	cleared uint64 // position at which the output was last cleared
}

// keep adds new output.
func (k *kept) keep(text []byte) {
	if k.modes.state == ground {
		k.cuts.add(k.out.end)
	}
	k.out.Write(text)
	k.modes.Write(text)
}

// replayFrom returns the output from a position on. The result begins with sequences that set the modes from
// earlier output.
func (k *kept) replayFrom(from uint64) []byte {
	var b []byte
	if k.out.start > 0 || from > 0 {
		b = k.modes.restore()
	}
	n := len(b)
	b = append(b, make([]byte, k.out.end-from)...)
	k.out.readAt(from, b[n:])
	return b
}

// tail returns a position near the end of the output such that the output from there is enough to draw the screen.
// ok is false if there is no such position.
func (k *kept) tail(bytes int) (from uint64, ok bool) {
	if bytes <= 0 || k.out.end-k.out.start <= uint64(bytes) || !k.modes.isPlain() {
		return 0, false
	}
	from, ok = k.cuts.before(k.out.end - uint64(bytes))
	return from, ok && from > k.out.start
}

// cuts are positions in the output that are not within escape sequences. They are at least cutEvery bytes apart.
// Only the newest positions are stored.
type cuts struct {
	at [16]uint64
	n  int // number of positions added so far
}

const cutEvery = 4 << 10

// add adds a position.
func (c *cuts) add(pos uint64) {
	if c.n > 0 && pos-c.at[(c.n-1)%len(c.at)] < cutEvery {
		return
	}
	c.at[c.n%len(c.at)] = pos
	c.n++
}

// before returns the newest position that is not after limit.
func (c *cuts) before(limit uint64) (pos uint64, ok bool) {
	for i := c.n - 1; i >= 0 && i >= c.n-len(c.at); i-- {
		if pos = c.at[i%len(c.at)]; pos <= limit {
			return pos, true
		}
	}
	return 0, false
}
