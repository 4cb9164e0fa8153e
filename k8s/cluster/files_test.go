package cluster

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func packedFiles(t *testing.T, packed io.Reader) (n int) {
	t.Helper()
	for in := tar.NewReader(packed); ; n++ {
		if _, err := in.Next(); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// No files are copied into a working folder on a volume that outlives the pod.
func TestFilesOnVolume(t *testing.T) {
	city := t.TempDir()
	work := filepath.Join(city, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const claim, empty = "persistentVolumeClaim: {claimName: c}", "emptyDir: {}"
	const ephemeral = "ephemeral: {volumeClaimTemplate: {spec: {}}}"
	for _, test := range []struct {
		name, path, source string // of the volume in the pod file
		files              int
	}{
		{"no volume", "", "", 1},
		{"a claim at the working folder", work, claim, 0},
		{"a claim at the city's folder", city, claim, 0},
		{"a claim at a parent folder", filepath.Dir(city), claim, 1}, // gcity's volume for the city is mounted below
		{"a claim at another folder", filepath.Join(city, "other"), claim, 1},
		{"a new folder at the working folder", work, empty, 1},
		{"a new volume at the working folder", work, ephemeral, 1},
	} {
		s := Settings{Image: "box", ToolsImage: "tools"}
		if test.path != "" {
			s.Pod = write(t, fmt.Sprintf("spec: {volumes: [{name: own, %s}], containers: [{name: agent, "+
				"volumeMounts: [{name: own, mountPath: %s}]}]}\n", test.source, test.path))
		}
		sp := spec(city, "a", "true")
		sp.Dir = work
		pod, err := s.manifest(&sp)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		var packed bytes.Buffer
		if err := packing(pod, work)(&packed, work); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if got := packedFiles(t, &packed); got != test.files {
			t.Errorf("%s: got %d files, want %d", test.name, got, test.files)
		}
	}
}
