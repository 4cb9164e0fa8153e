package pty

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"gcity/internal/proc"
)

// OtherPrograms counts the holders below dir, by program path. It omits those that run exe or image.
func OtherPrograms(dir, exe string, image []byte) (map[string]int, error) {
	pids, err := proc.All()
	if err != nil {
		return nil, err
	}
	known := programImages{want: image, seen: map[fileID]bool{}}
	others := map[string]int{}
	for _, pid := range pids {
		args := proc.Args(pid)
		if len(args) < 3 || args[1] != "hold" ||
			args[2] != dir && !strings.HasPrefix(args[2], dir+"/") {
			continue
		}
		if !proc.SharesPIDs(pid) {
			continue // a holder in a container runs a program from its container image
		}
		program, err := os.Readlink(programFile(pid))
		if err == nil && program != exe && !known.run(pid) {
			others[program]++
		}
	}
	return others, nil
}

func programFile(pid int) string { return fmt.Sprintf("/proc/%d/exe", pid) }

type fileID struct{ dev, ino uint64 }

// programImages finds processes that run a program file with the content want. It reads each file only once.
type programImages struct {
	want []byte // nil matches no process
	seen map[fileID]bool
}

func (m *programImages) run(pid int) bool {
	dev, ino, err := proc.Inode(programFile(pid))
	if err != nil || m.want == nil {
		return false
	}
	id := fileID{dev, ino}
	same, seen := m.seen[id]
	if !seen {
		content, err := os.ReadFile(programFile(pid))
		same = err == nil && bytes.Equal(content, m.want)
		m.seen[id] = same
	}
	return same
}
