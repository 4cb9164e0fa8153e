package perform

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gcity/city"
)

// An output retains only its last part, so its memory use is bounded.
func TestOutputKeepsTheEnd(t *testing.T) {
	for _, size := range []int{1, 7, 4096, liveKept - 1, liveKept, 3*liveKept + 5} {
		o := &output{over: make(chan struct{})}
		chunk := bytes.Repeat([]byte("0123456789\n"), size/11+1)[:size]
		var all []byte
		for len(all) < 5*liveKept {
			n, err := o.Write(chunk)
			if n != len(chunk) || err != nil {
				t.Fatalf("%d, %v", n, err)
			}
			all = append(all, chunk...)
		}
		data, lost, news := o.after(0)
		if !bytes.Equal(data, all[len(all)-liveKept:]) || lost != int64(len(all)-liveKept) ||
			news != nil {
			t.Errorf("writes of %d bytes: got %d bytes, %d lost", size, len(data), lost)
		}
		if data, lost, _ = o.after(int64(len(all) - 3)); string(data) != string(all[len(all)-3:]) ||
			lost != 0 {
			t.Errorf("writes of %d bytes: got %q, %d lost", size, data, lost)
		}
		if cap(o.kept) > 8*liveKept {
			t.Errorf("writes of %d bytes: got a buffer of %d bytes", size, cap(o.kept))
		}
	}
}

func told(h *outputReader) (texts []string, lost int64) {
	pieces, _ := h.take()
	for _, p := range pieces {
		texts, lost = append(texts, p.Text), lost+p.Dropped
	}
	return texts, lost
}

// The first call to take returns a piece immediately, even if it is empty.
func TestEventSubscriber(t *testing.T) {
	o := &output{over: make(chan struct{})}
	h := &outputReader{of: o, first: true}
	if texts, lost := told(h); len(texts) != 1 || texts[0] != "" || lost != 0 {
		t.Errorf("without output: got %q, %d", texts, lost)
	}
	o.Write([]byte("gr\xc3"))
	if texts, _ := told(h); len(texts) != 1 || texts[0] != "gr" {
		t.Errorf("after a partial character: got %q", texts)
	}
	o.Write([]byte("\xb6\xc3\x9fe\x1b[3"))
	if texts, _ := told(h); len(texts) != 1 || texts[0] != "öße" {
		t.Errorf("after a partial sequence: got %q", texts)
	}
	o.Write([]byte("1m"))
	if texts, _ := told(h); len(texts) != 0 {
		t.Errorf("after the end of a sequence: got %q", texts)
	}
	o.Write(bytes.Repeat([]byte("x"), 2*livePiece+1))
	if texts, _ := told(h); len(texts) != 3 || strings.Join(texts, "") !=
		strings.Repeat("x", 2*livePiece+1) {
		t.Errorf("long output: got %d pieces, want 3", len(texts))
	}
	if texts, _ := told(&outputReader{of: o, first: true}); len(texts) != 1 ||
		!strings.HasPrefix(texts[0], "größexx") {
		t.Errorf("late reader: got %d pieces, want 1", len(texts))
	}
}

// A slow reader learns how many bytes it has missed. After a line break, it continues with the next line.
func TestSlowEventSubscriber(t *testing.T) {
	for _, c := range []struct{ name, line string }{{"lines", "世界\n"}, {"one line", "世"}} {
		o := &output{over: make(chan struct{})}
		h := &outputReader{of: o, first: true}
		o.Write([]byte("begun"))
		told(h)
		for range 3 * liveKept / len(c.line) {
			o.Write([]byte(c.line))
		}
		pieces, _ := h.take()
		var text string
		lost := int64(0)
		for _, p := range pieces {
			text, lost = text+p.Text, lost+p.Dropped
		}
		clean := strings.ReplaceAll(text, c.line, "")
		if pieces[0].Dropped == 0 || lost+int64(len(text)-1) !=
			int64(3*liveKept/len(c.line)*len(c.line)) || clean != "\n" {
			t.Errorf("%s: got %d lost, %d bytes, rest %.40q", c.name, lost, len(text), clean)
		}
	}
}

// The end of a run wakes its readers, and so does closing its output.
func TestOutputsEnd(t *testing.T) {
	for name, end := range map[string]func(*outputs, string){"finished": (*outputs).Finish,
		"closed": (*outputs).close} {
		var live outputs
		_, _, news := live.open("gc-1").after(0)
		end(&live, "gc-1")
		end(&live, "gc-1")
		select {
		case <-news:
		default:
			t.Errorf("%s: the reader was not woken", name)
		}
		if data, lost, news := live.Find("gc-1").after(0); data != nil || lost != 0 || news != nil {
			t.Errorf("%s: got %q, %d, %v", name, data, lost, news)
		}
	}
	var live outputs
	o := live.open("gc-2")
	o.Write([]byte("last words\x1b["))
	live.close("gc-2")
	var text string
	o.Follow(t.Context(), nil, func(p city.Piece, err error) bool {
		if err != nil {
			t.Error(err)
		}
		text += p.Text
		return true
	})
	if text != "last words\ufffd" {
		t.Errorf("%q", text)
	}
}

// A reader of a complete output gets all of it, even if the controller has exited. A reader of an incomplete output
// gets an error.
func TestOutputsOutliveTheController(t *testing.T) {
	gone := make(chan struct{})
	close(gone)
	for range 50 {
		var live outputs
		o := live.open("gc-1")
		o.Write([]byte("last words"))
		follow := func() (text string, last error) {
			o.Follow(t.Context(), gone, func(p city.Piece, err error) bool {
				text, last = text+p.Text, err
				return true
			})
			return text, last
		}
		if text, err := follow(); err == nil || text != "last words" {
			t.Fatalf("incomplete: %q, %v", text, err)
		}
		live.close("gc-1")
		if text, err := follow(); err != nil || text != "last words" {
			t.Fatalf("complete: %q, %v", text, err)
		}
	}
}

// Output is kept for the newest ended runs, and for all running ones.
func TestOutputsAreForgotten(t *testing.T) {
	var live outputs
	name := func(i int) string { return fmt.Sprint("gc-", i) }
	live.open("goes")
	for i := range 3 * liveEnded {
		o := live.open(name(i))
		o.Write(make([]byte, 2*liveKept))
		live.close(name(i))
		if cap(o.kept) > 2*liveKept {
			t.Errorf("an ended run keeps a buffer of %d bytes", cap(o.kept))
		}
	}
	for i := range 3 * liveEnded {
		if at := live.Find(name(i)) != nil; at != (i >= 2*liveEnded) {
			t.Errorf("output of run %d is available: %v", i, at)
		}
	}
	if live.Find("goes") == nil || len(live.of) != liveEnded+1 {
		t.Errorf("got the output of %d runs", len(live.of))
	}
	live.close("unknown")
	if len(live.ended) != liveEnded {
		t.Error("closing an unknown run changed the list of ended runs")
	}
}
