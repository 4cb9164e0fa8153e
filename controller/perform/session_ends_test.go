package perform

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"gcity/controller/effect"
	"gcity/session"
)

// An invalid file of a saved exit is removed. A file that cannot be read is kept, because the reason may be temporary.
func TestUnreadableExitFilesAreKept(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	sr := &sessions{base: &base{w: World{
		Options: Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)}}}}
	sr.keepEnds([]effect.UnrecordedEnd{{Exit: session.Exit{ID: "s1", Code: 9}}})
	unreadable, invalid := sr.endFile("s2"), sr.endFile("s3")
	if err := os.Mkdir(unreadable, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(invalid, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if ends := sr.readEnds(); len(ends) != 1 || ends[0].Exit.ID != "s1" || ends[0].Exit.Code != 9 {
		t.Errorf("got %+v, want the exit of s1", ends)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".gc", endsDir, "*"))
	if want := []string{sr.endFile("s1"), unreadable}; err != nil || len(left) != 2 ||
		left[0] != want[0] || left[1] != want[1] {
		t.Errorf("files: got %v, %v, want %v", left, err, want)
	}
}
