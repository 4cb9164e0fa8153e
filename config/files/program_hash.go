package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gcity/internal/disk"
)

// ProgramHash returns a hash of the files in a folder that a program can run or read. It omits files that are not
// executable if isText returns true for their names.
func ProgramHash(folder string, isText func(name string) bool) string {
	h := sha256.New()
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, folder)
		if err != nil {
			fmt.Fprintf(h, "%q unreadable\n", inside)
			return nil
		}
		info, err := e.Info()
		switch {
		case e.IsDir() && inside == "/.git":
			return fs.SkipDir
		case e.IsDir():
		case err != nil || !info.Mode().IsRegular():
			target, _ := os.Readlink(path) // "" if the path is not a link
			fmt.Fprintf(h, "%q %s %q\n", inside, e.Type(), target)
		case info.Mode()&0o111 != 0 || !isText(e.Name()):
			fmt.Fprintf(h, "%q %t %s\n", inside, info.Mode()&0o111 != 0, hashFile(path))
		}
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func hashFile(path string) string {
	file, err := disk.Open(path)
	if err != nil {
		return "unreadable"
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "unreadable"
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Same reports whether two paths lead to the same file.
func Same(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}
