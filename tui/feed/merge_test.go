package feed

import "testing"

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, mine, theirs, want string
		conflict                       int
	}{
		{"mine first", "1\n2\n3\n4\n", "x\n2\n3\n4\n", "1\n2\n3\n4\ny\n", "x\n2\n3\n4\ny\n", 0},
		{"theirs first", "1\n2\n3\n4\n", "1\n2\n3\n", "0\n1\n2\n3\n4\n", "0\n1\n2\n3\n", 0},
		{"longer and shorter", "1\n2\n3\n4\n", "1\n2\n3\na\nb\n", "3\n4\n", "3\na\nb\n", 0},
		{"both the same", "1\n", "2\n", "2\n", "2\n", 0},
		{"the same line", "1\n2\n3\n", "1\na\n3\n", "1\nb\n3\n",
			"1\n<<<<<<< your edit\na\n=======\nb\n>>>>>>> on disk\n3\n", 2},
		{"inside each other", "1\n2\n3", "a\n2\nc", "1\n2\nb\n3",
			"<<<<<<< your edit\na\n2\nc\n=======\n1\n2\nb\n3\n>>>>>>> on disk\n", 1},
		{"everything removed", "1\n", "", "1\n2\n", "<<<<<<< your edit\n=======\n1\n2\n>>>>>>> on disk\n", 1},
		{"from nothing", "", "1\n", "2", "<<<<<<< your edit\n1\n=======\n2\n>>>>>>> on disk\n", 1},
	} {
		got, conflict := merge([]byte(c.base), []byte(c.mine), []byte(c.theirs))
		if string(got) != c.want || conflict != c.conflict {
			t.Errorf("%s: got %q, conflict in line %d; want %q, line %d", c.name, got, conflict, c.want, c.conflict)
		}
	}
}
