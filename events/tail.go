package events

import (
	"errors"
	"fmt"
	"io"
)

type tail struct {
	intact uint64 // seq of the newest valid line, or 0
	last   uint64 // highest seq that might have been assigned, including seqs of damaged lines
	end    int64  // offset up to which complete lines have been read
}

func (t *tail) read(r io.ReaderAt, see func(line []byte, seq uint64, off, to int64)) error {
	s := &scanner{r: r, off: t.end}
	for {
		line, off, err := s.next()
		t.end = off
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		seq, ok := unseal(line)
		if ok {
			t.intact = max(t.intact, seq)
			t.last = max(t.last, seq)
		} else {
			t.last = maxClaimedSeq(line, t.last)
		}
		t.end = s.off
		if see != nil {
			see(line, seq, off, s.off)
		}
	}
}

func (t *tail) find(r io.ReaderAt, size int64) error {
	return backward(r, size, nil, func(line []byte, _, to int64) bool {
		seq, ok := unseal(line)
		if ok {
			t.intact, t.last, t.end = seq, max(t.last, seq), to
		}
		return !ok
	})
}

// endOf returns the tail of the whole log. files must be sorted, oldest first. After errMoved, the caller must list the
// files again.
func endOf(files []file) (tail, error) {
	i := len(files) - 1
	var t tail
	for ; i >= 0; i-- {
		if err := files[i].tail(&t, (*tail).find); err != nil {
			return t, err
		}
		if t.intact > 0 {
			break
		}
	}
	for i = max(0, i); i < len(files); i++ {
		if err := files[i].tail(&t, func(t *tail, r io.ReaderAt, _ int64) error {
			return t.read(r, nil)
		}); err != nil {
			return t, err
		}
		t.end = 0
	}
	return t, nil
}

func (f file) tail(t *tail, do func(*tail, io.ReaderAt, int64) error) error {
	o, err := f.open()
	if err != nil {
		return err
	}
	defer o.Close()
	info, err := o.Stat()
	if err == nil {
		err = do(t, o, info.Size())
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // a writer has cut off an incomplete line
		return errMoved
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", f.path, err)
	}
	return nil
}
