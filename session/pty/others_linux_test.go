package pty

import "testing"

// A holder that runs the embedded program is no other gcity, wherever that program is.
func TestOtherPrograms(t *testing.T) {
	p := newImageProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "sleep 1000"))
	data, err := image()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image []byte
		want  int
	}{"the same build": {data, 0}, "another build": {data[1:], 1}, "nothing embedded": {nil, 1}} {
		if others, err := OtherPrograms(p.files.city, "/bin/gcity", c.image); err != nil || len(others) != c.want {
			t.Errorf("%s: %v, %v", name, others, err)
		}
	}
}
