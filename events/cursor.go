package events

import (
	"errors"
	"fmt"
	"io"
	"os"
)

type cursor struct {
	dir    string
	damage *damageCounter
	after  uint64

	f    *os.File
	at   file
	scan scanner
	last bool // the file was rotated, so it no longer grows

	idle bool           // the end was reached before; the file might have been rewritten since
	mark [sealSize]byte // seal of the last valid line that was read
	ends int64          // offset of the end of that line; 0 = none
}

func (c *cursor) close() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}

// next returns false at the end of the log. The line is valid until the next call.
func (c *cursor) next() (line []byte, ok bool, err error) {
	for tries := 0; tries < relists; {
		if c.f == nil {
			found, err := c.seek()
			if errors.Is(err, errMoved) {
				tries++
				continue
			}
			if err != nil || !found {
				return nil, false, err
			}
		}
		// if the file has been rewritten since the last read, read it from the start
		if c.idle && !c.marked() {
			c.scan, c.ends = scanner{r: c.f}, 0
		}
		c.idle = false
		line, off, err := c.scan.next()
		switch {
		case err == nil:
			seq, ok := unseal(line)
			if !ok {
				c.damage.add(Damage{c.at.name(), off, c.scan.off, why(line)}, line)
				continue
			}
			copy(c.mark[:], line[len(line)-sealSize:])
			c.ends = c.scan.off
			if seq > c.after {
				c.after = seq
				return line, true, nil
			}
		case !errors.Is(err, io.EOF):
			return nil, false, fmt.Errorf("cannot read %s: %w", c.at.path, err)
		default:
			more, err := c.advance()
			if errors.Is(err, errMoved) {
				tries++
				continue
			}
			if err != nil || !more {
				return nil, false, err
			}
		}
	}
	return nil, false, fmt.Errorf("cannot read the events in %s: the files change faster than "+
		"they can be read", c.dir)
}

func (c *cursor) marked() bool {
	if c.ends == 0 {
		return c.scan.off == 0
	}
	var b [sealSize + 1]byte
	n, _ := c.f.ReadAt(b[:], c.ends-int64(len(b)))
	return n == len(b) && string(b[:sealSize]) == string(c.mark[:]) && b[sealSize] == '\n'
}

func (c *cursor) advance() (more bool, err error) {
	if c.at.active && !c.last {
		now, err := statFile(c.at.path)
		if err != nil {
			return false, err
		}
		c.idle = true
		c.last = now == nil || !os.SameFile(now, c.at.info)
		return c.last, nil // lines might have been appended before the file was renamed
	}
	files, err := list(c.dir)
	if err != nil {
		return false, err
	}
	for i, f := range files {
		if same(f.info, c.at.info) {
			if i+1 == len(files) {
				return false, nil
			}
			return true, c.enter(files[i+1], 0)
		}
	}
	c.close() // the file was removed or replaced
	return c.seek()
}

func (c *cursor) seek() (found bool, err error) {
	files, err := list(c.dir)
	if err != nil || len(files) == 0 {
		return false, err
	}
	i := len(files) - 1
	for ; i > 0; i-- {
		first := files[i].first
		if files[i].active {
			if first, err = files[i].head(); err != nil {
				return false, err
			}
		}
		if first != 0 && first <= c.after+1 {
			break
		}
	}
	return true, c.enter(files[i], c.after)
}

func (f file) head() (uint64, error) {
	o, err := f.open()
	if err != nil {
		return 0, err
	}
	defer o.Close()
	return firstSeq(o)
}

func (c *cursor) enter(f file, after uint64) error {
	o, err := f.open()
	if err != nil {
		return err
	}
	off := int64(0)
	if after > 0 {
		info, err := o.Stat()
		if err == nil {
			off, err = locate(o, info.Size(), after)
		}
		if err != nil {
			o.Close()
			return fmt.Errorf("cannot read %s: %w", f.path, err)
		}
	}
	c.close()
	c.f, c.at, c.last, c.idle, c.ends = o, f, false, false, 0
	c.scan = scanner{r: o, off: off}
	return nil
}
