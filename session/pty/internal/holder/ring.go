package holder

// ring keeps the newest bytes written to it. A position counts all bytes since the start of the session.
type ring struct {
	buf   []byte // the length is 0 or a power of two
	start uint64 // position of the oldest byte
	end   uint64 // position after the newest byte
	max   int
}

const minRing = 4 << 10

func (r *ring) Write(p []byte) {
	if over := len(p) - r.max; over > 0 {
		r.end += uint64(over)
		r.start = r.end
		p = p[over:]
	}
	r.grow(int(r.end-r.start) + len(p))
	for len(p) > 0 {
		n := copy(r.buf[r.end&uint64(len(r.buf)-1):], p)
		r.end += uint64(n)
		p = p[n:]
	}
	if kept := uint64(len(r.buf)); r.end-r.start > kept {
		r.start = r.end - kept
	}
}

func (r *ring) grow(need int) {
	size := max(len(r.buf), minRing)
	for size < need && size < r.max {
		size *= 2
	}
	if size == len(r.buf) {
		return
	}
	kept := r.bytes()
	r.buf = make([]byte, size)
	for pos := r.start; len(kept) > 0; {
		n := copy(r.buf[pos&uint64(size-1):], kept)
		pos += uint64(n)
		kept = kept[n:]
	}
}

func (r *ring) readAt(pos uint64, p []byte) int {
	n := 0
	for n < len(p) && pos < r.end {
		from := r.buf[pos&uint64(len(r.buf)-1):]
		from = from[:min(uint64(len(from)), r.end-pos)]
		c := copy(p[n:], from)
		n += c
		pos += uint64(c)
	}
	return n
}

func (r *ring) bytes() []byte {
	p := make([]byte, r.end-r.start)
	r.readAt(r.start, p)
	return p
}

func (r *ring) clear() {
	r.start = r.end
	r.buf = nil
}

// safeStart returns the first position that is not inside an escape sequence. After dropped output, it searches the
// next 8 KiB for a line feed or an ESC.
func (r *ring) safeStart(dropped bool) uint64 {
	if !dropped {
		return r.start
	}
	var head [512]byte
	for pos := r.start; pos < r.end && pos < r.start+8<<10; {
		n := r.readAt(pos, head[:])
		for i, c := range head[:n] {
			switch c {
			case '\n':
				return pos + uint64(i) + 1
			case 0x1b:
				return pos + uint64(i)
			}
		}
		pos += uint64(n)
	}
	return r.start
}
