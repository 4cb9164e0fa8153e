package disk

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ownDescriptors is where the kernel shows the files that this process has open.
const ownDescriptors = "/proc/self/fd/"

// Real returns a path below a held folder as it is named now, for messages. Other paths come back as they are.
func Real(path string) string {
	rest, ok := strings.CutPrefix(path, ownDescriptors)
	if !ok {
		return path
	}
	fd, below, _ := strings.Cut(rest, "/")
	if _, err := strconv.Atoi(fd); err != nil {
		return path
	}
	to, err := os.Readlink(ownDescriptors + fd)
	if err != nil {
		return path
	}
	return filepath.Join(to, below)
}
