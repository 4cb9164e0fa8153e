package pty

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gcity/internal/proc"
)

// OtherPrograms returns the sessions with a holder below dir that runs neither exe nor image, by the path of the
// holder's program.
func OtherPrograms(dir, exe string, image []byte) (map[string][]string, error) {
	pids, err := proc.All()
	if err != nil {
		return nil, err
	}
	known := programImages{want: image, seen: map[fileID]bool{}}
	others := map[string][]string{}
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
			others[program] = append(others[program], filepath.Base(args[2]))
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
