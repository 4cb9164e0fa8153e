package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func read(t *testing.T, from io.Reader) (files map[string][]byte, names []string) {
	t.Helper()
	files = map[string][]byte{}
	for in := tar.NewReader(from); ; {
		head, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files, names
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, head.Name)
		if head.Typeflag == tar.TypeReg {
			if files[head.Name], err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// manifest.json names the configuration and the layers. The configuration contains the digest of each uncompressed
// layer.
func TestArchive(t *testing.T) {
	im := &Image{Name: "example.org/x:1", Arch: "arm64", Cmd: []string{"sh"}, Files: []File{
		{Path: "bin", Dir: true, Mode: 0o755}, {Path: "bin/tool", Mode: 0o755, Data: []byte("run")},
		{Path: "bin/link", Link: "tool", Mode: 0o777},
	}}
	var archive, again bytes.Buffer
	if err := errors.Join(Write(&archive, im), Write(&again, im)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(archive.Bytes(), again.Bytes()) {
		t.Error("the same image was written with different bytes")
	}
	files, _ := read(t, &archive)
	var list []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	if err := json.Unmarshal(files["manifest.json"], &list); err != nil || len(list) != 1 ||
		!slices.Equal(list[0].RepoTags, []string{"example.org/x:1"}) || len(list[0].Layers) != 1 {
		t.Fatalf("manifest.json: %s, %v", files["manifest.json"], err)
	}
	var conf struct {
		Architecture, OS string
		Config           struct{ Cmd []string }
		RootFS           struct {
			Type    string
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(files[list[0].Config], &conf); err != nil || conf.OS != "linux" ||
		conf.Architecture != "arm64" || conf.RootFS.Type != "layers" || len(conf.Config.Cmd) != 1 {
		t.Fatalf("%s: %s, %v", list[0].Config, files[list[0].Config], err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(files[list[0].Layers[0]]))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(layer)
	if want := []string{"sha256:" + hex.EncodeToString(sum[:])}; !slices.Equal(conf.RootFS.DiffIDs, want) {
		t.Errorf("diff_ids %q, want %q", conf.RootFS.DiffIDs, want)
	}
	inside, names := read(t, bytes.NewReader(layer))
	if want := []string{"bin/", "bin/link", "bin/tool"}; !slices.Equal(names, want) {
		t.Errorf("the layer has %q, want %q", names, want)
	}
	if string(inside["bin/tool"]) != "run" {
		t.Errorf("bin/tool is %q", inside["bin/tool"])
	}
}

// The program that holds the agent's terminal adds at most 4 MiB to an image.
func TestPodProgramIsSmall(t *testing.T) {
	program := filepath.Join(t.TempDir(), "gcity-pod")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "../cmd/gcity-pod")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := FromDisk("gcity-pod", program)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := Write(&archive, &Image{Name: "x:1", Files: []File{f}}); err != nil {
		t.Fatal(err)
	}
	t.Logf("got %[2]d bytes in the image, want %[1]d", len(f.Data), archive.Len())
	if archive.Len() > 4<<20 {
		t.Errorf("the image has %d bytes; the limit is 4 MiB", archive.Len())
	}
}
